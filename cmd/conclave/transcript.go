package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newTranscriptCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "transcript",
		Short: "Check, summarise and prove what was recorded",
	}
	cmd.AddCommand(newTranscriptCheckCommand(env), newTranscriptMapCommand(env),
		newTranscriptSummaryCommand(env), newTranscriptVerifyCommand(env))
	return cmd
}

func newTranscriptCheckCommand(env *environment) *cobra.Command {
	return printJSON(answer(env, &cobra.Command{
		Use:   "check FILE",
		Short: "Check a transcript against the six invariants",
		Long: `Check reads a log (logs/app.jsonl), a transcript.jsonl or a record and checks
the six invariants of a transcript: the envelope is complete, numbers have no
gaps, types are of the vocabulary, emission never failed the run, adapters bear
their registered names, and sources are consistent. Of a record it also checks
every digest, the chain and the seal.

It prints the first violation with its line (of a record: its frame) and the
reason, and exits with 1.`,
		Example: `  conclave transcript check .conclave/records/20260218T143200.000Z-1f0c9a3b5d7e.record
  conclave transcript check debug_bundle/transcript.jsonl --json
  cat app.jsonl | conclave transcript check -`,
		Args: oneArg("FILE"),
	}, func(_ context.Context, args []string) (app.Check, error) {
		return env.app().CheckTranscript(args[0])
	}, func(w *screen.Writer, c app.Check) error {
		if !c.OK {
			return c.Err
		}
		w.Printf("%s: in order: %s\n", c.File, screen.Counted(c.Summary.TotalEntries, "entry", "entries"))
		if r := c.Record; r != nil {
			seal := "not sealed: the run goes on or was cut short"
			switch {
			case r.Sealed:
				seal = fmt.Sprintf("sealed (%s), head %s", r.Seal.Reason, r.Seal.Head)
			case r.TornBytes > 0:
				seal = fmt.Sprintf("not sealed, %d bytes at the end are torn or still being written", r.TornBytes)
			}
			w.Printf("chain of %d frames verifies, %s\n", r.Frames, seal)
		}
		return nil
	}), "print the outcome as JSON")
}

func newTranscriptSummaryCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:     "summary FILE",
		Short:   "Count the entries of a transcript by type and source",
		Example: "  conclave transcript summary run.record\n  conclave transcript summary transcript.jsonl --json",
		Args:    oneArg("FILE"),
	}, func(_ context.Context, args []string) (app.Summary, error) {
		return env.app().SummariseTranscript(args[0])
	}, func(w *screen.Writer, s app.Summary) error {
		w.Printf("%s\n", screen.Counted(s.TotalEntries, "entry", "entries"))
		for _, t := range s.Types() {
			if n := s.EntriesByType[t]; n > 0 {
				w.Printf("  %-18s %d\n", t, n)
			}
		}
		if len(s.Sources) > 1 {
			w.Printf("sources\n")
			for _, source := range slices.Sorted(maps.Keys(s.EntriesBySource)) {
				w.Printf("  %-18s %d\n", source, s.EntriesBySource[source])
			}
		}
		if s.FirstTimestamp != nil {
			w.Printf("from %s to %s\n", s.FirstTimestamp.Format("2006-01-02 15:04:05"), s.LastTimestamp.Format("15:04:05 MST"))
		}
		if s.Skipped > 0 {
			w.Printf("%s incomplete and skipped\n", screen.Counted(s.Skipped, "record", "records"))
		}
		return nil
	})
}

func newTranscriptMapCommand(env *environment) *cobra.Command {
	var o app.Mapping
	var balance, asJSON bool
	cmd := &cobra.Command{
		Use:   "map FILE|DIR|-",
		Short: "Print session files as canonical records",
		Long: `Map reads session files of Claude Code, Codex (rollouts, app-server messages,
the output of codex exec --json) and the other programs in docs/agents.md, and
prints one log record per entry, as lines of JSON. Of a database it maps every
row. It keeps no state and records nothing.

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
			b, err := env.app().MapTranscript(cmd.Context(), args[0], env.Stdout.Raw(), o)
			env.ClearProgress()
			switch {
			case err != nil && !app.Said(err):
				return err
			case asJSON:
				return cmp.Or(env.Stderr.JSON(b), err)
			case balance:
				return cmp.Or(balanceText(env.Stderr, b), err)
			}
			for _, g := range b.Unaccounted {
				env.Stderr.Printf("conclave: not accounted for: %s: %s\n", g.Path, g.Reason)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Adapter, "adapter", "", "take the input for that of this `ADAPTER`: "+app.Readers())
	f.BoolVar(&o.OmitRaw, "no-raw", false, "leave out raw, the source's own line (emit_raw = false)")
	f.BoolVar(&o.SourceTime, "source-time", false, "stamp entries with the time of their line")
	f.BoolVar(&balance, "balance", false, "print the balance on stderr")
	env.addJSON(cmd, &asJSON, "print the balance on stderr, as JSON", (*app.App).MapTranscript)
	return cmd
}

func newTranscriptVerifyCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:   "verify [FILE…]",
		Short: "Prove conversation files against the record",
		Long: `Verify makes each conversation file of the quest anew, from the record of what
was really exchanged, and compares the bytes. Without a name it proves all of
them, and finds those that are gone. Files that other programs or people wrote
are named and are no contradiction. Exit code 1 when a file differs.`,
		Example: "  conclave transcript verify\n" +
			"  conclave transcript verify .campaign/conversations/2026-02-18-14-32-cat.md\n" +
			"  conclave transcript verify --json",
	}, func(_ context.Context, args []string) ([]app.Proof, error) {
		return env.app().VerifyConversations(args)
	}, func(w *screen.Writer, proofs []app.Proof) error {
		proved := 0
		for _, p := range proofs {
			word, why := screen.Red("DIFFERS"), ""
			switch {
			case p.OK:
				word = screen.Green("verbatim")
				proved++
			case p.Foreign:
				word = screen.Dim("not ours")
			}
			if p.Reason != "" {
				why = ": " + p.Reason
			}
			w.Printf("%s  %s%s\n", word, p.File, why)
		}
		return w.Printf("%s proved byte for byte\n", screen.Counted(proved, "conversation", "conversations"))
	})
}
