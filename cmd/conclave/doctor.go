package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/app"
	"conclave/config"
	"conclave/internal/proc"
	"conclave/internal/screen"
	"conclave/room"
)

// finding is one line of what doctor says.
type finding struct {
	What  string `json:"what"`
	OK    bool   `json:"ok"`
	State string `json:"state"`
	Hint  string `json:"hint,omitempty"`
}

func newDoctorCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is found here and what is missing",
		Long: `Doctor looks at what Conclave can use on this machine: whether rooms can be
sealed, which agents are installed, how each of them would pay (an API key in
the environment, or a login of its own), and which files are read. It looks at
names and at whether something exists, never into a file of credentials.

It exits with 3 when evaluators could not be locked in here.`,
		Example: "  conclave doctor\n  conclave doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 30*time.Second)
			defer cancel()
			findings := env.examine(ctx)
			if asJSON {
				if err := env.Stdout.JSON(findings); err != nil {
					return err
				}
			} else {
				env.printFindings(findings)
			}
			if !findings[0].OK {
				return &app.Error{Kind: app.Environment}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// examine looks at the machine with the person's own configuration alone: a
// project's file decides about nothing that is started here.
func (env *environment) examine(ctx context.Context) []finding {
	findings := []finding{examineRooms(ctx)}
	own, err := env.app().OwnConfig()
	if err != nil {
		return append(findings, finding{"your configuration", false, err.Error(), "mend the file that is named"})
	}
	root, refusal := env.findRoot()
	w := &workspace{Root: root, Config: config.Merge(config.Config{}, own)}
	if refusal != nil {
		w.Root = env.Dir // where nothing may be started from either
	}
	findings = append(findings, examineClaude(ctx, w), env.examineCodex(ctx, w),
		finding{What: "the embedded party", OK: true, State: "always there; needs no key and no network"})
	if refusal != nil {
		return append(findings, finding{"workspace", false, refusal.Error(), "look at what is named"})
	}
	for _, file := range []string{filepath.Join(root, config.FileName), env.userConfigFile()} {
		state := "not there; the defaults hold"
		if _, err := os.Lstat(file); err == nil {
			state = "there"
		}
		findings = append(findings, finding{What: file, OK: true, State: state})
	}
	return append(findings, env.examineProject()...)
}

// examineProject says what of a project can be used.
func (env *environment) examineProject() []finding {
	w, err := env.enter()
	if err != nil {
		return []finding{{"workspace", false, err.Error(), "look at what is named"}}
	}
	items, refused := w.Everything()
	found := []finding{{What: "trust", OK: true, State: trustedState(len(items))}}
	if err := w.VouchFor(items); err != nil {
		found[0] = finding{"trust", false, err.Error(), "conclave trust"}
	}
	for _, err := range refused {
		found = append(found, finding{"refused", false, err.Error(), "look at what is named"})
	}
	if err := w.Configure(); err != nil {
		found = append(found, finding{"configuration", false, err.Error(), "mend the file that is named"})
	}
	return found
}

// examineRooms opens a sealed room, shows its probe pairs and removes it.
func examineRooms(ctx context.Context) finding {
	f := finding{What: "sealed rooms", Hint: "evaluators and players need them; `lower` in your own configuration is the explicit way round"}
	r, err := room.Open(ctx, room.Plan{Role: "doctor"})
	if err == nil {
		err = r.Check(ctx)
		e := r.Enforcement()
		f.State = fmt.Sprintf("%s: %d probe pairs hold (%s)", e.Level, len(e.Probes), e.Mechanism)
		if closing := r.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		f.State = err.Error()
		return f
	}
	f.OK, f.Hint = true, ""
	return f
}

func examineClaude(ctx context.Context, w *workspace) finding {
	f := finding{What: "Claude Code", Hint: "npm install -g @anthropic-ai/claude-code, or name its path under `programs` in your configuration"}
	native, err := w.FindProgram("claude")
	if err != nil {
		f.State = err.Error()
		return f
	}
	s, err := claude.New(claude.Config{Program: native}).Probe(ctx, proc.Launcher{})
	if err != nil {
		f.State = err.Error()
		return f
	}
	return paid(f, s.Path, s.Version, s.Login, "ANTHROPIC_API_KEY")
}

func (env *environment) examineCodex(ctx context.Context, w *workspace) finding {
	f := finding{What: "Codex", Hint: "npm install -g @openai/codex, or name its path under `programs` in your configuration"}
	native, err := w.FindProgram("codex")
	if err != nil {
		f.State = err.Error()
		return f
	}
	s, err := codex.Probe(ctx, codex.ProbeOptions{Path: native, Launcher: proc.Launcher{}, Env: env.Getenv})
	if err != nil {
		f.State = err.Error()
		return f
	}
	return paid(f, s.Path, s.Version, s.Login, "OPENAI_API_KEY")
}

// paid says which version was found and how it would pay.
func paid(f finding, path, version, login, key string) finding {
	f.State = fmt.Sprintf("%s at %s, pays by %s", version, path, login)
	f.OK, f.Hint = login == "api key", ""
	switch login {
	case "":
		f.State = fmt.Sprintf("%s at %s, with neither a key nor a login", version, path)
		f.Hint = "set " + key
	case "login":
		f.Hint = "seats in rooms need " + key + ": a login stays with the person"
	}
	return f
}

func (env *environment) printFindings(findings []finding) {

	for _, f := range findings {
		mark := screen.Green("✓")
		if !f.OK {
			mark = screen.Red("✗")
		}
		env.Stdout.Printf("%s %-20s %s\n", mark, f.What, screen.Indent("      ", f.State))
		if f.Hint != "" {
			env.Stdout.Printf("  %-20s %s\n", "", screen.Dim(f.Hint))
		}
	}
}

func trustedState(n int) string {
	if n == 0 {
		return "this workspace asks for nothing"
	}
	return counted(n, "thing", "things") + " to trust, all trusted"
}
