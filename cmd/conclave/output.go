package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
)

// printJSON writes v as indented JSON, with <, > and & as they are.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// style puts text in colours on a terminal that wants them, and leaves it
// alone everywhere else.
type style struct{ on bool }

func (env *environment) style() style {
	return style{on: env.StdoutIsTerminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string  { return s.paint("1", text) }
func (s style) dim(text string) string   { return s.paint("2", text) }
func (s style) red(text string) string   { return s.paint("31", text) }
func (s style) green(text string) string { return s.paint("32", text) }

// counted says "1 entry" or "7 entries".
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// inDir resolves a path that a person typed.
func inDir(env *environment, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(env.Dir, file)
}

// oneArg wants exactly one argument and says which.
func oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return usageError("%s takes one %s, not %d\ntry: %[1]s --help", cmd.CommandPath(), name, len(args))
	}
}
