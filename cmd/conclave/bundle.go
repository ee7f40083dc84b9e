package main

import (
	"bufio"
	"conclave/internal/screen"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/bundle"
	"conclave/bundle/redact"
	"conclave/record"
	door "conclave/workspace"
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

// bundleDir is where the bundles of a workspace are.
func bundleDir(root string) string { return filepath.Join(root, ".conclave", "bundles") }

// bundling is what create is asked for.
type bundling struct {
	out, store    string
	noRedact      bool
	withWorkspace bool
	patterns      []string
	asJSON        bool
	retention     retention
}

func newBundleCreateCommand(env *environment) *cobra.Command {
	var b bundling
	cmd := &cobra.Command{
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
		RunE: func(cmd *cobra.Command, args []string) error { return env.createBundle(cmd, args[0], b) },
	}
	f := cmd.Flags()
	f.StringVarP(&b.out, "out", "o", "", "the file to write (default: a name of its own in .conclave/bundles)")
	f.BoolVar(&b.noRedact, "no-redact", false, "leave secrets in; the manifest says so")
	f.BoolVar(&b.withWorkspace, "with-workspace", false, "add the files of the workspace (10 MB a file, 50 MB in all)")
	f.StringArrayVar(&b.patterns, "pattern", nil, "a regular expression whose matches are removed, too (may be repeated)")
	f.StringVar(&b.store, "store", "", "a program that takes the finished bundle elsewhere")
	f.BoolVar(&b.asJSON, "json", false, "print path and manifest as JSON")
	b.retention.flags(cmd)
	return cmd
}

func (env *environment) createBundle(cmd *cobra.Command, run string, b bundling) error {
	root, err := env.findRoot()
	if err != nil {
		return err
	}
	path, err := env.findRecord(root, run)
	if err != nil {
		return err
	}
	patterns, err := env.redactPatterns(b.patterns)
	if err != nil {
		return err
	}
	policy, err := b.retention.policy()
	if err != nil {
		return err
	}
	v := env.app().Build()
	o := bundle.Options{
		Record: path, Dir: bundleDir(root), NoRedact: b.noRedact, Patterns: patterns, Environ: os.Environ(),
		Build: bundle.Build{Version: v.Version, Commit: v.Commit}, Command: os.Args, Workspace: root, WithWorkspace: b.withWorkspace,
	}
	if b.out != "" {
		o.File = inDir(env, b.out)
	}
	if ws, err := env.openWorkspace(); err == nil {
		o.Config = ws.Config
	}
	bar := env.frameBar()
	o.Progress = bar.show
	made, err := bundle.Create(cmd.Context(), o)
	bar.clear()
	if err != nil {
		return environmentError("%w", err)
	}
	var store bundle.Store
	if b.store != "" {
		store = bundle.Program(b.store)
	}
	removed, warnings := bundle.Settle(cmd.Context(), made, filepath.Dir(made.Path), policy, store, time.Now())
	for _, w := range warnings {
		env.Stderr.Printf("conclave: %v (the bundle is there)\n", w)
	}
	if b.asJSON {
		return env.Stdout.JSON(made)
	}
	env.printCreated(made, removed)
	return nil
}

func (env *environment) printCreated(made bundle.Created, removed []bundle.Info) {
	m := made.Manifest
	env.Stdout.Printf("%s\n", made.Path)
	env.Stdout.Printf("%s, %s, head %s\n", counted(len(m.Files)+1, "file", "files"), byteSize(made.Size), m.Record.Head)
	switch n := m.Redaction.Kinds.Total(); {
	case !m.Redaction.Applied:
		env.Stdout.Printf("%s\n", screen.Red("not redacted: it may hold secrets"))
	case n > 0:
		env.Stdout.Printf("%s removed (%s); %s of the record withheld\n", counted(n, "secret", "secrets"), kindList(m.Redaction.Kinds), counted(m.Record.Withheld, "payload", "payloads"))
	default:
		env.Stdout.Printf("no secrets found in it\n")
	}
	for _, what := range slices.Sorted(maps.Keys(made.NotKnown)) {
		env.Stdout.Printf("not known: %s: %s\n", what, made.NotKnown[what])
	}
	if len(removed) > 0 {
		env.Stdout.Printf("%s pruned\n", counted(len(removed), "older bundle", "older bundles"))
	}
}

// findRecord resolves what a person calls a run.
func (env *environment) findRecord(root, run string) (string, error) {
	if strings.HasSuffix(run, record.Extension) || strings.ContainsRune(run, filepath.Separator) {
		return inDir(env, run), nil
	}
	list, err := record.List(record.Dir(root))
	if err != nil {
		return "", environmentError("%w", err)
	}
	if run == "last" && len(list) > 0 {
		return list[len(list)-1].Path, nil
	}
	var found []record.Info
	for _, info := range list {
		if info.Run == run {
			return info.Path, nil
		}
		if strings.HasPrefix(info.Run, run) {
			found = append(found, info)
		}
	}
	switch len(found) {
	case 1:
		return found[0].Path, nil
	case 0:
		return "", environmentError("no run %q in %s\ntry: conclave record list", run, record.Dir(root))
	}
	return "", usageError("%q is the beginning of %d runs: say more of it\ntry: conclave record list", run, len(found))
}

// redactPatterns are the person's own: of the command line, and of redact.txt
// beside their configuration.
func (env *environment) redactPatterns(said []string) ([]redact.Pattern, error) {
	var out []redact.Pattern
	for _, text := range said {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, usageError("--pattern: %w", err)
		}
		out = append(out, redact.Pattern{Regexp: re})
	}
	if env.userConfigFile() == "" {
		return out, nil
	}
	file := filepath.Join(filepath.Dir(env.userConfigFile()), "redact.txt")
	f, err := door.OpenNamed(file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, environmentError("%w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, environmentError("%s:%d: %w", file, n, err)
		}
		out = append(out, redact.Pattern{Regexp: re})
	}
	return out, lines.Err()
}

// frameBar says how much of long work is done, on a terminal.
type frameBar struct {
	env   *environment
	last  time.Time
	shown bool
}

func (env *environment) frameBar() *frameBar { return &frameBar{env: env, last: time.Now()} }

func (b *frameBar) show(done, total uint64) {
	if !b.env.Stderr.Terminal() || total == 0 || time.Since(b.last) < 100*time.Millisecond {
		return
	}
	const width = 30
	full := int(width * done / total)
	b.env.Stderr.Progress("%s%s %3d%%", strings.Repeat("█", full), strings.Repeat("░", width-full), 100*done/total)
	b.last, b.shown = time.Now(), true
}

func (b *frameBar) clear() {
	if b.shown {
		b.env.Stderr.Progress("")
	}
}

// retention are the flags of pruning.
type retention struct {
	keep            int
	maxAge, maxSize string
}

func (r *retention) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&r.keep, "keep", 0, "keep at most so many bundles")
	cmd.Flags().StringVar(&r.maxAge, "max-age", "", "keep bundles at most so long: 12h, 30d")
	cmd.Flags().StringVar(&r.maxSize, "max-size", "", "keep at most so much in all: 500MB, 2GB")
}

func (r *retention) policy() (bundle.Policy, error) {
	p := bundle.Policy{MaxBundles: r.keep}
	if r.keep < 0 {
		return p, usageError("--keep %d: want a number from 1 on", r.keep)
	}
	var err error
	if r.maxAge != "" {
		if p.MaxAge, err = parseAge(r.maxAge); err != nil {
			return p, usageError("--max-age %s: want a time like 12h or 30d", r.maxAge)
		}
	}
	if r.maxSize != "" {
		if p.MaxBytes, err = parseBytes(r.maxSize); err != nil {
			return p, usageError("--max-size %s: want a size like 500MB or 2GB", r.maxSize)
		}
	}
	return p, nil
}

func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n <= 0 || n > 100_000 {
			return 0, errors.New("not a number of days")
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		err = errors.New("not a time to wait")
	}
	return d, err
}

func parseBytes(s string) (int64, error) {
	unit := int64(1)
	low := strings.ToUpper(strings.TrimSpace(s))
	for i, u := range []string{"KB", "MB", "GB", "TB"} {
		if rest, ok := strings.CutSuffix(low, u); ok {
			low, unit = rest, []int64{1e3, 1e6, 1e9, 1e12}[i]
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(low), 10, 64)
	if err != nil || n <= 0 || n > (1<<62)/unit {
		return 0, errors.New("not a size")
	}
	return n * unit, nil
}
