package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/agent/acp"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/config"
	"conclave/internal/proc"
	"conclave/means"
	"conclave/room"
)

// Finding is one line of what Doctor says.
type Finding struct {
	What  string `json:"what"`
	OK    bool   `json:"ok"`
	State string `json:"state"`
	Hint  string `json:"hint,omitempty"`
	// Proposal is how roles could be answered by what is here.
	Proposal *means.Means `json:"proposal,omitempty"`
}

// Doctor looks at the machine with the person's own configuration alone: a
// project's file decides about nothing that is started here. It says Environment
// when evaluators could not be locked in.
func (a *App) Doctor(ctx context.Context) ([]Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	findings := []Finding{examineRooms(ctx)}
	var lacking error
	if !findings[0].OK {
		lacking = &Error{Kind: Environment}
	}
	own, err := a.ownConfig()
	if err != nil {
		broken := Finding{What: "your configuration", State: err.Error(), Hint: "mend the file that is named"}
		return append(findings, broken), lacking
	}
	root, refusal := a.findRoot()
	w := &workspace{root: root, config: config.Merge(config.Config{}, own)}
	if refusal != nil {
		w.root = a.Dir // where nothing may be started from either
	}
	findings = append(findings, w.examineClaude(ctx), w.examineCodex(ctx, a.Getenv), w.examineACP())
	findings = append(findings, a.examineMeans(ctx)...)
	findings = append(findings,
		Finding{What: "the embedded party", OK: true, State: "always there; needs no key and no network"})
	if refusal != nil {
		return append(findings, Finding{What: "workspace", State: refusal.Error(), Hint: "look at what is named"}), lacking
	}
	for _, file := range []string{filepath.Join(root, config.FileName), a.userConfigFile()} {
		state := "not there; the defaults hold"
		if _, err := os.Lstat(file); err == nil {
			state = "there"
		}
		findings = append(findings, Finding{What: file, OK: true, State: state})
	}
	if came := a.cameAlong(root); came != nil {
		findings = append(findings, Finding{What: "workspace", State: came.Error(), Hint: "until then nothing is done here"})
	}
	return append(findings, a.examineProject()...), lacking
}

// examineProject says what of a project can be used.
func (a *App) examineProject() []Finding {
	w, err := a.enter()
	if err != nil {
		return []Finding{{What: "workspace", State: err.Error(), Hint: "look at what is named"}}
	}
	items, refused := w.everything()
	found := []Finding{{What: "trust", OK: true, State: trustedState(len(items))}}
	if err := w.vouchFor(items); err != nil {
		found[0] = Finding{What: "trust", State: err.Error(), Hint: "conclave trust"}
	}
	for _, err := range refused {
		found = append(found, Finding{What: "refused", State: err.Error(), Hint: "look at what is named"})
	}
	if err := w.configure(); err != nil {
		found = append(found, Finding{What: "configuration", State: err.Error(), Hint: "mend the file that is named"})
	}
	return found
}

func trustedState(n int) string {
	if n == 0 {
		return "this workspace asks for nothing"
	}
	return countOf(n, "thing") + " to trust, all trusted"
}

// examineRooms opens a sealed room, shows its probe pairs and removes it.
func examineRooms(ctx context.Context) Finding {
	f := Finding{What: "sealed rooms", Hint: "evaluators and players need them; " +
		"`lower` in your own configuration is the explicit way round"}
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

func (w *workspace) examineClaude(ctx context.Context) Finding {
	return w.examineProgram("Claude Code", "claude", "@anthropic-ai/claude-code", "ANTHROPIC_API_KEY",
		func(native string) (path, version, login string, err error) {
			s, err := claude.New(claude.Config{Program: native}).Probe(ctx, proc.Launcher{})
			return s.Path, s.Version, s.Login, err
		})
}

func (w *workspace) examineCodex(ctx context.Context, getenv func(string) string) Finding {
	return w.examineProgram("Codex", "codex", "@openai/codex", "OPENAI_API_KEY",
		func(native string) (path, version, login string, err error) {
			s, err := codex.Probe(ctx, codex.ProbeOptions{Path: native, Launcher: proc.Launcher{}, Env: getenv})
			return s.Path, s.Version, s.Login, err
		})
}

// examineACP says which of the known programs that speak the Agent Client Protocol
// are here. None of them is started.
func (w *workspace) examineACP() Finding {
	f := Finding{What: "agents by ACP", State: "none is on the PATH", Hint: "looked for " +
		strings.Join(acp.Programs(), ", ") + "; others are named under `acp` in your own configuration"}
	var found []string
	for _, name := range acp.Programs() {
		path, err := w.programPath(name)
		if err != nil {
			continue
		}
		if version := acp.Version(path); version != "" {
			name += " " + version
		}
		found = append(found, name+" at "+path)
	}
	if len(found) > 0 {
		f.OK, f.State = true, strings.Join(found, "\n")
		f.Hint = "agents: {cat: {agent: acp, program: …, provider: …, model: …}}"
	}
	return f
}

// examineProgram says which version of an agent was found and how it would pay.
func (w *workspace) examineProgram(
	what, name, npm, key string, probe func(native string) (path, version, login string, err error),
) Finding {
	f := Finding{What: what, Hint: "npm install -g " + npm + ", or name its path under `programs` in your configuration"}
	native, err := w.findProgram(name)
	if err != nil {
		f.State = err.Error()
		return f
	}
	path, version, login, err := probe(native)
	if err != nil {
		f.State = err.Error()
		return f
	}
	f.State = fmt.Sprintf("%s at %s, pays by %s", version, path, login)
	f.OK, f.Hint = login == "api key", ""
	switch login {
	case "":
		f.State = fmt.Sprintf("%s at %s, with neither a key nor a login", version, path)
		f.Hint = "set " + key
	case "login":
		f.Hint = "seats pay with " + key + "; a login is used only where your own configuration says so"
	}
	return f
}
