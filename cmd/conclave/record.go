package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/collect"
	door "conclave/workspace"
)

func newRecordCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Put the sessions of other agents on the record, and read records",
		Long: `Record follows the session files of agents that someone else started (Claude
Code, Codex), keeps one record per session in .conclave/records, and reads
records of any origin.`,
		Example: `  conclave record watch                      follow everything, live
  conclave record import ~/.claude/projects  take what is there
  conclave record list
  conclave record show claude-11111111-1111-4111-8111-111111111111 --type tool_use`,
	}
	cmd.AddCommand(newRecordWatchCommand(env), newRecordImportCommand(env), newRecordListCommand(env),
		newRecordShowCommand(env), newRecordTailCommand(env), newRecordHookCommand(env))
	return cmd
}

// gathering is what watch and import have in common.
type gathering struct {
	opts   collect.Options
	asJSON bool
}

func (g *gathering) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&g.asJSON, "json", false, "print the balance as JSON")
	f.StringVar(&g.opts.Adapter, "adapter", "", "take all files for those of this `ADAPTER`: claude or codex")
	f.IntVar(&g.opts.MaxReadBytes, "max-read-bytes", collect.DefaultMaxReadBytes, "`bytes` per read; bounds memory, never throughput")
}

func newRecordWatchCommand(env *environment) *cobra.Command {
	var g gathering
	cmd := &cobra.Command{
		Use:   "watch [DIR…]",
		Short: "Follow session files as they are written",
		Long: `Watch follows the session files below the given directories, by default those
of Claude Code (~/.claude/projects, or below CLAUDE_CONFIG_DIR) and of Codex
(~/.codex/sessions, or below CODEX_HOME), and those that "conclave record hook"
was told of. Each session gets one record, with its subagents as sources. What
was read before is not read twice: stop and start it as you like.

It runs until it is interrupted, then reads on for a moment and prints the
balance: files, bytes, lines, entries, unknown types, and what is not accounted
for (exit code 1). What was not read yet is read the next time.`,
		Example: `  conclave record watch
  conclave record watch --once --json
  conclave record watch --until-idle=5s ./sessions`,
		RunE: func(cmd *cobra.Command, args []string) error {
			g.opts.Roots = collect.DefaultRoots(env.Getenv)
			if len(args) > 0 {
				g.opts.Roots = nil
			}
			for _, dir := range args {
				path := inDir(env, dir)
				if info, err := os.Stat(path); err == nil && !info.IsDir() {
					return usageError("%s is a file: watch takes directories\ntry: conclave record import %[1]s", dir)
				}
				g.opts.Roots = append(g.opts.Roots, path)
			}
			g.opts.Hooks = true
			if !g.opts.Once {
				env.Stderr.Printf("following %s\n", strings.Join(g.opts.Roots, " and "))
			}
			return env.gather(cmd.Context(), g)
		},
	}
	g.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&g.opts.Once, "once", false, "stop when everything that is there was read")
	f.DurationVar(&g.opts.Idle, "until-idle", 0, "stop when nothing new came for this `time`")
	f.Lookup("until-idle").NoOptDefVal = "2s"
	f.DurationVar(&g.opts.PollInterval, "poll-interval", collect.DefaultPollInterval, "`time` between looks without an event")
	f.DurationVar(&g.opts.DiscoveryInterval, "discovery-interval", collect.DefaultDiscoveryInterval, "`time` between searches for subagents")
	return cmd
}

func newRecordImportCommand(env *environment) *cobra.Command {
	var g gathering
	cmd := &cobra.Command{
		Use:   "import PATH…",
		Short: "Put session files on the record, after the fact",
		Long: `Import reads session files and all of those below directories to their end,
and puts what is not on the record yet there. A file is taken whatever its name
is; in a directory those that end in .jsonl and look like a session are.`,
		Example: "  conclave record import ~/.claude/projects\n  codex exec --json … > run.jsonl; conclave record import run.jsonl",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("%s takes at least one PATH\ntry: %[1]s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			g.opts.Once = true
			for _, arg := range args {
				path := inDir(env, arg)
				info, err := os.Stat(path)
				if err != nil {
					return environmentError("%w", err)
				}
				if info.IsDir() {
					g.opts.Roots = append(g.opts.Roots, path)
				} else {
					g.opts.Files = append(g.opts.Files, path)
				}
			}
			return env.gather(cmd.Context(), g)
		},
	}
	g.flags(cmd)
	return cmd
}

// gather runs a collector and prints its balance.
func (env *environment) gather(ctx context.Context, g gathering) (err error) {
	if g.opts.Workspace, err = env.findRoot(); err != nil {
		return err
	}
	if err := door.MakePrivate(g.opts.Workspace); err != nil {
		return environmentError("%w", err)
	}
	g.opts.Program = "conclave " + version
	g.opts.StopWithin = 300 * time.Millisecond // a person who interrupts has waited enough
	if g.opts.Adapter, err = adapterName(g.opts.Adapter); err != nil {
		return err
	}
	if g.opts.MaxReadBytes <= 0 || g.opts.PollInterval < 0 || g.opts.DiscoveryInterval < 0 || g.opts.Idle < 0 {
		return usageError("intervals and sizes are above zero")
	}
	progress := newProgress(env)
	g.opts.Progress = progress.show
	c, err := collect.New(g.opts)
	if err != nil {
		return environmentError("%w", err)
	}
	err = c.Run(ctx)
	progress.clear()
	if err != nil {
		return environmentError("%w", err)
	}
	return env.printBalance(env.Stdout, c.Balance(), g.asJSON)
}

// tailPoll is how often a record is looked at that is being written.
const tailPoll = 20 * time.Millisecond
