package app

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"conclave/archive"
	"conclave/archive/export"
	"conclave/internal/atomicfile"
)

// Export is how runs are written, and where to.
type Export struct {
	At         ArchiveAt
	Format     string // md, html, jsonl, csv, parquet, otlp or atif; "" is as the file ends, else md
	Out, Title string // the file, "" for none
	NoRedact   bool
	All        bool   // also what programs noted for themselves
	Force      bool   // replace the file
	Content    bool   // put what was said into traces
	Endpoint   string // of a collector of traces, in place of a file
}

// Export writes runs to a file that is whole or not there, or to out when none
// is named, and says how many entries that were.
func (a *App) Export(ctx context.Context, x Export, names []string, out io.Writer) (n int, err error) {
	format := export.Format(x.Format)
	if format == "" {
		format = formatOf(x.Out)
	}
	switch format {
	case export.Markdown, export.HTML, export.JSONL, export.CSV, export.Parquet, export.OTLP, export.ATIF:
	default:
		return 0, usageError("--format %q: %w", format, export.ErrFormat)
	}
	if x.Endpoint != "" && (format != export.OTLP || x.Out != "") {
		return 0, usageError("--endpoint is for --format otlp, and takes the place of a file")
	}
	runs, ids, err := a.openRuns(ctx, x, names)
	if err != nil {
		return 0, err
	}
	defer runs.Close()
	fill := func(w io.Writer) error {
		n, err = export.Write(w, format, runs.Entries(ctx, ids...),
			export.Options{Title: x.Title, All: x.All, Content: x.Content})
		if err == nil && n == 0 {
			return noError("there are no entries in %s", strings.Join(names, ", "))
		}
		return refusedHere(err)
	}
	if x.Endpoint != "" {
		to, err := newCollector(ctx, x.Endpoint, os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
		if err != nil {
			return 0, err
		}
		return n, fill(to)
	}
	if x.Out == "" {
		return n, fill(out)
	}
	return n, a.writeExport(x, fill)
}

func formatOf(out string) export.Format {
	switch ext := strings.ToLower(filepath.Ext(out)); ext {
	case ".html", ".htm":
		return export.HTML
	case ".jsonl", ".csv", ".parquet", ".otlp", ".atif":
		return export.Format(ext[1:])
	}
	return export.Markdown
}

// openRuns finds what names mean: files and records first, else the archive.
func (a *App) openRuns(ctx context.Context, x Export, names []string) (*archive.Archive, []string, error) {
	if a.Remote != nil {
		runs, err := a.ownArchive(ctx)
		return runs, names, err
	}
	if x.At.File == "" {
		files, err := a.queryFiles(names)
		if err == nil {
			runs, err := a.archiveOf(ctx, files, x.NoRedact)
			return runs, nil, err
		}
		if _, e := os.Stat(a.archivePath("")); e != nil {
			return nil, nil, err
		}
	}
	x.At.noRedact = x.NoRedact
	runs, err := a.archiveThere(x.At)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		next, stop := iter.Pull2(runs.Entries(ctx, n))
		_, err, ok := next()
		stop()
		if !ok {
			err = usageError("%s is no file, no run of this workspace and not in the archive", n)
		}
		if err != nil {
			return nil, nil, errors.Join(err, runs.Close())
		}
	}
	return runs, names, nil
}

// writeExport makes a file that is whole or not there.
func (a *App) writeExport(x Export, fill func(io.Writer) error) error {
	path := a.AbsPath(x.Out)
	if _, err := os.Stat(path); err == nil && !x.Force {
		return usageError("%s is there already: name another file, or --force", x.Out)
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
