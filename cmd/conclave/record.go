package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
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
		newRecordShowCommand(env), newRecordTailCommand(env), newRecordHookCommand(env),
		newRecordInstallCommand(env), newRecordStatusCommand(env))
	return cmd
}

// followFlags are what watch and import have in common.
func followFlags(cmd *cobra.Command, o *app.Follow) *cobra.Command {
	f := cmd.Flags()
	f.StringVar(&o.Adapter, "adapter", "", "take all files for those of this `ADAPTER`: "+app.Readers())
	f.IntVar(&o.MaxReadBytes, "max-read-bytes", o.MaxReadBytes, "`bytes` per read; bounds memory, never throughput")
	return printJSON(cmd, "print the balance as JSON")
}

func newRecordWatchCommand(env *environment) *cobra.Command {
	o := app.DefaultFollow()
	cmd := answer(env, &cobra.Command{
		Use:   "watch [DIR…]",
		Short: "Follow session files as they are written",
		Long: `Watch follows the session files below the given directories, by default those
of Claude Code (~/.claude/projects, or below CLAUDE_CONFIG_DIR), of Codex
(~/.codex/sessions, or below CODEX_HOME) and of the other programs in
docs/agents.md, and those that "conclave record hook" was told of. Sessions in a
program's database are read from a copy, made anew as it changes. Each session
gets one record, with its subagents as sources. What was read before is not read
twice: stop and start it as you like.

It runs until it is interrupted, then reads on for a moment and prints the
balance: files, bytes, lines, entries, unknown types, and what is not accounted
for (exit code 1). What was not read yet is read the next time.`,
		Example: `  conclave record watch
  conclave record watch --once --json
  conclave record watch --until-idle=5s ./sessions`,
	}, func(ctx context.Context, args []string) (app.Balance, error) {
		return env.app().Watch(ctx, args, o)
	}, balanceText)
	f := followFlags(cmd, &o).Flags()
	f.BoolVar(&o.Once, "once", false, "stop when everything that is there was read")
	f.DurationVar(&o.Idle, "until-idle", 0, "stop when nothing new came for this `time`")
	f.Lookup("until-idle").NoOptDefVal = "2s"
	f.DurationVar(&o.PollInterval, "poll-interval", o.PollInterval, "`time` between looks without an event")
	f.DurationVar(&o.DiscoveryInterval, "discovery-interval", o.DiscoveryInterval, "`time` between searches for subagents")
	return cmd
}

func newRecordImportCommand(env *environment) *cobra.Command {
	o := app.DefaultFollow()
	return followFlags(answer(env, &cobra.Command{
		Use:   "import PATH…",
		Short: "Put session files on the record, after the fact",
		Long: `Import reads session files and all of those below directories to their end,
and puts what is not on the record yet there. A file is taken whatever its name
is; in a directory those that end in .jsonl and look like a session are, and the
databases of programs that keep their sessions in one.`,
		Example: "  conclave record import ~/.claude/projects\n" +
			"  codex exec --json … > run.jsonl; conclave record import run.jsonl",
		Args: someArgs("PATH"),
	}, func(ctx context.Context, args []string) (app.Balance, error) {
		return env.app().Import(ctx, args, o)
	}, balanceText), &o)
}

func balanceText(w *screen.Writer, b app.Balance) error {
	w.Printf("files          %d in %s\n", b.Files, screen.Counted(b.Records, "session", "sessions"))
	w.Printf("bytes on disk  %d\n", b.BytesOnDisk)
	w.Printf("bytes read     %d\n", b.BytesRead)
	w.Printf("lines          %d\n", b.Lines)
	w.Printf("entries        %d, %d of them new\n", b.Entries, b.Added)
	if len(b.Unknown) > 0 {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(b.Unknown)) {
			names = append(names, fmt.Sprintf("%s %d", name, b.Unknown[name]))
		}
		w.Printf("unknown        %s\n", strings.Join(names, ", "))
	}
	for _, path := range b.Skipped {
		w.Printf("skipped        %s: no session of a known agent\n", path)
	}
	for _, g := range b.Waiting {
		w.Printf("waiting        %s: %s (%s)\n", g.Path, g.Reason, screen.Counted(int(g.Bytes), "byte", "bytes"))
	}
	if b.OK() {
		w.Printf("unaccounted    nothing\n")
	}
	for _, g := range b.Unaccounted {
		size := ""
		if g.Bytes > 0 {
			size = fmt.Sprintf(" (%s)", screen.Counted(int(g.Bytes), "byte", "bytes"))
		}
		w.Printf("unaccounted    %s: %s%s\n", g.Path, g.Reason, size)
	}
	return nil
}

func newRecordListCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:     "list",
		Short:   "List the records of this workspace",
		Example: "  conclave record list\n  conclave record list --json",
		Args:    cobra.NoArgs,
	}, func(context.Context, []string) ([]app.Recorded, error) {
		return env.app().Records()
	}, func(w *screen.Writer, list []app.Recorded) error {
		if len(list) == 0 {
			w.Printf("no records here; conclave record watch makes some\n")
		}
		for _, l := range list {
			what := strings.TrimSpace(l.Adapter + " " + l.PromptName)
			if l.Fault != "" {
				what = l.Fault
			}
			w.Printf("%s  %s  %8d bytes  %s\n", l.Run, l.Modified.Format("2006-01-02 15:04"), l.Size, what)
		}
		return nil
	})
}

func newRecordShowCommand(env *environment) *cobra.Command {
	return entriesCommand(env, app.EntryPick{}, &cobra.Command{
		Use:   "show ID",
		Short: "Print the entries of a record",
		Example: `  conclave record show claude-11111111-1111-4111-8111-111111111111
  conclave record show ID --type tool_use --type tool_result --source main
  conclave record show ID --raw > session.jsonl`,
	})
}

func newRecordTailCommand(env *environment) *cobra.Command {
	return entriesCommand(env, app.EntryPick{Follow: true}, &cobra.Command{
		Use:   "tail ID",
		Short: "Print the entries of a record as they come",
		Long: `Tail prints the entries of a record and goes on as new ones are recorded,
until the record is sealed or it is interrupted.`,
		Example: "  conclave record tail ID\n  conclave record tail ID --type assistant_message --source main",
	})
}

// entriesCommand prints the entries of a record that are picked.
func entriesCommand(env *environment, pick app.EntryPick, cmd *cobra.Command) *cobra.Command {
	var raw, asJSON bool
	cmd.Args = oneArg("ID")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if raw && asJSON {
			return usageError("--raw and --json do not go together: raw is in the JSON")
		}
		for e, err := range env.app().Entries(cmd.Context(), args[0], pick) {
			if err == nil {
				err = printEntry(env.Stdout, &e, raw, asJSON)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	f := cmd.Flags()
	f.StringSliceVar(&pick.Types, "type", nil, "only entries of this `TYPE`; may be given more than once")
	f.StringSliceVar(&pick.Sources, "source", nil, "only entries of this `SOURCE`: main, subagent:ID")
	f.BoolVar(&raw, "raw", false, "print the source's own lines, and nothing else")
	env.addJSON(cmd, &asJSON, "print log records, a line each", (*app.App).Entries)
	return cmd
}

func printEntry(w *screen.Writer, e *app.Entry, raw, asJSON bool) (err error) {
	switch {
	case asJSON:
		_, err = w.Raw().Write(append(slices.Clip(e.Line), '\n'))
	case raw && e.Raw == nil:
	case raw:
		_, err = w.Raw().Write(append(slices.Clip(e.Raw), '\n'))
	default:
		line := []any{screen.Dim(e.Timestamp.Format("15:04:05.000")), e.Sequence, "", screen.Bold(string(e.Type)), ""}
		if e.Source != "main" {
			line[2] = screen.Sprintf("%s ", screen.Dim(e.Source))
		}
		if said := e.Glimpse(); said != "" {
			line[4] = " " + said
		}
		err = w.Printf("%s %5d %s%s%s\n", line...)
	}
	return err
}

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
			if err := env.app().NoteHook(); err != nil {
				env.Stderr.Printf("conclave record hook: %v\n", err)
			}
			return nil
		},
	}
}
