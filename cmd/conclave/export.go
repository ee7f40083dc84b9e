package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"conclave/archive"
	"conclave/archive/export"
	"conclave/internal/atomicfile"
)

type exportFlags struct {
	archive            archiveFlags
	format, out, title string
	noRedact, all      bool
	force              bool
}

func newExportCommand(env *environment) *cobra.Command {
	var x exportFlags
	cmd := &cobra.Command{
		Use:   "export RUN…",
		Short: "Write runs as Markdown, HTML, JSON lines or CSV",
		Long: `Export writes one run or many: records of this workspace, bundles, logs, session
files, or runs and sessions that are in the archive. Secrets are taken out, unless
--no-redact says otherwise. A page of HTML is one file that needs nothing else.
JSON lines hold everything; documents for people leave out what programs noted for
themselves, unless --all is given.`,
		Example: `  conclave export 20260218T143200.000Z-1f0c9a3b5d7e -o run.md
  conclave export bundle.zip --format html -o run.html
  conclave export ~/.claude/projects/-home-ada-work-proj/*.jsonl --format csv -o all.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("%s takes at least one RUN\ntry: %[1]s --help", cmd.CommandPath())
			}
			return env.export(cmd.Context(), x, args)
		},
	}
	x.archive.add(cmd)
	f := cmd.Flags()
	f.StringVarP(&x.format, "format", "f", "", "md, html, jsonl or csv (default: as FILE ends, else md)")
	f.StringVarP(&x.out, "output", "o", "", "the `FILE` to write (default: standard output)")
	f.StringVar(&x.title, "title", "", "title of the document")
	f.BoolVar(&x.all, "all", false, "also what programs noted for themselves")
	f.BoolVar(&x.noRedact, "no-redact", false, "leave secrets in")
	f.BoolVar(&x.force, "force", false, "replace FILE")
	return cmd
}

func (env *environment) export(ctx context.Context, x exportFlags, names []string) error {
	format := export.Format(x.format)
	if format == "" {
		format = formatOf(x.out)
	}
	switch format {
	case export.Markdown, export.HTML, export.JSONL, export.CSV:
	default:
		return usageError("--format %q: %w", format, export.ErrFormat)
	}
	a, runs, err := env.openRuns(ctx, x, names)
	if err != nil {
		return err
	}
	defer a.Close()
	return env.writeExport(x, func(w io.Writer) error {
		n, err := export.Write(w, format, a.Entries(ctx, runs...), export.Options{Title: x.title, All: x.all})
		if err != nil {
			return environmentError("%w", err)
		}
		if n == 0 {
			return noError("there are no entries in %s", strings.Join(names, ", "))
		}
		if x.out != "" {
			env.Stdout.Printf("%s: %s\n", x.out, counted(n, "entry", "entries"))
		}
		return nil
	})
}

func formatOf(out string) export.Format {
	switch ext := strings.ToLower(filepath.Ext(out)); ext {
	case ".html", ".htm":
		return export.HTML
	case ".jsonl", ".csv":
		return export.Format(ext[1:])
	}
	return export.Markdown
}

// openRuns finds what names mean: files and records first, else the archive.
func (env *environment) openRuns(ctx context.Context, x exportFlags, names []string) (*archive.Archive, []string, error) {
	if x.archive.file == "" {
		files, err := env.queryFiles(names)
		if err == nil {
			a, err := env.archiveOf(ctx, files, x.noRedact)
			if err != nil {
				return nil, nil, noError("%w", err)
			}
			return a, nil, nil
		}
		if _, e := os.Stat(env.archivePath("")); e != nil {
			return nil, nil, err
		}
	}
	a, err := env.archiveIn(x.archive.file, x.noRedact)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		if next, stop := iter.Pull2(a.Entries(ctx, n)); true {
			_, err, ok := next()
			stop()
			if !ok {
				err = environmentError("%s is no file, no run of this workspace and not in the archive", n)
			}
			if err != nil {
				return nil, nil, errors.Join(err, a.Close())
			}
		}
	}
	return a, names, nil
}

// writeExport writes to standard output, or makes a file that is whole or not
// there.
func (env *environment) writeExport(x exportFlags, fill func(io.Writer) error) error {
	if x.out == "" {
		return fill(env.Stdout.Raw())
	}
	path := env.absPath(x.out)
	if _, err := os.Stat(path); err == nil && !x.force {
		return usageError("%s is there already: name another file, or --force", x.out)
	}
	var filled error
	err := atomicfile.Fill(path, 0o600, func(w io.Writer) error {
		filled = fill(w)
		return filled
	})
	if err != nil && filled == nil {
		return environmentError("%w", err)
	}
	return err
}
