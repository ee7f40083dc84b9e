package main

import (
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

// queryFlags are those of the query command.
type queryFlags struct {
	app.Query
	archive     string
	table, csv  bool
	noTruncate  bool
	schema      bool
	exportJSONL string
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
	f.IntVar(&q.Rows, "limit", 10_000, "at most this many rows")
	f.DurationVar(&q.Time, "timeout", 30*time.Second, "at most this long")
	f.BoolVar(&q.At.NoRefresh, "no-refresh", false, "use the archive as it is")
	f.BoolVar(&q.NoRedact, "no-redact", false, "show secrets, too")
	cmd.MarkFlagsMutuallyExclusive("table", "csv", "schema", "export-jsonl")
	return cmd
}

func (env *environment) query(cmd *cobra.Command, q queryFlags, args []string) error {
	ctx, a, sql := cmd.Context(), env.app(), ""
	if !q.schema && q.exportJSONL == "" {
		if len(args) == 0 {
			return usageError("%s takes a query\ntry: %[1]s --help", cmd.CommandPath())
		}
		sql, args = args[len(args)-1], args[:len(args)-1]
	}
	if n := len(args) - 1; q.exportJSONL == "logs" && n >= 0 && (args[n] == "logs" || args[n] == "session") {
		if _, err := os.Stat(a.AbsPath(args[n])); err != nil { // said with a space in between
			q.exportJSONL, args = args[n], args[:n]
		}
	}
	if q.archive != "" && len(args) > 0 {
		return usageError("--archive asks everything; do not name %s with it", args[0])
	}
	q.Names, q.At.File = args, strings.TrimSpace(q.archive)
	switch {
	case q.schema:
		s, err := a.QuerySchema(ctx, q.Query)
		if err != nil {
			return err
		}
		return env.Stdout.JSON(s)
	case q.exportJSONL != "":
		return a.QueryLines(ctx, q.exportJSONL, q.Query, env.Stdout.Raw())
	}
	rows, err := a.Query(ctx, sql, q.Query)
	env.ClearProgress()
	switch {
	case err != nil:
		return err
	case q.csv:
		err = rows.CSV(env.Stdout.Raw())
	case q.table:
		err = printTable(env.Stdout, rows, q.noTruncate)
	default:
		err = rows.JSON(env.Stdout.Raw())
	}
	if err == nil && rows.Truncated {
		env.Stderr.Printf("conclave: only the first %d rows; --limit allows more\n", q.Rows)
	}
	return err
}

// cellWidth is how wide a cell of a table is at most.
const cellWidth = 50

func printTable(out *screen.Writer, rows app.Rows, whole bool) error {
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
	for _, r := range rows.Rows.Rows {
		var line []screen.Text
		for i, v := range r {
			line = add(line, i, app.CellText(v))
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
	return out.Printf("%s\n", screen.Counted(len(rows.Rows.Rows), "row", "rows"))
}

// tableCell puts a value on one line, shortened unless whole.
func tableCell(s string, whole bool) screen.Text {
	s = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(s)
	if r := []rune(s); !whole && len(r) > cellWidth {
		s = string(r[:cellWidth-1]) + "…"
	}
	return screen.Line(s)
}
