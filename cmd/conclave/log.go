package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// withAgents are the commands that run agents, or follow those of others. All of
// a quest that change it do: they end what was cut, and go on with the person.
var withAgents = []string{
	"agents try", "checkpoint", "confront", "consult", "council", "debrief", "demo", "gate", "gate calibrate", "mcp",
	"quest archive", "quest continue", "quest log", "quest return", "quest start",
	"record import", "record watch", "table chat", "table end", "table new", "table play", "table resume",
	"table say", "table signal", "web",
}

// logLast is how long the end of a command waits for who reads its log.
const logLast = 5 * time.Second

// addLogs gives --log to the commands that run agents.
func addLogs(env *environment, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		addLogs(env, sub)
	}
	if _, name, _ := strings.Cut(cmd.CommandPath(), " "); slices.Contains(withAgents, name) {
		addLog(env, cmd)
	}
}

// addLog gives --log to one command. With "-" standard output is
// the log's alone, and everything else goes where errors go.
func addLog(env *environment, cmd *cobra.Command) {
	var name string
	cmd.Flags().StringVar(&name, "log", "",
		"write every log record of this run to `FILE` as it comes, a line of JSON each (- is standard output)")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if name == "" && cmd.Flags().Changed("log") {
			return usageError("--log names no file: give one, or - for standard output")
		}
		if name == "" {
			return run(cmd, args)
		}
		out := env.Stdout
		if name == "-" {
			if f := cmd.Flag("json"); f != nil && f.Value.String() == "true" {
				return usageError("--log - and --json both want standard output: name a file for the log")
			}
			env.Stdout = env.Stderr
			defer func() { env.Stdout = out }()
			// A reader that has gone must not end the run: Write says so instead.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		}
		if env.log, err = env.app().OpenLog(name, out.Raw()); err != nil {
			return err
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), logLast)
			defer cancel()
			env.log.Close(ctx)
			env.log = nil
		}()
		return run(cmd, args)
	}
}
