package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"conclave/collect"
)

// maxHook bounds what is read of a hook's input: a tool's answer can be large.
const maxHook = 256 << 20

func newRecordHookCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "hook",
		Short: "Learn of session files from Claude Code's hooks",
		Long: `Hook reads the JSON that Claude Code gives to a hook on stdin and notes the
session files that it names for "conclave record watch".

It never fails the hook: whatever goes wrong is said on stderr, and the exit
code is 0. (Claude Code takes 2 for an order to stop.)`,
		Example: `  In Claude Code's settings.json:
    {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "conclave record hook"}]}],
               "SubagentStop": [{"hooks": [{"type": "command", "command": "conclave record hook"}]}]}}`,
		DisableFlagParsing: true, // a wrong flag must not fail the hook
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			if len(args) > 0 {
				env.Stderr.Printf("conclave record hook: takes no arguments, ignored: %q\n", args)
			}
			if err := env.noteHook(); err != nil {
				env.Stderr.Printf("conclave record hook: %v\n", err)
			}
			return nil
		},
	}
}

func (env *environment) noteHook() error {
	input, err := io.ReadAll(io.LimitReader(env.Stdin, maxHook))
	if err != nil {
		return fmt.Errorf("read the hook's input: %w", err)
	}
	root, err := env.findRoot()
	if err != nil {
		return err
	}
	_, err = collect.Note(root, input)
	return err
}
