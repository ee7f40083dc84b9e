package browser

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Furnish puts into a world what a person has after some weeks: a project, sessions
// of two programs with subagents and errors (the captures of the repository), a quest
// that was taken to the Dragon, and a table that was played to its end. Everything
// that acts is the program itself with the embedded party.
func (w World) Furnish(program, repository string) error {
	for name, text := range project {
		if err := write(filepath.Join(w.Workspace, name), text); err != nil {
			return err
		}
	}
	if err := w.captures(repository); err != nil {
		return err
	}
	recent := NewSession(0xfe, time.Now().Add(-time.Minute))
	recent.Prompt("Why does the counter skip the last line?").Think("The loop ends too early.").
		Call("Edit", map[string]any{"file_path": w.Workspace + "/main.go", "old_string": "i < n-1", "new_string": "i < n"},
			"Updated.", false).
		Call("Bash", map[string]any{"command": "go test ./..."}, "--- FAIL: TestLast", true).
		Say("It counted one too few. See `main.go`:\n\n```go\nfor i := 0; i < n; i++ {\n```\n\n" +
			"| file | lines |\n|---|---|\n| main.go | 12 |")
	if err := recent.Keep(w); err != nil {
		return err
	}
	for _, args := range furnishing {
		cmd := w.Command(program, args...)
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 1 {
			return fmt.Errorf("conclave %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

var furnishing = [][]string{
	{"init", "--yes"},
	{"council"},
	{"quest", "start", "--mode", "ship", "--answers", "answers.txt", "--message", "Publish the counter."},
	{"consult", "cat", "--message", "Where could it break?"},
	{"confront", "README.md", "main.go"},
	{"table", "new", "weir", "--adventure"},
	{"table", "play", "weir", "--auto"},
	{"archive", "refresh"},
}

var project = map[string]string{
	"README.md": "# Counter\n\nCounts lines. Run it with a file.\n\nThe [manual](docs/manual.md) says more.\n",
	"main.go": "package main\n\nimport \"os\"\n\n// TODO: count words too.\nfunc main() {\n" +
		"\tdata, err := os.ReadFile(os.Args[1])\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tprintln(len(data))\n}\n",
	"go.mod":        "module counter\n\ngo 1.26\n",
	"docs/start.md": "# First steps\n\nGive it a file.\n",
	"answers.txt": "There is a file README.md; a manual of forty pages is printed\nEverybody who counts.\n" +
		"Nobody reads it.\n\nYes\n",
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// captures copies the session files of the captures to where the programs keep them.
func (w World) captures(repository string) error {
	found := 0
	for from, to := range map[string]string{
		"claude/*/home/.claude":       ".claude",
		"codex/*/codex_home/sessions": ".codex/sessions",
	} {
		dirs, err := filepath.Glob(filepath.Join(repository, "testdata", "fixtures", from))
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			n, err := copySessions(dir, filepath.Join(w.Home, to))
			if err != nil {
				return err
			}
			found += n
		}
	}
	if found < 20 {
		return fmt.Errorf("only %d session files among the captures: the walk is broken", found)
	}
	return nil
}

func copySessions(from, to string) (n int, err error) {
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		return write(filepath.Join(to, strings.TrimPrefix(path, from)), string(text))
	})
	return n, err
}
