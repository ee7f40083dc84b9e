package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newArchiveCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Keep what was recorded and what agents' programs delete, for search and SQL",
		Long: `The archive is one SQLite file over the records of this workspace and the session
files of agents' programs (docs/agents.md). It keeps their bytes, compressed, also
after the programs have deleted them, and an index of their words without secrets.`,
	}
	cmd.AddCommand(newArchiveRefreshCommand(env), newArchiveRebuildCommand(env),
		newArchiveStatusCommand(env), newArchiveRestoreCommand(env))
	return cmd
}

// archiveFlag is what every command that reads the archive has.
func archiveFlag(cmd *cobra.Command, at *app.ArchiveAt) *cobra.Command {
	cmd.Flags().StringVar(&at.File, "archive", "", "the archive's `FILE` (default: in your data directory)")
	return cmd
}

func newArchiveRefreshCommand(env *environment) *cobra.Command {
	var at app.ArchiveAt
	return archiveFlag(answer(env, &cobra.Command{
		Use:   "refresh [DIR…]",
		Short: "Take up what is new",
		Long: `Refresh takes up what is new in the records of this workspace and the session
files of agents' programs, or in the directories that are named. It reads
each file on from where it stopped. It can be interrupted at any moment, and
waits for another refresh of the same archive to end.`,
		Example: "  conclave archive refresh\n  conclave archive refresh ~/backup/claude-projects --json",
	}, func(ctx context.Context, args []string) (app.ArchiveReport, error) {
		return env.app().RefreshArchive(ctx, at, args)
	}, printReport), &at)
}

func newArchiveRebuildCommand(env *environment) *cobra.Command {
	var at app.ArchiveAt
	return archiveFlag(answer(env, &cobra.Command{
		Use:   "rebuild",
		Short: "Make the index anew from the bytes that are kept",
		Long: `Rebuild makes everything but the kept bytes anew, in one step: until it is done
the archive answers as before. The answers are the same afterwards, unless your
own patterns for secrets have changed (redact.txt, see conclave bundle create
--help): what they match is hidden at once, and no longer found after a rebuild.`,
		Example: "  conclave archive rebuild",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, _ []string) (app.ArchiveReport, error) {
		return env.app().RebuildArchive(ctx, at)
	}, printReport), &at)
}

func printReport(w *screen.Writer, rep app.ArchiveReport) error {
	w.Printf("%s looked at, %d new or grown, %d gone: %s in %s\n", screen.Counted(rep.Files, "file", "files"),
		rep.Changed, rep.Gone, screen.Counted(int(rep.Entries), "entry", "entries"), screen.Bytes(rep.Bytes))
	for _, p := range rep.Problems {
		w.Printf("  could not read all of %s\n", p)
	}
	return nil
}

func newArchiveStatusCommand(env *environment) *cobra.Command {
	var at app.ArchiveAt
	var verify bool
	cmd := archiveFlag(answer(env, &cobra.Command{
		Use:     "status",
		Short:   "Say what the archive holds",
		Example: "  conclave archive status\n  conclave archive status --verify",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, _ []string) (app.ArchiveStatus, error) {
		return env.app().ArchiveStatus(ctx, at, verify)
	}, func(w *screen.Writer, s app.ArchiveStatus) error {
		w.Printf("%s (%s)\n", s.Path, screen.Bytes(s.Size))
		w.Printf("%s, %d of them gone; %s\n",
			screen.Counted(s.Sources, "file", "files"), s.Gone, screen.Counted(int(s.Entries), "entry", "entries"))
		w.Printf("%s kept in %s (%s)\n", screen.Bytes(s.Bytes), screen.Bytes(s.Stored), screen.Counted(s.Blocks, "block", "blocks"))
		if s.First != "" {
			w.Printf("from %s to %s\n", s.First, s.Last)
		}
		switch {
		case len(s.Damaged) > 0:
			w.Printf("%s damaged: conclave archive rebuild\n", screen.Counted(len(s.Damaged), "block is", "blocks are"))
		case verify:
			w.Printf("every block matches its digest\n")
		}
		return nil
	}), &at)
	cmd.Flags().BoolVar(&verify, "verify", false, "hold every kept byte against its digest")
	return cmd
}

func newArchiveRestoreCommand(env *environment) *cobra.Command {
	var at app.ArchiveAt
	var out string
	cmd := archiveFlag(&cobra.Command{
		Use:   "restore RUN",
		Short: "Write out a record or session file as it was, also one that is gone",
		Long: `Restore writes the bytes of a record or a session file as they were taken up.
They are not redacted: they are your own file again, readable for you alone.`,
		Example: "  conclave archive restore 11111111-1111-4111-8111-111111111111 -o session.jsonl",
		Args:    oneArg("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.app().RestoreArchived(cmd.Context(), at, args[0], out)
		},
	}, &at)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `FILE` to make")
	return cmd
}
