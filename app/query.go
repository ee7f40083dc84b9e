package app

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"conclave/archive"
	"conclave/archive/sql"
	"conclave/internal/screen"
)

// Query is what is asked in SQL: files and runs that are named, or the archive.
type Query struct {
	Names    []string
	At       ArchiveAt
	NoRedact bool
	Rows     int           // at most so many
	Time     time.Duration // at most so long
	Bytes    int           // at most so much
}

// Rows are what a query found.
type Rows struct{ *sql.Rows }

// QuerySchema describes what there is to query.
func (a *App) QuerySchema(ctx context.Context, q Query) (any, error) {
	x, err := a.openQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	s, err := sql.Describe(ctx, x)
	return s, refusedHere(err)
}

// Query answers one SELECT. It can read and nothing else.
func (a *App) Query(ctx context.Context, query string, q Query) (Rows, error) {
	if _, err := os.Stat(a.AbsPath(query)); err == nil && a.Remote == nil {
		return Rows{}, usageError("%s is a file: put the query behind it, or --schema", query)
	}
	x, err := a.openQuery(ctx, q)
	if err != nil {
		return Rows{}, err
	}
	defer x.Close()
	rows, err := sql.Query(ctx, x, query, sql.Limits{Rows: q.Rows, Time: q.Time, Bytes: q.Bytes})
	switch {
	case errors.Is(err, sql.ErrLimit):
		err = noError("%w", err)
	case err != nil:
		err = usageError("%w\ntry: conclave query --schema", err)
	}
	return Rows{rows}, err
}

// QueryLines writes the logs, or the session's state, as JSON lines.
func (a *App) QueryLines(ctx context.Context, what string, q Query, out io.Writer) error {
	if what != "logs" && what != "session" {
		return usageError("--export-jsonl takes logs or session, not %q", what)
	}
	x, err := a.openQuery(ctx, q)
	if err != nil {
		return err
	}
	defer x.Close()
	w := bufio.NewWriter(out)
	if what == "session" {
		const all = "SELECT data FROM session_slices ORDER BY rowid"
		rows, err := sql.Query(ctx, x, all, sql.Limits{Rows: 1 << 30, Time: time.Hour, Bytes: 1 << 40})
		if err != nil {
			return environmentError("%w", err)
		}
		for _, r := range rows.Rows {
			w.WriteString(CellText(r[0]))
			w.WriteByte('\n')
		}
		return w.Flush()
	}
	for line, err := range x.LogLines(ctx) {
		if err != nil {
			return environmentError("%w", err)
		}
		w.Write(line)
		w.WriteByte('\n')
	}
	return w.Flush()
}

// openQuery opens the archive, or what is named.
func (a *App) openQuery(ctx context.Context, q Query) (*archive.Archive, error) {
	if a.Remote != nil && (len(q.Names) > 0 || q.At.File != "" || q.NoRedact) {
		return nil, personsOwn("to query files, another archive or what is not redacted")
	}
	if len(q.Names) == 0 {
		q.At.noRedact = q.NoRedact
		return a.openArchive(ctx, q.At)
	}
	files, err := a.queryFiles(q.Names)
	if err != nil {
		return nil, err
	}
	return a.archiveOf(ctx, files, q.NoRedact)
}

// queryFiles finds the files that names mean: paths, or runs of this workspace.
func (a *App) queryFiles(names []string) ([]string, error) {
	var files []string
	for _, n := range names {
		file := a.AbsPath(n)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			root, err := a.rootToRead()
			if err != nil {
				return nil, err
			}
			if file, err = a.recordFile(root, n); err != nil {
				return nil, err
			}
		}
		files = append(files, file)
	}
	return files, nil
}

// JSON writes an array of objects whose keys are in the order of the columns.
func (rows Rows) JSON(out io.Writer) error {
	w := bufio.NewWriter(out)
	w.WriteString("[")
	for i, r := range rows.Rows.Rows {
		if i > 0 {
			w.WriteString(",")
		}
		w.WriteString("\n  {")
		for j, v := range r {
			if j > 0 {
				w.WriteString(", ")
			}
			w.Write(jsonText(rows.Columns[j]))
			w.WriteString(": ")
			w.Write(jsonText(v))
		}
		w.WriteString("}")
	}
	if len(rows.Rows.Rows) > 0 {
		w.WriteString("\n")
	}
	w.WriteString("]\n")
	return w.Flush()
}

func jsonText(v any) []byte {
	text, err := screen.JSON(v)
	if err != nil {
		return []byte("null") // a number that JSON has no word for
	}
	return text
}

// CSV writes a line of names, and a line for each row. What a spreadsheet would
// take for a formula is text, but for a number below zero.
func (rows Rows) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	var names []string
	for _, c := range rows.Columns {
		names = append(names, screen.Cell(c))
	}
	if err := w.Write(names); err != nil {
		return err
	}
	for _, r := range rows.Rows.Rows {
		line := make([]string, len(r))
		for i, v := range r {
			line[i] = CellText(v)
			switch v.(type) {
			case int64, float64:
			default:
				line[i] = screen.Cell(line[i])
			}
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// CellText is a value of a row as text.
func CellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
