package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// withoutAgents are the commands that run no agent and follow none: they look at
// what is there, keep it, or change it.
var withoutAgents = []string{
	"archive rebuild", "archive refresh", "archive restore", "archive status",
	"agents",
	"audit", "audit receipt",
	"bundle create", "bundle list", "bundle open", "bundle prune", "bundle verify",
	"doctor",
	"export",
	"hook collect", "hook done", "hook session",
	"init", "install",
	"pack export", "pack install", "pack list", "pack new", "pack preview", "pack show", "pack undo", "pack validate",
	"policy",
	"profile list", "profile remove", "profile set", "profile show",
	"query",
	"quest show", "quest status",
	"record hook", "record install", "record list", "record show", "record status", "record tail",
	"room enter", "room run", "room show",
	"search",
	"table audit", "table dice override", "table dice rotate", "table dice seal", "table dice seed", "table dice verify",
	"table export", "table fork", "table journal", "table list",
	"table rename", "table restore", "table reveal", "table roll", "table save", "table seats", "table status",
	"table validate",
	"transcript check", "transcript map", "transcript summary", "transcript verify",
	"trust", "trust login",
	"uninstall", "usage",
	"version",
}

// TestLogOfEveryCommandWithAgents: whoever adds a command says whether it runs
// agents, and if it does, it has --log.
func TestLogOfEveryCommandWithAgents(t *testing.T) {
	var found []string
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		// A group that does nothing by itself has no flag but --help.
		flags := cmd.LocalNonPersistentFlags().FlagUsages()
		own := strings.Count(flags, "--") - strings.Count(flags, "--help")
		if cmd.HasSubCommands() && (own == 0 || !cmd.HasParent()) {
			return
		}
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		found = append(found, name)
		with, without := slices.Contains(withAgents, name), slices.Contains(withoutAgents, name)
		if with == without {
			t.Errorf("%s: does it run or follow agents? Put it into withAgents or into withoutAgents", name)
		}
		if has := cmd.Flags().Lookup("log") != nil; has != with {
			t.Errorf("%s: has --log: %v, want %v", name, has, with)
		}
	}
	walk(newRootCommand(&environment{}))
	if len(found) < 60 {
		t.Fatalf("only %d commands were found: the walk is broken", len(found))
	}
	for _, name := range slices.Concat(withAgents, withoutAgents) {
		if !slices.Contains(found, name) {
			t.Errorf("%s is in a list and no command", name)
		}
	}
}
