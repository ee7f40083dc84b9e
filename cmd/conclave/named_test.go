package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// unlikeFiles are commands whose PATH, FILE or DIR need not be there, or whose
// missing one cannot be tried here.
var unlikeFiles = map[string]string{
	"record watch": "a directory may come later: watching is what it is for",
	"room enter":   "needs a terminal, and says so first",
	"demo":         "--keep makes the directory",
	"hook collect": "a hook never fails whoever calls it, and this one is started by another",
}

// TestMissingFilesAreUsage: a file that the person names and that is not there was
// named wrongly; that is exit code 2, whichever command it is. The commands are
// found by what they say of themselves.
func TestMissingFilesAreUsage(t *testing.T) {
	dir := t.TempDir()
	run := func(args []string) (int, string) {
		var out bytes.Buffer
		env := &environment{Terminal: piped("", &bytes.Buffer{}, &out), Dir: dir,
			Getenv: func(name string) string {
				if strings.HasPrefix(name, "XDG_") || name == "HOME" {
					return filepath.Join(dir, "own", name)
				}
				return ""
			}}
		code := execute(t.Context(), env, args)
		return code, out.String()
	}
	if code, said := run([]string{"init", "--yes"}); code != 0 {
		t.Fatal(said)
	}
	quest := strings.Replace(familyQuest, "phase: 2", "phase: 3", 1)
	for name, text := range map[string]string{".campaign/quest.md": quest, "README.md": "Here.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tried, tables := 0, 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		if cmd.HasSubCommands() || unlikeFiles[name] != "" {
			return
		}
		if args := namingTable(name, cmd); args != nil {
			tables++
			code, said := run(append(strings.Fields(name), args...))
			if code != exitUsage || !strings.Contains(said, "there is no campaign nowhere") {
				t.Errorf("conclave %s %q: exit code %d, want %d: %s", name, args, code, exitUsage, said)
			}
		}
		for _, args := range namingFiles(name, cmd) {
			tried++
			if code, said := run(append(strings.Fields(name), args...)); code != exitUsage || !strings.Contains(said, "where") {
				t.Errorf("conclave %s %q: exit code %d, want %d: %s", name, args, code, exitUsage, said)
			}
		}
	}
	walk(newRootCommand(&environment{}))
	if tried < 30 {
		t.Errorf("only %d commands take files: the walk is broken", tried)
	}
	if tables < 20 {
		t.Errorf("only %d commands take a table: the walk is broken", tables)
	}
}

// namingTable are arguments by which a command is given a table that is not there;
// nil for a command that is given none.
func namingTable(name string, cmd *cobra.Command) (args []string) {
	switch {
	case !strings.HasPrefix(name, "table ") || name == "table new":
		return nil
	case name == "table roll":
		return []string{"--table", "nowhere", "1d20"}
	case name == "table dice override":
		return []string{"nowhere", "1", "2"}
	case !strings.Contains(cmd.Use, "NAME"):
		return nil
	}
	for _, word := range strings.Fields(cmd.Use)[1:] {
		switch {
		case word == "NAME":
			args = append(args, "nowhere")
		case word == "ROLL":
			args = append(args, "1")
		case !strings.HasPrefix(word, "["):
			args = append(args, "a")
		}
	}
	if cmd.Flags().Lookup("max-turns") != nil {
		args = append(args, "--auto")
	}
	return args
}

// namingFiles are arguments for a command by which it is given a file that is not
// there: one way for its usage line, and one for each flag that names a file.
func namingFiles(name string, cmd *cobra.Command) [][]string {
	const missing = "./no/where"
	var line, flagged []string
	takes, done := false, false
	for _, word := range strings.Fields(cmd.Use)[1:] {
		bare := strings.Trim(word, "[]….\"")
		switch {
		case done || strings.HasPrefix(bare, "--") && bare != "--stage" || bare == "TEXT" && name != "quest log":
		case bare == "--stage" || bare == "--":
			line, flagged = append(line, bare), append(flagged, bare)
		case !takes && (strings.Contains(bare, "FILE") || strings.Contains(bare, "PATH") || bare == "DIR" || bare == "CONVERSATION"):
			line, flagged, takes = append(line, missing), append(flagged, "README.md"), true
			done = strings.HasPrefix(word, "[") // nothing else is needed behind it
		case bare == "SQL":
			line = append(line, "SELECT 1")
		case strings.HasPrefix(word, "[") && bare != "TEXT":
		default:
			known := map[string]string{"ROLE": "dragon", "WHO": "cat", "ARCHETYPE": "cat", "COMMAND": "true", "DIR": "out", "WORDS": "a"}
			if v := known[bare]; v != "" {
				bare = v
			}
			line, flagged = append(line, bare), append(flagged, bare)
		}
	}
	if name == "bundle prune" {
		line = append(line, "--keep", "1")
	}
	if name == "query" {
		line = []string{missing, "SELECT 1"}
	}
	var out [][]string
	if takes {
		out = append(out, line)
	}
	table := strings.HasPrefix(name, "table") // whose answers are read by the same function, once there is a campaign
	if cmd.Flags().Lookup("answers") != nil && !table {
		out = append(out, append([]string{"--answers", missing}, flagged...))
	}
	if cmd.Flags().Lookup("message") != nil && !table {
		out = append(out, append([]string{"--message", "@" + missing}, flagged...))
	}
	if f := cmd.Flags().Lookup("file"); f != nil {
		out = append(out, append([]string{"--file", missing}, flagged...))
	}
	return out
}
