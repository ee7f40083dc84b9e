package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/atomicfile"
	door "conclave/workspace"
)

// Setup is what is still missing for a directory to be a workspace.
type Setup struct {
	Dir   string
	Steps []SetupStep
}

// SetupStep is one thing to do, in words.
type SetupStep struct {
	What string
	do   func() error
}

// Setup looks at what is missing here, and whether who is to play is there, if
// anybody is named. It changes nothing, and nothing is written through a link.
func (a *App) Setup(ctx context.Context, play, model string) (Setup, error) {
	s := Setup{Dir: a.Dir}
	if play != "" {
		if _, _, err := a.adoptable(ctx, play, model); err != nil {
			return s, err
		}
	}
	if a.Root != "" {
		s.Dir = a.AbsPath(a.Root)
	}
	steps, err := setupSteps(s.Dir)
	if err != nil {
		return s, environmentError("%w", err)
	}
	s.Steps = steps
	if len(steps) > 0 {
		a.sayNested(s.Dir)
	}
	return s, nil
}

// Do makes the directory a workspace.
func (s Setup) Do() error {
	for _, step := range s.Steps {
		if err := step.do(); err != nil {
			return environmentError("%w", err)
		}
	}
	return nil
}

func setupSteps(where string) ([]SetupStep, error) {
	if err := door.Check(where); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(where)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var steps []SetupStep
	for dir, mode := range map[string]fs.FileMode{".campaign": 0o755, engineDir: 0o700} {
		path := filepath.Join(where, dir)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			steps = append(steps, SetupStep{"make " + dir + "/", func() error { return os.Mkdir(path, mode) }})
		}
	}
	slices.SortFunc(steps, func(a, b SetupStep) int { return strings.Compare(a.What, b.What) })
	text, err := door.ReadFile(root, ignoreFile, door.MaxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if !ignores(string(text)) {
		steps = append(steps, SetupStep{"add .conclave/ to .gitignore", func() error { return addLine(where, text) }})
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
