package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
)

func newInitCommand(env *environment) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make this directory a workspace",
		Long: `Init makes .campaign/ for the quest's files and .conclave/ for the records, and
keeps .conclave/ out of git: records hold every word and leave the machine only
as bundles. It changes nothing that is there already.`,
		Example: "  conclave init\n  conclave init --yes",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			steps := env.initSteps()
			if len(steps) == 0 {
				env.Stdout.Printf("This is a workspace already. Start with: conclave council, or conclave quest start\n")
				return nil
			}
			env.Stdout.Printf("In %s:\n", env.Dir)
			for _, s := range steps {
				env.Stdout.Printf("  %s\n", s.what)
			}
			if !yes && !env.confirm(screen.Sprintf("Do this? [y/N] ")) {
				return environmentError("nothing was changed (without a terminal say --yes)")
			}
			for _, s := range steps {
				if err := s.do(); err != nil {
					return environmentError("%w", err)
				}
			}
			env.Stdout.Printf("Done. Next: conclave council looks at the project; conclave quest start begins a quest.\n")
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it without asking")
	return cmd
}

type initStep struct {
	what string
	do   func() error
}

// initSteps is what is still missing.
func (env *environment) initSteps() []initStep {
	var steps []initStep
	for dir, mode := range map[string]fs.FileMode{".campaign": 0o755, ".conclave": 0o700} {
		path := filepath.Join(env.Dir, dir)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			steps = append(steps, initStep{"make " + dir + "/", func() error { return os.Mkdir(path, mode) }})
		}
	}
	slices.SortFunc(steps, func(a, b initStep) int { return strings.Compare(a.what, b.what) })
	ignore := filepath.Join(env.Dir, ".gitignore")
	text, err := os.ReadFile(ignore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return steps
	}
	if !ignores(string(text)) {
		steps = append(steps, initStep{"add .conclave/ to .gitignore", func() error {
			if len(text) > 0 && text[len(text)-1] != '\n' {
				text = append(text, '\n')
			}
			return os.WriteFile(ignore, append(text, ".conclave/\n"...), 0o644)
		}})
	}
	return steps
}

func ignores(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		switch strings.TrimSpace(line) {
		case ".conclave/", ".conclave", "/.conclave/", "/.conclave":
			return true
		}
	}
	return false
}
