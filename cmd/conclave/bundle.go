package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newBundleCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Pack a run into one file that can leave the machine",
		Long: `A bundle is one zip with everything about one run: what was asked and answered,
every log record, the transcript, the receipts, the environment, and the record
itself. Secrets are taken out before anything is written; where one stood in the
record, its payload is withheld and the chain still verifies.`,
		Example: `  conclave bundle create last
  conclave bundle verify run.zip
  conclave bundle open run.zip transcript.jsonl`,
	}
	cmd.AddCommand(newBundleCreateCommand(env), newBundleVerifyCommand(env), newBundleOpenCommand(env),
		newBundleListCommand(env), newBundlePruneCommand(env))
	return cmd
}

func newBundleCreateCommand(env *environment) *cobra.Command {
	var b app.Bundling
	cmd := printJSON(answer(env, &cobra.Command{
		Use:   "create RUN",
		Short: "Make a bundle of a run",
		Long: `Create makes a bundle of a run: of its id, the beginning of its id, "last", or
the path of a record.

It removes tokens, private keys, passwords and the values of secret-looking
environment variables, and whatever your own patterns match: those of --pattern
and those in redact.txt beside your config.yaml, one regular expression a line.
The manifest says how many of what kind were removed where.

Bundles go to .conclave/bundles, or to the file that --out names, which must not
exist. --keep, --max-age and --max-size prune older ones afterwards; --store runs
a program with the bundle's path. Neither can make the bundle fail.`,
		Example: `  conclave bundle create last
  conclave bundle create 20260218T143200.000Z-1f0c9a3b5d7e --out run.zip
  conclave bundle create last --with-workspace --keep 20 --max-age 30d`,
		Args: oneArg("RUN"),
	}, func(ctx context.Context, args []string) (app.Bundled, error) {
		return env.app().CreateBundle(ctx, args[0], b)
	}, printBundled), "print path and manifest as JSON")
	f := cmd.Flags()
	f.StringVarP(&b.Out, "out", "o", "", "the file to write (default: a name of its own in .conclave/bundles)")
	f.BoolVar(&b.NoRedact, "no-redact", false, "leave secrets in; the manifest says so")
	f.BoolVar(&b.WithWorkspace, "with-workspace", false, "add the files of the workspace (10 MB a file, 50 MB in all)")
	f.StringArrayVar(&b.Patterns, "pattern", nil, "a regular expression whose matches are removed, too (may be repeated)")
	f.StringVar(&b.Store, "store", "", "a program that takes the finished bundle elsewhere")
	retentionFlags(cmd, &b.Retention)
	return cmd
}

func retentionFlags(cmd *cobra.Command, r *app.Retention) {
	cmd.Flags().IntVar(&r.Keep, "keep", 0, "keep at most so many bundles")
	cmd.Flags().StringVar(&r.MaxAge, "max-age", "", "keep bundles at most so long: 12h, 30d")
	cmd.Flags().StringVar(&r.MaxSize, "max-size", "", "keep at most so much in all: 500MB, 2GB")
}

func printBundled(w *screen.Writer, made app.Bundled) error {
	m := made.Manifest
	w.Printf("%s\n", made.Path)
	w.Printf("%s, %s, head %s\n", screen.Counted(len(m.Files)+1, "file", "files"), screen.Bytes(made.Size), m.Record.Head)
	switch n := m.Redaction.Kinds.Total(); {
	case !m.Redaction.Applied:
		w.Printf("%s\n", screen.Red("not redacted: it may hold secrets"))
	case n > 0:
		w.Printf("%s removed (%s); %s of the record withheld\n", screen.Counted(n, "secret", "secrets"),
			kindList(m.Redaction.Kinds), screen.Counted(m.Record.Withheld, "payload", "payloads"))
	default:
		w.Printf("no secrets found in it\n")
	}
	for _, what := range slices.Sorted(maps.Keys(made.NotKnown)) {
		w.Printf("not known: %s: %s\n", what, made.NotKnown[what])
	}
	if n := len(made.Pruned); n > 0 {
		w.Printf("%s pruned\n", screen.Counted(n, "older bundle", "older bundles"))
	}
	return nil
}

func kindList(kinds map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
	}
	return strings.Join(parts, ", ")
}

func newBundleVerifyCommand(env *environment) *cobra.Command {
	return printJSON(answer(env, &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check that bundles are whole and safe to open",
		Long: `Verify reads bundles, this program's or the original system's, and checks that
every file is listed and has its checksum, that the transcript is what the log
says, and that the record's chain verifies to the head in the manifest. Bundles
made to do harm are reported, never unpacked. It exits with 1 if there is a
problem.`,
		Example: "  conclave bundle verify run.zip\n  conclave bundle verify --json *.zip",
		Args:    cobra.MinimumNArgs(1),
	}, func(_ context.Context, args []string) ([]app.BundleReport, error) {
		return env.app().VerifyBundles(args)
	}, func(w *screen.Writer, reports []app.BundleReport) error {
		for _, rep := range reports {
			printBundleReport(w, rep)
		}
		return nil
	}), "print the reports as JSON")
}

func printBundleReport(w *screen.Writer, rep app.BundleReport) {
	if rep.Sound() {
		w.Printf("%s: %s: %s, %s unpacked, %s\n", rep.Path, screen.Green("sound"), screen.Counted(rep.Files, "file", "files"),
			screen.Bytes(rep.Bytes), screen.Counted(int(rep.Entries), "entry", "entries"))
	} else {
		w.Printf("%s: %s\n", rep.Path, screen.Red("not sound"))
	}
	const most = 20
	for i, p := range rep.Problems {
		if i == most {
			w.Printf("  and %d more\n", len(rep.Problems)-most)
			break
		}
		w.Printf("  %s\n", p.String())
	}
	for _, n := range rep.Notes {
		w.Printf("  note: %s\n", n.String())
	}
	if r := rep.Record; r != nil && rep.Sound() {
		w.Printf("  chain of %d frames verifies, %d withheld, head %s\n", r.Frames, r.Withheld, r.Head)
	}
}

func newBundleOpenCommand(env *environment) *cobra.Command {
	var extract string
	cmd := printJSON(answer(env, &cobra.Command{
		Use:   "open FILE [NAME]",
		Short: "Look into a bundle",
		Long: `Open says what a bundle holds; with a NAME it prints that file of it, and with
--extract it unpacks a bundle that verifies into a new directory.`,
		Example: `  conclave bundle open run.zip
  conclave bundle open run.zip metrics.json
  conclave bundle open run.zip --extract run/`,
		Args: cobra.RangeArgs(1, 2),
	}, func(_ context.Context, args []string) (app.BundleContents, error) {
		return env.app().OpenBundle(args[0])
	}, printContents), "print the manifest as JSON")
	look := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case extract != "" && len(args) == 2:
			return usageError("--extract unpacks everything: leave out %s", args[1])
		case extract != "":
			root, err := env.app().ExtractBundle(args[0], extract)
			if err != nil {
				return err
			}
			return env.Stdout.Printf("%s\n", root)
		case len(args) == 2:
			return env.app().CopyFromBundle(args[0], args[1], env.Stdout.Raw())
		}
		return look(cmd, args)
	}
	cmd.Flags().StringVar(&extract, "extract", "", "unpack into this directory, which must not exist")
	return cmd
}

func printContents(w *screen.Writer, m app.BundleContents) error {
	field := func(name, text string) {
		if text != "" {
			w.Printf("%-10s %s\n", name, text)
		}
	}
	field("bundle", m.BundleID)
	field("run", m.Request.RequestID)
	field("of", strings.TrimSuffix(strings.TrimSpace(m.Prompt.Key+", "+m.Prompt.Adapter), ","))
	field("status", m.Request.Status)
	field("from", m.Request.StartedAt)
	field("to", m.Request.EndedAt)
	if r := m.Record; r != nil {
		field("record", fmt.Sprintf("%d frames, %d withheld, head %s", r.Frames, r.Withheld, r.Head))
	}
	switch r := m.Redaction; {
	case r == nil:
		field("redacted", "its writer does not say")
	case !r.Applied:
		field("redacted", "no: it may hold secrets")
	default:
		field("redacted", fmt.Sprintf("%d removed %s", r.Kinds.Total(), kindList(r.Kinds)))
	}
	for _, f := range m.Contents {
		w.Printf("  %s %s\n", screen.Dim(screen.Sprintf("%10s", screen.Bytes(f.Size))), f.Name)
	}
	return nil
}

func newBundleListCommand(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List bundles, oldest first",
		Example: "  conclave bundle list\n  conclave bundle list ~/bundles --json",
		Args:    cobra.MaximumNArgs(1),
	}, func(_ context.Context, args []string) ([]app.BundleInfo, error) {
		return env.app().Bundles(first(args))
	}, func(w *screen.Writer, list []app.BundleInfo) error {
		if len(list) == 0 {
			w.Printf("no bundles here; conclave bundle create makes one\n")
		}
		for _, b := range list {
			made := b.Created.Local().Format("2006-01-02 15:04")
			w.Printf("%s  %8s  %-7s  %s  %s\n", made, screen.Bytes(b.Size), b.Status, b.Run, b.Path)
		}
		return nil
	})
}

func newBundlePruneCommand(env *environment) *cobra.Command {
	var keep app.Retention
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "prune [DIR]",
		Short: "Remove the oldest bundles",
		Long: `Prune removes bundles until every limit that is given holds, the oldest first.
It touches nothing but bundles, and never a file that took the place of one.`,
		Example: "  conclave bundle prune --keep 20\n  conclave bundle prune --max-age 30d --max-size 2GB --dry-run",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			gone, err := env.app().PruneBundles(first(args), keep, dryRun)
			switch {
			case gone == nil: // nothing was looked at
				return err
			case asJSON:
				return cmp.Or(env.Stdout.JSON(gone), err)
			}
			for _, b := range gone {
				env.Stdout.Printf("%s\n", b.Path)
			}
			word := "removed"
			if dryRun {
				word = "would go"
			}
			return cmp.Or(env.Stdout.Printf("%s %s\n", screen.Counted(len(gone), "bundle", "bundles"), word), err)
		},
	}
	retentionFlags(cmd, &keep)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be removed, and remove nothing")
	env.addJSON(cmd, &asJSON, "print what was removed as JSON", (*app.App).PruneBundles)
	return cmd
}
