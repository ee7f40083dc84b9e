package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"conclave/archive"
	"conclave/archive/sql"
	"conclave/internal/screen"
)

// queryFlags are those of the query command.
type queryFlags struct {
	archive     string
	table, csv  bool
	noTruncate  bool
	schema      bool
	exportJSONL string
	limits      sql.Limits
	noRefresh   bool
	noRedact    bool
}

func newQueryCommand(env *environment) *cobra.Command {
	var q queryFlags
	cmd := &cobra.Command{
		Use:   `query [BUNDLE|RUN|FILE…] [--archive] "SQL"`,
		Short: "Ask bundles, runs or the whole archive in SQL",
		Long: `Query answers one SELECT over bundles, records, logs or session files, or with
--archive (and when nothing is named) over everything in the archive. It can read
and nothing else, only what --schema lists, with limits on time and rows. Secrets
are taken out before the query sees them.

What it makes of a bundle is kept in your cache directory and made again when the
bundle has changed. A column "bundle" says which bundle, run or session a row is
of. --schema prints tables, columns, row counts and hints as JSON: start there.`,
		Example: `  conclave query bundle.zip "SELECT entry_type, count(*) FROM transcript GROUP BY 1"
  conclave query bundle.zip "SELECT context->>'entry_type', context->>'source' FROM transcript"
  conclave query a.zip b.zip "SELECT bundle, source, message FROM errors" --table
  conclave query --archive "SELECT day, sum(total) FROM usage GROUP BY 1" --csv
  conclave query bundle.zip --schema
  conclave query bundle.zip --export-jsonl=logs`,
		RunE: func(cmd *cobra.Command, args []string) error { return env.query(cmd, q, args) },
	}
	f := cmd.Flags()
	f.StringVar(&q.archive, "archive", "", "ask the archive (or the one in `FILE`)")
	f.Lookup("archive").NoOptDefVal = " "
	f.BoolVar(&q.table, "table", false, "print a table for people")
	f.BoolVar(&q.csv, "csv", false, "print CSV")
	f.BoolVar(&q.noTruncate, "no-truncate", false, "do not shorten the cells of a table")
	f.BoolVar(&q.schema, "schema", false, "describe what there is to query, as JSON")
	f.StringVar(&q.exportJSONL, "export-jsonl", "", "print the `logs` or the session's state as JSON lines")
	f.Lookup("export-jsonl").NoOptDefVal = "logs"
	f.IntVar(&q.limits.Rows, "limit", 10_000, "at most this many rows")
	f.DurationVar(&q.limits.Time, "timeout", 30*time.Second, "at most this long")
	f.BoolVar(&q.noRefresh, "no-refresh", false, "use the archive as it is")
	f.BoolVar(&q.noRedact, "no-redact", false, "show secrets, too")
	cmd.MarkFlagsMutuallyExclusive("table", "csv", "schema", "export-jsonl")
	return cmd
}

func (env *environment) query(cmd *cobra.Command, q queryFlags, args []string) error {
	query := ""
	if !q.schema && q.exportJSONL == "" {
		if len(args) == 0 {
			return usageError("%s takes a query\ntry: %[1]s --help", cmd.CommandPath())
		}
		query, args = args[len(args)-1], args[:len(args)-1]
		if _, err := os.Stat(inDir(env, query)); err == nil {
			return usageError("%s is a file: put the query behind it, or --schema", query)
		}
	}
	if n := len(args) - 1; q.exportJSONL == "logs" && n >= 0 && (args[n] == "logs" || args[n] == "session") {
		if _, err := os.Stat(inDir(env, args[n])); err != nil { // said with a space in between
			q.exportJSONL, args = args[n], args[:n]
		}
	}
	if q.exportJSONL != "" && q.exportJSONL != "logs" && q.exportJSONL != "session" {
		return usageError("--export-jsonl takes logs or session, not %q", q.exportJSONL)
	}
	if q.archive != "" && len(args) > 0 {
		return usageError("--archive asks everything; do not name %s with it", args[0])
	}
	a, err := env.openQuery(cmd.Context(), q, args)
	if err != nil {
		return err
	}
	defer a.Close()
	switch {
	case q.schema:
		s, err := sql.Describe(cmd.Context(), a)
		if err != nil {
			return environmentError("%w", err)
		}
		return env.Stdout.JSON(s)
	case q.exportJSONL != "":
		return env.exportLines(cmd.Context(), a, q)
	}
	rows, err := sql.Query(cmd.Context(), a, query, q.limits)
	if errors.Is(err, sql.ErrLimit) {
		return noError("%w", err)
	}
	if err != nil {
		return usageError("%w\ntry: %s --schema", err, cmd.CommandPath())
	}
	if err := printRows(env.Stdout, rows, q); err != nil {
		return err
	}
	if rows.Truncated {
		env.Stderr.Printf("conclave: only the first %d rows; --limit allows more\n", q.limits.Rows)
	}
	return nil
}

// openQuery opens the archive, or what is named.
func (env *environment) openQuery(ctx context.Context, q queryFlags, names []string) (*archive.Archive, error) {
	if len(names) == 0 {
		a, err := env.archiveIn(strings.TrimSpace(q.archive), q.noRedact)
		if err != nil {
			return nil, err
		}
		if !q.noRefresh {
			roots, err := env.sessionRoots(nil)
			if err != nil {
				return nil, errors.Join(err, a.Close())
			}
			if _, _, err := a.TryRefresh(ctx, roots); err != nil {
				return nil, errors.Join(environmentError("%w", err), a.Close())
			}
		}
		return a, nil
	}
	files, err := env.queryFiles(names)
	if err != nil {
		return nil, err
	}
	a, err := env.archiveOf(ctx, files, q.noRedact)
	if err != nil {
		return nil, noError("%w", err)
	}
	return a, nil
}

// queryFiles finds the files that names mean: paths, or runs of this workspace.
func (env *environment) queryFiles(names []string) ([]string, error) {
	var files []string
	for _, n := range names {
		if file := inDir(env, n); isFile(file) {
			files = append(files, file)
			continue
		}
		root, err := env.findRoot()
		if err != nil {
			return nil, err
		}
		file, err := env.recordFile(root, n)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (env *environment) exportLines(ctx context.Context, a *archive.Archive, q queryFlags) error {
	w := bufio.NewWriter(env.Stdout.Raw())
	if q.exportJSONL == "session" {
		rows, err := sql.Query(ctx, a, "SELECT data FROM session_slices ORDER BY rowid", sql.Limits{Rows: 1 << 30, Time: time.Hour, Bytes: 1 << 40})
		if err != nil {
			return environmentError("%w", err)
		}
		for _, r := range rows.Rows {
			w.WriteString(cellText(r[0]))
			w.WriteByte('\n')
		}
		return w.Flush()
	}
	for line, err := range a.LogLines(ctx) {
		if err != nil {
			return environmentError("%w", err)
		}
		w.Write(line)
		w.WriteByte('\n')
	}
	return w.Flush()
}

func printRows(out *screen.Writer, rows *sql.Rows, q queryFlags) error {
	switch {
	case q.csv:
		return printCSV(out.Raw(), rows)
	case q.table:
		return printTable(out, rows, q.noTruncate)
	}
	return printObjects(out.Raw(), rows)
}

// printObjects writes an array of objects whose keys are in the order of the
// columns.
func printObjects(out io.Writer, rows *sql.Rows) error {
	w := bufio.NewWriter(out)
	w.WriteString("[")
	for i, r := range rows.Rows {
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
	if len(rows.Rows) > 0 {
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

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

func printCSV(out io.Writer, rows *sql.Rows) error {
	w := csv.NewWriter(out)
	var names []string
	for _, c := range rows.Columns {
		names = append(names, screen.Cell(c))
	}
	if err := w.Write(names); err != nil {
		return err
	}
	for _, r := range rows.Rows {
		line := make([]string, len(r))
		for i, v := range r {
			line[i] = csvCell(v)
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// csvCell is a value in CSV: a number below zero is no formula.
func csvCell(v any) string {
	switch v.(type) {
	case int64, float64:
		return cellText(v)
	}
	return screen.Cell(cellText(v))
}

// cellWidth is how wide a cell of a table is at most.
const cellWidth = 50

func printTable(out *screen.Writer, rows *sql.Rows, whole bool) error {
	lines := [][]screen.Text{nil, nil}
	width := make([]int, len(rows.Columns))
	add := func(line []screen.Text, i int, text string) []screen.Text {
		cell := tableCell(text, whole)
		width[i] = max(width[i], utf8.RuneCountInString(cell.String()))
		return append(line, cell)
	}
	for i, c := range rows.Columns {
		lines[0] = add(lines[0], i, c)
	}
	for _, r := range rows.Rows {
		var line []screen.Text
		for i, v := range r {
			line = add(line, i, cellText(v))
		}
		lines = append(lines, line)
	}
	for _, wd := range width {
		lines[1] = append(lines[1], screen.Line(strings.Repeat("-", wd)))
	}
	for _, line := range lines {
		for i := range max(len(line)-1, 0) {
			line[i] = screen.Sprintf("%-*s", width[i], line[i])
		}
		if err := out.Printf("%s\n", screen.Join(line, "  ")); err != nil {
			return err
		}
	}
	return out.Printf("%s\n", counted(len(rows.Rows), "row", "rows"))
}

// tableCell puts a value on one line, shortened unless whole.
func tableCell(s string, whole bool) screen.Text {
	s = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(s)
	if r := []rune(s); !whole && len(r) > cellWidth {
		s = string(r[:cellWidth-1]) + "…"
	}
	return screen.Line(s)
}
