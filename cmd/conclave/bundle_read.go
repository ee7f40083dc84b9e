package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/bundle"
	"conclave/bundle/redact"
	"conclave/internal/screen"
)

func newBundleVerifyCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check that bundles are whole and safe to open",
		Long: `Verify reads bundles, this program's or the original system's, and checks that
every file is listed and has its checksum, that the transcript is what the log
says, and that the record's chain verifies to the head in the manifest. Bundles
made to do harm are reported, never unpacked. It exits with 1 if there is a
problem.`,
		Example: "  conclave bundle verify run.zip\n  conclave bundle verify --json *.zip",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return env.verifyBundles(args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the reports as JSON")
	return cmd
}

func (env *environment) verifyBundles(files []string, asJSON bool) error {
	reports := []bundle.Report{}
	sound := true
	for _, file := range files {
		rep, err := bundle.VerifyFile(inDir(env, file))
		if err != nil {
			return environmentError("%w", err)
		}
		rep.Path = file
		reports = append(reports, rep)
		sound = sound && rep.Sound()
	}
	if asJSON {
		if err := env.Stdout.JSON(reports); err != nil {
			return err
		}
	} else {
		for _, rep := range reports {
			env.printBundleReport(rep)
		}
	}
	if !sound {
		return saidNo()
	}
	return nil
}

func (env *environment) printBundleReport(rep bundle.Report) {

	if rep.Sound() {
		env.Stdout.Printf("%s: %s: %s, %s unpacked, %s\n", rep.Path, screen.Green("sound"), counted(rep.Files, "file", "files"), byteSize(rep.Bytes), counted(int(rep.Entries), "entry", "entries"))
	} else {
		env.Stdout.Printf("%s: %s\n", rep.Path, screen.Red("not sound"))
	}
	const most = 20
	for i, p := range rep.Problems {
		if i == most {
			env.Stdout.Printf("  and %d more\n", len(rep.Problems)-most)
			break
		}
		env.Stdout.Printf("  %s\n", p.String())
	}
	for _, n := range rep.Notes {
		env.Stdout.Printf("  note: %s\n", n.String())
	}
	if r := rep.Record; r != nil && rep.Sound() {
		env.Stdout.Printf("  chain of %d frames verifies, %d withheld, head %s\n", r.Frames, r.Withheld, r.Head)
	}
}

func newBundleOpenCommand(env *environment) *cobra.Command {
	var asJSON bool
	var extract string
	cmd := &cobra.Command{
		Use:   "open FILE [NAME]",
		Short: "Look into a bundle",
		Long: `Open says what a bundle holds; with a NAME it prints that file of it, and with
--extract it unpacks a bundle that verifies into a new directory.`,
		Example: `  conclave bundle open run.zip
  conclave bundle open run.zip metrics.json
  conclave bundle open run.zip --extract run/`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			r, err := bundle.Open(inDir(env, args[0]))
			if err != nil {
				return openFault(err)
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			switch {
			case extract != "" && len(args) == 2:
				return usageError("--extract unpacks everything: leave out %s", args[1])
			case extract != "":
				return env.extractBundle(r, extract)
			case len(args) == 2:
				return env.printFile(r, args[1])
			case asJSON:
				return env.Stdout.JSON(r.Manifest())
			}
			env.printManifest(r)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the manifest as JSON")
	cmd.Flags().StringVar(&extract, "extract", "", "unpack into this directory, which must not exist")
	return cmd
}

// openFault: a bundle that is not to be opened is an answer, one that is not
// there is not.
func openFault(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return environmentError("%w", err)
	}
	return noError("%w", err)
}

func (env *environment) extractBundle(r *bundle.Reader, dir string) error {
	root, err := r.Extract(inDir(env, dir))
	if unsafe := (*bundle.Unsafe)(nil); errors.As(err, &unsafe) {
		return noError("%w", err)
	}
	if err != nil {
		return environmentError("%w", err)
	}
	env.Stdout.Printf("%s\n", root)
	return nil
}

func (env *environment) printFile(r *bundle.Reader, name string) error {
	in, err := r.Open(strings.TrimPrefix(name, bundle.Root+"/"))
	if err != nil {
		return noError("%w\nit has %s", err, strings.Join(r.Files(), ", "))
	}
	defer in.Close()
	_, err = io.Copy(env.Stdout.Raw(), in)
	return err
}

func (env *environment) printManifest(r *bundle.Reader) {
	m := r.Manifest()
	say := func(name, text string) {
		if text != "" {
			env.Stdout.Printf("%-10s %s\n", name, text)
		}
	}
	say("bundle", m.BundleID)
	say("run", m.Request.RequestID)
	say("of", strings.TrimSuffix(strings.TrimSpace(m.Prompt.Key+", "+m.Prompt.Adapter), ","))
	say("status", m.Request.Status)
	say("from", m.Request.StartedAt)
	say("to", m.Request.EndedAt)
	if m.Record != nil {
		say("record", fmt.Sprintf("%d frames, %d withheld, head %s", m.Record.Frames, m.Record.Withheld, m.Record.Head))
	}
	switch {
	case m.Redaction == nil:
		say("redacted", "its writer does not say")
	case !m.Redaction.Applied:
		say("redacted", "no: it may hold secrets")
	default:
		say("redacted", fmt.Sprintf("%d removed %s", m.Redaction.Kinds.Total(), kindList(m.Redaction.Kinds)))
	}
	for _, name := range r.Files() {
		env.Stdout.Printf("  %s %s\n", screen.Dim(screen.Sprintf("%10s", byteSize(r.Size(name)))), name)
	}
}

func kindList(kinds redact.Counts) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
	}
	return strings.Join(parts, ", ")
}

func newBundleListCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List bundles, oldest first",
		Example: "  conclave bundle list\n  conclave bundle list ~/bundles --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := env.bundlesIn(args)
			if err != nil {
				return err
			}
			list, err := bundle.List(dir)
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				if list == nil {
					list = []bundle.Info{}
				}
				return env.Stdout.JSON(list)
			}
			env.printBundles(list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (env *environment) bundlesIn(args []string) (string, error) {
	if len(args) == 1 {
		return inDir(env, args[0]), nil
	}
	root, err := env.findRoot()
	return bundleDir(root), err
}

func (env *environment) printBundles(list []bundle.Info) {
	if len(list) == 0 {
		env.Stdout.Printf("no bundles here; conclave bundle create makes one\n")
	}
	for _, b := range list {
		env.Stdout.Printf("%s  %8s  %-7s  %s  %s\n", b.Created.Local().Format("2006-01-02 15:04"), byteSize(b.Size), b.Status, b.Run, b.Path)
	}
}

func newBundlePruneCommand(env *environment) *cobra.Command {
	var r retention
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "prune [DIR]",
		Short: "Remove the oldest bundles",
		Long: `Prune removes bundles until every limit that is given holds, the oldest first.
It touches nothing but bundles, and never a file that took the place of one.`,
		Example: "  conclave bundle prune --keep 20\n  conclave bundle prune --max-age 30d --max-size 2GB --dry-run",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := r.policy()
			if err != nil {
				return err
			}
			if p == (bundle.Policy{}) {
				return usageError("prune needs --keep, --max-age or --max-size")
			}
			dir, err := env.bundlesIn(args)
			if err != nil {
				return err
			}
			return env.pruneBundles(dir, p, dryRun, asJSON)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be removed, and remove nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was removed as JSON")
	return cmd
}

func (env *environment) pruneBundles(dir string, p bundle.Policy, dryRun, asJSON bool) error {
	var gone []bundle.Info
	var err error
	if dryRun {
		var list []bundle.Info
		list, err = bundle.List(dir)
		gone = p.Excess(list, time.Now(), "")
	} else {
		gone, err = bundle.Prune(dir, p, time.Now(), "")
	}
	if asJSON {
		if gone == nil {
			gone = []bundle.Info{}
		}
		if err := env.Stdout.JSON(gone); err != nil {
			return err
		}
	} else {
		for _, b := range gone {
			env.Stdout.Printf("%s\n", b.Path)
		}
		word := "removed"
		if dryRun {
			word = "would go"
		}
		env.Stdout.Printf("%s %s\n", counted(len(gone), "bundle", "bundles"), word)
	}
	if err != nil {
		return environmentError("%w", err)
	}
	return nil
}
