package sql_test

import (
	"archive/zip"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/internal/sample"
	"conclave/internal/sessiongen"
	"conclave/internal/sqlite"
)

// plainViews are the tables of a log by nothing but SQLite's own JSON functions.
// The columns that the original system declares to be texts or numbers are cast:
// SQLite compares by it.
const plainViews = `
CREATE VIEW logs AS SELECT n AS rowid, line->>'$.timestamp' AS timestamp,
  CAST(line->>'$.level' AS TEXT) AS level, CAST(line->>'$.logger' AS TEXT) AS logger,
  CAST(line->>'$.event' AS TEXT) AS event, line->>'$.message' AS message, json_extract(line, '$.context') AS context,
  CAST(CASE line->>'$.event' WHEN 'transcript.entry' THEN line->>'$.context.entry_type' END AS TEXT) AS entry_type,
  CAST(CASE line->>'$.event' WHEN 'transcript.entry' THEN line->>'$.context.sequence_number' END AS INTEGER)
    AS sequence_number,
  CAST(line->>'$.context.prompt_name' AS TEXT) AS prompt_name FROM lines;
CREATE VIEW transcript AS SELECT rowid, entry_type, sequence_number, prompt_name,
  CAST(context->>'$.source' AS TEXT) AS transcript_source, context
  FROM logs WHERE event = 'transcript.entry';`

// logOf is what an archive is asked about, and the same log without us.
type logOf struct {
	name  string
	a     *archive.Archive
	plain *sql.DB
	paths []string // into contexts, some of which are there
}

// openLog opens a log twice: by the archive, and as lines in an empty database.
func openLog(t *testing.T, name, path string, log []byte) logOf {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plain.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := sqlite.Open(file, sqlite.Options{Write: true})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	exec := func(query string, args ...any) {
		if _, err := db.ExecContext(ctx, query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec("CREATE TABLE lines (n INTEGER PRIMARY KEY, line TEXT)")
	exec("BEGIN")
	seen := map[string]bool{}
	for i, line := range bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n")) {
		exec("INSERT INTO lines VALUES (?, ?)", i+1, string(line))
		var record struct{ Context map[string]any }
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("%s, line %d: %v", name, i+1, err)
		}
		pathsOf(record.Context, "$", seen)
	}
	exec("COMMIT")
	exec(plainViews)
	l := logOf{name: name, a: openFiles(t, path), plain: db}
	for p := range seen {
		l.paths = append(l.paths, p)
	}
	slices.Sort(l.paths)
	return l
}

// pathsOf notes the paths of a value, as SQLite writes them.
func pathsOf(v any, path string, seen map[string]bool) {
	if strings.Count(path, ".")+strings.Count(path, "[") > 6 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if !strings.ContainsAny(key, `"\'`) {
				at := fmt.Sprintf(`%s."%s"`, path, key)
				seen[at] = true
				pathsOf(member, at, seen)
			}
		}
	case []any:
		for i, element := range v[:min(len(v), 2)] {
			at := fmt.Sprintf("%s[%d]", path, i)
			seen[at] = true
			pathsOf(element, at, seen)
		}
	}
}

// ask is the answer of the database that we had no part in.
func (l *logOf) ask(t *testing.T, query string) string {
	t.Helper()
	rows, err := l.plain.QueryContext(ctx, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if i > 0 {
				b.WriteByte('|')
			}
			if v == nil {
				v = "-"
			}
			fmt.Fprint(&b, v)
		}
		b.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// drawn makes queries: columns, paths into contexts, filters, groups, aggregates,
// joins and subqueries.
type drawn struct {
	*rand.Rand
	l *logOf
}

func (d *drawn) pick(of ...string) string { return of[d.IntN(len(of))] }

func (d *drawn) path() string {
	if d.IntN(12) == 0 {
		return d.pick(`$.absent`, `$.detail.absent`, `$[0]`, `$.detail[7]`)
	}
	return d.l.paths[d.IntN(len(d.l.paths))]
}

// value is something of a row of a table.
func (d *drawn) value(from string) string {
	switch d.IntN(8) {
	case 0, 1:
		if from == "logs" {
			return d.pick("level", "logger", "event", "message", "timestamp", "entry_type", "sequence_number", "prompt_name")
		}
		return d.pick("entry_type", "sequence_number", "prompt_name", "transcript_source")
	case 2:
		return fmt.Sprintf("context->'%s'", d.path())
	case 3:
		return fmt.Sprintf("json_extract(context, '%s')", d.path())
	case 4:
		return fmt.Sprintf("json_type(context, '%s')", d.path())
	case 5:
		return fmt.Sprintf("length(context->>'%s')", d.path())
	case 6:
		return d.pick("context->>'entry_type'", "context->>'source'", "context->>'sequence_number'",
			"context->>'adapter'", "context->>'session_id'", "context->>'$.detail.subtype'")
	}
	return fmt.Sprintf("context->>'%s'", d.path())
}

func (d *drawn) condition(from string) string {
	v := d.value(from)
	c := d.pick(v+" IS NULL", v+" IS NOT NULL", v+" = 'main'", v+" LIKE '%a%'", v+" > 3", v+" BETWEEN 1 AND 20",
		v+" IN ('assistant_message', 'tool_use', 'DEBUG', 7)", v+" <> ''",
		fmt.Sprintf("EXISTS (SELECT 1 FROM json_each(context, '$.detail') WHERE key = '%s')",
			d.pick("sdk_entry", "text", "block", "usage")))
	if d.IntN(3) == 0 {
		return c + d.pick(" AND ", " OR ") + d.condition(from)
	}
	return c
}

func (d *drawn) query() string {
	from := d.pick("logs", "transcript")
	v := func() string { return d.value(from) }
	where := ""
	if d.IntN(4) > 0 {
		where = " WHERE " + d.condition(from)
	}
	switch d.IntN(6) {
	case 0:
		return fmt.Sprintf("SELECT %s AS a, %s AS b, %s AS c FROM %s%s ORDER BY rowid LIMIT %d",
			v(), v(), v(), from, where, 1+d.IntN(40))
	case 1:
		return fmt.Sprintf("SELECT %s AS a, count(*) AS n, min(%s), max(%s) FROM %s%s GROUP BY 1 ORDER BY 1, 2",
			v(), v(), v(), from, where)
	case 2:
		return fmt.Sprintf("SELECT count(*), count(%s), count(DISTINCT %s), total(length(%s)) FROM %s%s",
			v(), v(), v(), from, where)
	case 3:
		return fmt.Sprintf(`SELECT %s AS a, %s AS b, count(*) FROM (SELECT * FROM %s%s)
			GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2`, v(), v(), from, where)
	case 4:
		return fmt.Sprintf("SELECT e.type, count(*) FROM %s, json_each(context, '$.detail') e%s GROUP BY 1 ORDER BY 1", from,
			strings.ReplaceAll(where, "json_each(context, '$.detail') WHERE", "json_each(context, '$.detail') x WHERE x."))
	}
	return fmt.Sprintf(`WITH x AS (SELECT rowid AS id, %s AS a FROM %s%s)
		SELECT count(*), count(DISTINCT x.a), min(x.id), max(y.id) FROM x JOIN x AS y ON x.a = y.a AND x.id < y.id`,
		v(), from, where)
}

// TestSQLIsTheLog: whatever is asked of a log, the answer is that of SQLite's own
// functions over its lines, which nothing of ours has read: our bundles, those of
// the original system, bundles of imported sessions, and a long session.
func TestSQLIsTheLog(t *testing.T) {
	t.Parallel()
	var logs []logOf
	files := append(glob(t, "testdata/original/*.zip"), glob(t, bundles+"*.zip")...)
	for _, i := range sample.Pick(t, len(files), 1, 1) {
		z, err := zip.OpenReader(files[i])
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		f, err := z.Open("debug_bundle/logs/app.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		log, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, openLog(t, filepath.Base(files[i]), files[i], log))
	}
	logs = append(logs, generated(t))
	rnd := &drawn{Rand: sample.Rand(t)}
	said := 0
	for range sample.Count(4, 6, 2000) {
		for i := range logs {
			rnd.l = &logs[i]
			query := rnd.query()
			got, want := table(t, logs[i].a, query), logs[i].ask(t, query)
			if got != want {
				t.Errorf("%s: %s\n got %.600s\nwant %.600s", logs[i].name, query, got, want)
			}
			if strings.Trim(want, "0|-\n.") != "" {
				said++
			}
		}
	}
	if all := sample.Count(4, 6, 2000) * len(logs); said < all/8 {
		t.Errorf("of %d questions %d had an answer", all, said)
	}
}

// generated is the log of a long session, as it would stand in a bundle.
func generated(t *testing.T) logOf {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "11111111-1111-4111-8111-111111111111.jsonl")
	var session bytes.Buffer
	if _, err := sessiongen.Write(&session, sessiongen.Options{Seed: 3, Bytes: 300 << 10}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, session.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for line, err := range openFiles(t, path).LogLines(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		log.Write(line)
		log.WriteByte('\n')
	}
	kept := filepath.Join(dir, "log.jsonl")
	if err := os.WriteFile(kept, log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return openLog(t, "a long session", kept, log.Bytes())
}
