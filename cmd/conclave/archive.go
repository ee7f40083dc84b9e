package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/archive"
	"conclave/audit"
	"conclave/bundle/redact"
	"conclave/internal/screen"
	"conclave/record"
)

func newArchiveCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Keep what was recorded and what agents' programs delete, for search and SQL",
		Long: `The archive is one SQLite file over the records of this workspace and the session
files of Claude Code and Codex. It keeps their bytes, compressed, also after the
programs have deleted them, and an index of their words without secrets.`,
	}
	cmd.AddCommand(newArchiveRefreshCommand(env), newArchiveRebuildCommand(env), newArchiveStatusCommand(env), newArchiveRestoreCommand(env))
	return cmd
}

// archiveFlags are what every command that reads the archive has.
type archiveFlags struct {
	file      string
	noRefresh bool
	roots     []string
}

func (f *archiveFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "archive", "", "the archive's `FILE` (default: in your data directory)")
}

func (f *archiveFlags) addRefresh(cmd *cobra.Command) {
	f.add(cmd)
	cmd.Flags().BoolVar(&f.noRefresh, "no-refresh", false, "use the archive as it is")
}

// archivePath is where the archive is.
func (env *environment) archivePath(file string) string {
	if file != "" {
		return env.absPath(file)
	}
	return filepath.Join(env.userDataDir(), "conclave", "archive.db")
}

// cacheDir is where things are kept that can be made again.
func (env *environment) cacheDir() string {
	dir := env.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(dir) {
		home := env.Getenv("HOME")
		switch {
		case runtime.GOOS == "windows":
			dir = filepath.Join(env.Getenv("LOCALAPPDATA"), "Cache")
		case runtime.GOOS == "darwin":
			dir = filepath.Join(home, "Library", "Caches")
		default:
			dir = filepath.Join(home, ".cache")
		}
	}
	return filepath.Join(dir, "conclave")
}

// sessionRoots are where the records of this workspace and the sessions of the
// agents' programs are.
func (env *environment) sessionRoots(named []string) ([]string, error) {
	if len(named) > 0 {
		roots := make([]string, len(named))
		for i, n := range named {
			roots[i] = env.absPath(n)
		}
		return roots, nil
	}
	root, err := env.findRoot()
	if err != nil {
		return nil, err
	}
	return append([]string{record.Dir(root)}, env.programRoots()...), nil
}

func (env *environment) programRoots() []string {
	home := env.Getenv("HOME")
	if home == "" {
		home = env.Getenv("USERPROFILE")
	}
	var roots []string
	for _, p := range [][3]string{{"CLAUDE_CONFIG_DIR", ".claude", "projects"}, {"CODEX_HOME", ".codex", "sessions"}} {
		dir := env.Getenv(p[0])
		if dir == "" && home != "" {
			dir = filepath.Join(home, p[1])
		}
		if dir != "" {
			roots = append(roots, filepath.Join(dir, p[2]))
		}
	}
	return roots
}

// archiveOptions wire what the archive needs of others.
func (env *environment) archiveOptions(noRedact bool) (archive.Options, error) {
	patterns, err := env.redactPatterns(nil)
	if err != nil {
		return archive.Options{}, err
	}
	o := archive.Options{
		Redactor: redact.New(redact.Options{EnvValues: redact.SecretEnv(os.Environ()), Patterns: patterns}),
		NoRedact: noRedact,
		Judge: func(src io.ReaderAt) ([]archive.Finding, error) {
			rep, err := audit.Judge(src)
			if err != nil {
				return nil, err
			}
			var list []archive.Finding
			for _, f := range rep.Findings {
				list = append(list, archive.Finding{Rule: f.Rule, Turn: f.Turn, Frame: f.Frame, What: f.What})
			}
			return list, nil
		},
	}
	if env.Stderr.Terminal() {
		o.Progress = newBar(env.Stderr, "indexing").show
	}
	return o, nil
}

// archiveIn opens the archive in a file, or the person's own.
func (env *environment) archiveIn(file string, noRedact bool) (*archive.Archive, error) {
	o, err := env.archiveOptions(noRedact)
	if err != nil {
		return nil, err
	}
	a, err := archive.Open(env.archivePath(file), o)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return a, nil
}

// archiveOf opens files as if they were an archive.
func (env *environment) archiveOf(ctx context.Context, files []string, noRedact bool) (*archive.Archive, error) {
	o, err := env.archiveOptions(noRedact)
	if err != nil {
		return nil, err
	}
	return archive.OpenFiles(ctx, filepath.Join(env.cacheDir(), "query"), files, o)
}

// openArchive opens the archive and, unless told otherwise, takes up what is
// new. When somebody else is doing that, it is used as it is.
func (env *environment) openArchive(ctx context.Context, f archiveFlags) (*archive.Archive, error) {
	a, err := env.archiveIn(f.file, false)
	if err != nil {
		return nil, err
	}
	if f.noRefresh {
		return a, nil
	}
	roots, err := env.sessionRoots(f.roots)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	_, _, err = a.TryRefresh(ctx, roots)
	if err != nil {
		a.Close()
		return nil, environmentError("%w", err)
	}
	return a, nil
}

func newArchiveRefreshCommand(env *environment) *cobra.Command {
	var flags archiveFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "refresh [DIR…]",
		Short: "Take up what is new",
		Long: `Refresh takes up what is new in the records of this workspace and the session
files of Claude Code and Codex, or in the directories that are named. It reads
each file on from where it stopped. It can be interrupted at any moment, and
waits for another refresh of the same archive to end.`,
		Example: "  conclave archive refresh\n  conclave archive refresh ~/backup/claude-projects --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := env.archiveIn(flags.file, false)
			if err != nil {
				return err
			}
			defer a.Close()
			roots, err := env.sessionRoots(args)
			if err != nil {
				return err
			}
			rep, err := a.Refresh(cmd.Context(), roots)
			if err != nil {
				return environmentError("%w", err)
			}
			return env.printReport(rep, asJSON)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (env *environment) printReport(rep archive.Report, asJSON bool) error {
	if asJSON {
		return env.Stdout.JSON(rep)
	}
	env.Stdout.Printf("%s looked at, %d new or grown, %d gone: %s in %s\n", counted(rep.Files, "file", "files"),
		rep.Changed, rep.Gone, counted(int(rep.Entries), "entry", "entries"), byteSize(rep.Bytes))
	for _, p := range rep.Problems {
		env.Stdout.Printf("  could not read all of %s\n", p)
	}
	return nil
}

func newArchiveRebuildCommand(env *environment) *cobra.Command {
	var flags archiveFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the index anew from the bytes that are kept",
		Long: `Rebuild makes everything but the kept bytes anew, in one step: until it is done
the archive answers as before. The answers are the same afterwards, unless your
own patterns for secrets have changed (redact.txt, see conclave bundle create
--help): what they match is hidden at once, and no longer found after a rebuild.`,
		Example: "  conclave archive rebuild",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := env.archiveIn(flags.file, false)
			if err != nil {
				return err
			}
			defer a.Close()
			rep, err := a.Rebuild(cmd.Context())
			if err != nil {
				return environmentError("%w", err)
			}
			return env.printReport(rep, asJSON)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func newArchiveStatusCommand(env *environment) *cobra.Command {
	var flags archiveFlags
	var asJSON, verify bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Say what the archive holds",
		Example: "  conclave archive status\n  conclave archive status --verify",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags.noRefresh = true
			a, err := env.openArchive(cmd.Context(), flags)
			if err != nil {
				return err
			}
			defer a.Close()
			look := a.Status
			if verify {
				look = a.Verify
			}
			s, err := look(cmd.Context())
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				if err := env.Stdout.JSON(s); err != nil {
					return err
				}
			} else {
				printArchiveStatus(env.Stdout, s, verify)
			}
			if len(s.Damaged) > 0 {
				return saidNo()
			}
			return nil
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&verify, "verify", false, "hold every kept byte against its digest")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func printArchiveStatus(w *screen.Writer, s archive.Status, verified bool) {
	w.Printf("%s (%s)\n", s.Path, byteSize(s.Size))
	w.Printf("%s, %d of them gone; %s\n", counted(s.Sources, "file", "files"), s.Gone, counted(int(s.Entries), "entry", "entries"))
	w.Printf("%s kept in %s (%s)\n", byteSize(s.Bytes), byteSize(s.Stored), counted(s.Blocks, "block", "blocks"))
	if s.First != "" {
		w.Printf("from %s to %s\n", s.First, s.Last)
	}
	switch {
	case len(s.Damaged) > 0:
		w.Printf("%s damaged: conclave archive rebuild\n", counted(len(s.Damaged), "block is", "blocks are"))
	case verified:
		w.Printf("every block matches its digest\n")
	}
}

func newArchiveRestoreCommand(env *environment) *cobra.Command {
	var flags archiveFlags
	var out string
	cmd := &cobra.Command{
		Use:   "restore RUN",
		Short: "Write out a record or session file as it was, also one that is gone",
		Long: `Restore writes the bytes of a record or a session file as they were taken up.
They are not redacted: they are your own file again, readable for you alone.`,
		Example: "  conclave archive restore 11111111-1111-4111-8111-111111111111 -o session.jsonl",
		Args:    oneArg("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usageError("say where to: -o FILE")
			}
			flags.noRefresh = true
			a, err := env.openArchive(cmd.Context(), flags)
			if err != nil {
				return err
			}
			defer a.Close()
			return writeNew(env.absPath(out), func(w io.Writer) error { return a.Restore(cmd.Context(), w, args[0]) })
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `FILE` to make")
	return cmd
}

// writeNew makes a file (0600) that must not exist; when fill fails, it is not
// there.
func writeNew(path string, fill func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return environmentError("%w", err)
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = environmentError("%w", e)
		}
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	if err := fill(f); err != nil {
		return environmentError("%w", err)
	}
	return nil
}

// bar is one line on a terminal that says how far something long is. It
// says nothing about what is done at once.
type bar struct {
	w     *screen.Writer
	what  string
	began time.Time
	last  time.Time
}

func newBar(w *screen.Writer, what string) *bar { return &bar{w: w, what: what} }

func (p *bar) show(done, total int64) {
	now := time.Now()
	if p.began.IsZero() {
		p.began, p.last = now, now
	}
	end := done >= total
	if now.Sub(p.began) < time.Second || !end && now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last = now
	if end {
		p.w.Progress("")
		return
	}
	const width = 30
	filled := int(done * width / max(total, 1))
	p.w.Progress("%s [%s%s] %s of %s", p.what, strings.Repeat("█", filled), strings.Repeat("░", width-filled), byteSize(done), byteSize(total))
}
