package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"conclave/collect"
)

func newTranscriptMapCommand(env *environment) *cobra.Command {
	var o collect.MapOptions
	var balance, asJSON bool
	cmd := &cobra.Command{
		Use:   "map FILE|DIR|-",
		Short: "Print session files as canonical records",
		Long: `Map reads session files of Claude Code or Codex (rollouts, app-server messages,
the output of codex exec --json) and prints one log record per entry, as lines
of JSON. It keeps no state and records nothing.

A record bears the time of mapping, as an entry's time is when it was captured;
the agent's own time is in its detail. With --source-time it bears the time of
its line instead (a line without one that of the line before), and the same
input gives the same output, byte for byte.

The balance goes to stderr. Exit code 1 when something is not accounted for.`,
		Example: `  conclave transcript map session.jsonl | conclave transcript check -
  conclave transcript map ~/.claude/projects --balance > all.jsonl
  codex exec --json … | conclave transcript map --adapter codex -`,
		Args: oneArg("FILE|DIR|-"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Adapter, err = adapterName(o.Adapter); err != nil {
				return err
			}
			progress := newProgress(env)
			o.Progress = progress.show
			out := &lineWriter{w: bufio.NewWriterSize(interruptible{cmd.Context(), env.Stdout.Raw()}, 256<<10)}
			var b collect.Balance
			if args[0] == "-" {
				b, err = collect.MapReader(cmd.Context(), env.Stdin, out, o)
			} else {
				b, err = collect.Map(cmd.Context(), inDir(env, args[0]), out, o)
			}
			err = errors.Join(err, out.w.Flush())
			progress.clear()
			if err != nil {
				return environmentError("%w", err)
			}
			if balance || asJSON {
				return env.printBalance(env.Stderr, b, asJSON)
			}
			for _, g := range b.Unaccounted {
				env.Stderr.Printf("conclave: not accounted for: %s: %s\n", g.Path, g.Reason)
			}
			if !b.OK() {
				return saidNo()
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Adapter, "adapter", "", "take the input for that of this `ADAPTER`: claude or codex")
	f.BoolVar(&o.OmitRaw, "no-raw", false, "leave out raw, the source's own line (emit_raw = false)")
	f.BoolVar(&o.SourceTime, "source-time", false, "stamp entries with the time of their line")
	f.BoolVar(&balance, "balance", false, "print the balance on stderr")
	f.BoolVar(&asJSON, "json", false, "print the balance on stderr, as JSON")
	return cmd
}

// interruptible writes piece by piece until ctx ends: a line can take longer to
// print than a person waits.
type interruptible struct {
	ctx context.Context
	w   io.Writer
}

func (i interruptible) Write(p []byte) (n int, err error) {
	for piece := range slices.Chunk(p, 64<<10) {
		if err := i.ctx.Err(); err != nil {
			return n, err
		}
		m, err := i.w.Write(piece)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// lineWriter prints log records.
type lineWriter struct{ w *bufio.Writer }

func (l *lineWriter) AppendLog(line []byte) error {
	if _, err := l.w.Write(line); err != nil {
		return err
	}
	return l.w.WriteByte('\n')
}
