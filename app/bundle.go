package app

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"conclave/bundle"
	"conclave/bundle/redact"
	"conclave/internal/screen"
	"conclave/record"
	door "conclave/workspace"
)

// What is known of bundles.
type (
	BundleInfo   = bundle.Info
	BundleReport = bundle.Report
	Manifest     = bundle.Manifest
)

// Bundling is what a bundle is made of and where it goes.
type Bundling struct {
	Out, Store    string // the file to make; a program that takes it elsewhere
	NoRedact      bool
	WithWorkspace bool
	Patterns      []string // regular expressions whose matches are removed, too
	Retention
}

// Retention is how many bundles are kept.
type Retention struct {
	Keep            int
	MaxAge, MaxSize string
}

// Bundled is a bundle that was made.
type Bundled struct {
	bundle.Created
	Pruned []BundleInfo `json:"-"`
}

// bundleDir is where the bundles of a workspace are.
func bundleDir(root string) string { return filepath.Join(root, engineDir, "bundles") }

// CreateBundle packs a run into one file that can leave the machine.
func (a *App) CreateBundle(ctx context.Context, run string, b Bundling) (Bundled, error) {
	root, err := a.rootToChange()
	if err != nil {
		return Bundled{}, err
	}
	path, err := a.findRecord(root, run)
	if err != nil {
		return Bundled{}, err
	}
	patterns, err := a.redactPatterns(b.Patterns)
	if err != nil {
		return Bundled{}, err
	}
	keep, err := b.Retention.policy()
	if err != nil {
		return Bundled{}, err
	}
	v := a.Build()
	o := bundle.Options{
		Record: path, Dir: bundleDir(root), NoRedact: b.NoRedact, Patterns: patterns, Environ: os.Environ(),
		Build: bundle.Build{Version: v.Version, Commit: v.Commit}, Command: os.Args,
		Workspace: root, WithWorkspace: b.WithWorkspace,
		Progress: func(done, total int64) { a.show(Progress{Done: done, Total: total}) },
	}
	if b.Out != "" {
		o.File = a.AbsPath(b.Out)
	}
	if ws, err := a.openWorkspace(); err == nil {
		o.Config = ws.config
	}
	made, err := bundle.Create(ctx, o)
	if err != nil {
		return Bundled{}, environmentError("%w", err)
	}
	var store bundle.Store
	if b.Store != "" {
		store = bundle.Program(b.Store)
	}
	removed, warnings := bundle.Settle(ctx, made, filepath.Dir(made.Path), keep, store, time.Now())
	for _, w := range warnings {
		a.show(Warning{screen.Sprintf("%v (the bundle is there)", w)})
	}
	return Bundled{made, removed}, nil
}

// findRecord resolves what a person calls a run.
func (a *App) findRecord(root, run string) (string, error) {
	if a.isRecordPath(run) {
		return a.AbsPath(run), nil
	}
	list, err := record.List(record.Dir(root))
	if err != nil {
		return "", environmentError("%w", err)
	}
	if run == "last" && len(list) > 0 {
		return list[len(list)-1].Path, nil
	}
	found := beginning(list, run)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", usageError("no run %q in %s\ntry: conclave record list", run, record.Dir(root))
	}
	return "", usageError("%q is the beginning of %d runs: say more of it\ntry: conclave record list", run, len(found))
}

// redactPatterns are the person's own: those that were said, and those of
// redact.txt beside their configuration.
func (a *App) redactPatterns(said []string) ([]redact.Pattern, error) {
	var out []redact.Pattern
	for _, text := range said {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, usageError("--pattern: %w", err)
		}
		out = append(out, redact.Pattern{Regexp: re})
	}
	if a.userConfigFile() == "" {
		return out, nil
	}
	file := filepath.Join(filepath.Dir(a.userConfigFile()), "redact.txt")
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

// VerifyBundles checks that bundles are whole and safe to open. The answer is no
// when one is not.
func (a *App) VerifyBundles(files []string) ([]BundleReport, error) {
	reports := []BundleReport{}
	sound := true
	for _, file := range files {
		rep, err := bundle.VerifyFile(a.AbsPath(file))
		if err = cmp.Or(err, rep.Newer); err != nil {
			return nil, namedError("%w", err)
		}
		rep.Path = file
		reports = append(reports, rep)
		sound = sound && rep.Sound()
	}
	return reports, noUnless(sound)
}

// BundleContents is what a bundle holds.
type BundleContents struct {
	Manifest
	Contents []BundleFile `json:"-"`
}

// BundleFile is one file of a bundle.
type BundleFile struct {
	Name string
	Size int64
}

// OpenBundle says what a bundle holds.
func (a *App) OpenBundle(file string) (BundleContents, error) {
	var c BundleContents
	err := a.inBundle(file, func(r *bundle.Reader) error {
		c.Manifest = r.Manifest()
		for _, name := range r.Files() {
			c.Contents = append(c.Contents, BundleFile{name, r.Size(name)})
		}
		return nil
	})
	return c, err
}

// inBundle opens a bundle for a look. One that is not to be opened is an answer,
// one that is not there is not.
func (a *App) inBundle(file string, look func(*bundle.Reader) error) (err error) {
	r, err := bundle.Open(a.AbsPath(file))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return namedError("%w", err)
	case err != nil:
		return noError("%w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return look(r)
}

// CopyFromBundle writes one file of a bundle.
func (a *App) CopyFromBundle(file, name string, out io.Writer) error {
	return a.inBundle(file, func(r *bundle.Reader) error {
		in, err := r.Open(strings.TrimPrefix(name, bundle.Root+"/"))
		if err != nil {
			return noError("%w\nit has %s", err, strings.Join(r.Files(), ", "))
		}
		defer in.Close()
		_, err = io.Copy(out, in)
		return err
	})
}

// ExtractBundle unpacks a bundle that verifies into a new directory.
func (a *App) ExtractBundle(file, dir string) (root string, err error) {
	err = a.inBundle(file, func(r *bundle.Reader) error {
		root, err = r.Extract(a.AbsPath(dir))
		if unsafe := (*bundle.Unsafe)(nil); errors.As(err, &unsafe) {
			return noError("%w", err)
		}
		if err != nil {
			return environmentError("%w", err)
		}
		return nil
	})
	return root, err
}

// Bundles are those in a directory, or of this workspace, oldest first.
func (a *App) Bundles(dir string) ([]BundleInfo, error) {
	dir, err := a.bundlesIn(dir, a.rootToRead)
	if err != nil {
		return nil, err
	}
	list, err := bundle.List(dir)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return append([]BundleInfo{}, list...), nil
}

func (a *App) bundlesIn(dir string, find func() (string, error)) (string, error) {
	if dir != "" {
		if _, err := os.Stat(a.AbsPath(dir)); err != nil {
			return "", namedError("%w", err)
		}
		return a.AbsPath(dir), nil
	}
	root, err := find()
	return bundleDir(root), err
}

// PruneBundles removes the oldest bundles until every limit holds, or says which
// those would be. What is gone is said even when not all could be removed.
func (a *App) PruneBundles(dir string, keep Retention, dryRun bool) (gone []BundleInfo, err error) {
	p, err := keep.policy()
	if err != nil {
		return nil, err
	}
	if p == (bundle.Policy{}) {
		return nil, usageError("prune needs --keep, --max-age or --max-size")
	}
	if dir, err = a.bundlesIn(dir, a.rootToChange); err != nil {
		return nil, err
	}
	if dryRun {
		list, e := bundle.List(dir)
		gone, err = p.Excess(list, time.Now(), ""), e
	} else {
		gone, err = bundle.Prune(dir, p, time.Now(), "")
	}
	if err != nil {
		err = environmentError("%w", err)
	}
	return append([]BundleInfo{}, gone...), err
}

func (r *Retention) policy() (bundle.Policy, error) {
	p := bundle.Policy{MaxBundles: r.Keep}
	if r.Keep < 0 {
		return p, usageError("--keep %d: want a number from 1 on", r.Keep)
	}
	var err error
	if r.MaxAge != "" {
		if p.MaxAge, err = parseAge(r.MaxAge); err != nil {
			return p, usageError("--max-age %s: want a time like 12h or 30d", r.MaxAge)
		}
	}
	if r.MaxSize != "" {
		if p.MaxBytes, err = parseBytes(r.MaxSize); err != nil {
			return p, usageError("--max-size %s: want a size like 500MB or 2GB", r.MaxSize)
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
