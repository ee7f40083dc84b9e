package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/atomicfile"
	"conclave/internal/screen"
	door "conclave/workspace"
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
			dir := env.Dir
			if env.Root != "" {
				dir = env.absPath(env.Root)
			}
			steps, err := initSteps(dir)
			if err != nil {
				return environmentError("%w", err)
			}
			if len(steps) == 0 {
				env.Stdout.Printf("This is a workspace already. Start with: conclave council, or conclave quest start\n")
				return nil
			}
			env.Stdout.Printf("In %s:\n", dir)
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

// initSteps is what is still missing. Nothing is written through a link.
func initSteps(where string) ([]initStep, error) {
	if err := door.Check(where); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(where)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var steps []initStep
	for dir, mode := range map[string]fs.FileMode{".campaign": 0o755, ".conclave": 0o700} {
		path := filepath.Join(where, dir)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			steps = append(steps, initStep{"make " + dir + "/", func() error { return os.Mkdir(path, mode) }})
		}
	}
	slices.SortFunc(steps, func(a, b initStep) int { return strings.Compare(a.what, b.what) })
	text, err := door.ReadFile(root, ignoreFile, door.MaxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if !ignores(string(text)) {
		steps = append(steps, initStep{"add .conclave/ to .gitignore", func() error { return addLine(where, text) }})
	}
	return steps, nil
}

const ignoreFile = ".gitignore"

// addLine keeps the engine's directory out of git. The file is replaced by name,
// whatever has taken its place since it was read.
func addLine(dir string, text []byte) error {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return atomicfile.Replace(filepath.Join(dir, ignoreFile), append(text, ".conclave/\n"...), 0o644)
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
