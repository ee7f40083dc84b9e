package sql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/archive"
	"conclave/archive/archivetest"
	"conclave/archive/sql"
	"conclave/internal/sample"
)

var (
	ctx       = context.Background()
	openFiles = archivetest.OpenFiles
	table     = archivetest.Table
	glob      = archivetest.Glob
	makeZip   = archivetest.Zip
)

const bundles = "../../testdata/fixtures/bundles/"

// TestOriginalBundles asks the three bundles of the original system what its
// own query program answers.
func TestOriginalBundles(t *testing.T) {
	opened := map[string]*archive.Archive{}
	for _, c := range []struct{ bundle, query, want string }{
		{"wink-claude-error", "SELECT bundle_id, format_version, status, prompt_ns, prompt_key, prompt_adapter, capture_mode FROM manifest", "676540f6-2f0a-4e22-b67d-1e6fb74e68e7|1.0.0|error|conclave|claude-error|x|full"},
		{"wink-claude-error", "SELECT source, error_type, message FROM errors WHERE source = 'error.json'", "error.json|ProviderError|bad request"},
		{"wink-claude-error", "SELECT count(*), min(seq), max(seq) FROM logs WHERE event = 'transcript.entry'", "32|1|32"},
		{"wink-claude-error", "SELECT entry_type, count(*) FROM transcript GROUP BY 1 ORDER BY 1", "assistant_message|1\nunknown|30\nuser_message|1"},
		{"wink-claude-error", "SELECT content, role, transcript_source, prompt_name FROM transcript WHERE entry_type = 'user_message'", "hi|user|main|review"},
		{"wink-claude-error", "SELECT key, value FROM config ORDER BY 1", "adapter_emit_raw|true\nadapter_model|mock"},
		{"wink-claude-error", "SELECT key, value FROM metrics ORDER BY 1", "input_tokens|500\noutput_tokens|210"},
		{"wink-claude-error", "SELECT context->>'total_entries' FROM logs WHERE event = 'transcript.stop'", "32"},
		{"wink-claude-subagents", "SELECT count(*), count(DISTINCT transcript_source) FROM transcript_entries", "86|3"},
		{"wink-claude-subagents", "SELECT tool_name, params->>'$.command', result, success FROM tool_calls WHERE tool_name = 'Bash' ORDER BY 2", "Bash|echo hello-from-alpha|hello-from-alpha|1\nBash|echo hello-from-beta|hello-from-beta|1"},
		{"wink-claude-subagents", "SELECT tool_name, command FROM tool_timeline WHERE command IS NOT NULL ORDER BY 2", "Bash|echo hello-from-alpha\nBash|echo hello-from-beta"},
		{"wink-claude-subagents", "SELECT tool_name, count(*) FROM native_tool_calls GROUP BY 1 ORDER BY 1", "Agent|2\nBash|4\nRead|2\n-|2"},
		{"wink-codex-commands", "SELECT tool_name, success, error_code FROM tool_calls ORDER BY rowid", "commandExecution|1|\ncommandExecution|0|failing"},
		{"wink-codex-commands", "SELECT source, error_type, message FROM error_summary", "tool_call|ToolError:commandExecution|failing"},
		{"wink-codex-commands", "SELECT sum(input), sum(cache_read), sum(output) FROM usage", "2400|600|150"},
	} {
		if opened[c.bundle] == nil {
			opened[c.bundle] = openFiles(t, bundles+c.bundle+".zip")
		}
		a := opened[c.bundle]
		got := strings.TrimSpace(table(t, a, c.query))
		if c.bundle == "wink-claude-subagents" && strings.Contains(c.query, "native_tool_calls") {
			if !strings.Contains(got, "Agent|") || !strings.Contains(got, "Bash|") {
				t.Errorf("native_tool_calls: %s", got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.bundle, c.query, got, c.want)
		}
	}
}

// TestBothSpellings: the specification's own query and the columns say the
// same, for every entry, with and without the shortcut.
func TestBothSpellings(t *testing.T) {
	files := glob(t, bundles+"*.zip")
	if len(files) != 3 {
		t.Fatalf("%d bundles", len(files))
	}
	a := openFiles(t, files...)
	rows, err := sql.Query(ctx, a, "SELECT context->>'entry_type', context->>'source'\nFROM transcript\nORDER BY context->>'sequence_number'", sql.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows.Rows) < 100 || rows.Columns[0] != "context->>'entry_type'" {
		t.Errorf("%d rows, columns %q", len(rows.Rows), rows.Columns)
	}
	for _, m := range []struct{ member, column string }{{"entry_type", "entry_type"}, {"source", "transcript_source"},
		{"sequence_number", "sequence_number"}, {"prompt_name", "prompt_name"}, {"adapter", "adapter"}} {
		q := fmt.Sprintf("SELECT count(*) FROM transcript WHERE json_extract(context, '$.%s') IS NOT %s", m.member, m.column)
		if got := table(t, a, q); got != "0\n" {
			t.Errorf("%s and %s differ in %s rows", m.member, m.column, got)
		}
	}
	if got := table(t, a, "SELECT count(DISTINCT bundle) FROM transcript"); got != "3\n" {
		t.Errorf("%s bundles", got)
	}
}

// TestOnlyReads: whatever a statement is, it changes nothing and reaches
// nothing else.
func TestOnlyReads(t *testing.T) {
	a := openFiles(t, bundles+"wink-claude-error.zip")
	before, err := os.ReadFile(a.Path())
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	for _, q := range []string{
		"DELETE FROM items", "UPDATE items SET tool = 'x'", "INSERT INTO slices VALUES (1, 'a', '{}')", "DROP VIEW transcript", "DROP TABLE items",
		"CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "CREATE TEMP VIEW v AS SELECT 1", "ATTACH '" + other + "' AS o", "VACUUM INTO '" + other + "'",
		"PRAGMA journal_mode = DELETE", "PRAGMA query_only = 0", "PRAGMA writable_schema = 1", "BEGIN", "REINDEX", "ANALYZE",
		"SELECT packed FROM blocks", "SELECT * FROM source_blocks", "SELECT load_extension('x')", "SELECT * FROM pragma_table_info('items')",
		"SELECT * FROM sqlite_dbpage", "SELECT conclave_part('line', 'log', '', '', 1, 0, 10, 0)", `SELECT "conclave_part"('line','log','','',1,0,10,0)`,
		"SELECT 1; DELETE FROM items", "WITH x AS (SELECT 1) DELETE FROM items", "EXPLAIN DELETE FROM items", "", ";", "-- nothing",
	} {
		if rows, err := sql.Query(ctx, a, q, sql.Limits{}); err == nil {
			t.Errorf("%q was answered: %v", q, rows.Rows)
		}
	}
	after, err := os.ReadFile(a.Path())
	if err != nil || string(before) != string(after) {
		t.Errorf("the file has changed (%v)", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("another file was made")
	}
	for _, q := range []string{"SELECT 1;", "WITH x AS (SELECT 1 AS a) SELECT a FROM x", "VALUES (1)", "SELECT * FROM json_each('[1]')",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT count(*) FROM n"} {
		if rows, err := sql.Query(ctx, a, q, sql.Limits{}); err != nil || len(rows.Rows) != 1 {
			t.Errorf("%q: %v", q, err)
		}
	}
}

// TestOnlyWhatIsDescribed is the rest of W19: what --schema does not list is
// not read, by whatever name.
func TestOnlyWhatIsDescribed(t *testing.T) {
	a := openFiles(t, bundles+"wink-claude-error.zip")
	for _, q := range []string{
		"SELECT * FROM sqlite_master", "SELECT sql FROM sqlite_schema", "SELECT name FROM sqlite_temp_master", "SELECT count(*) FROM items",
		"SELECT message FROM (SELECT * FROM items)", "WITH x AS (SELECT * FROM items) SELECT count(*) FROM x",
		"WITH transcript AS (SELECT * FROM items) SELECT * FROM transcript", "WITH 'transcript' AS (SELECT * FROM items) SELECT 1 FROM transcript",
		`WITH "Errors" (a, b) AS NOT MATERIALIZED (SELECT type, source FROM items) SELECT * FROM errors`,
		"WITH x AS (SELECT 1), [logs] AS (SELECT * FROM origins) SELECT * FROM logs",
		"SELECT sqlite_compileoption_get(0)", "SELECT sqlite_source_id()", "SELECT * FROM dbstat", "SELECT * FROM pragma_database_list",
	} {
		if rows, err := sql.Query(ctx, a, q, sql.Limits{}); err == nil {
			t.Errorf("%q was answered: %v", q, rows.Rows)
		}
	}
	schema, err := sql.Describe(ctx, a)
	if err != nil || len(schema.Tables) < sql.DescribedTables {
		t.Fatalf("%d tables, %v", len(schema.Tables), err)
	}
	for _, d := range schema.Tables {
		if _, err := sql.Query(ctx, a, `SELECT * FROM "`+d.Name+`" AS x`, sql.Limits{}); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
	for name, q := range schema.Hints.Queries {
		if _, err := sql.Query(ctx, a, q, sql.Limits{}); err != nil {
			t.Errorf("the hint %q: %v", name, err)
		}
	}
}

// TestMemoryOfAQuery is W19: one expression took 2.7 GB.
func TestMemoryOfAQuery(t *testing.T) {
	sample.Long(t)
	a := openFiles(t, bundles+"wink-claude-error.zip")
	wide := "SELECT " + strings.TrimSuffix(strings.Repeat("zeroblob(60000000) || '',", 8), ",")
	for _, c := range []struct{ query, want string }{
		{"SELECT length(zeroblob(2000000000))", "substr"},
		{"SELECT length(replace(hex(zeroblob(30000000)), '0', 'oooooooo'))", "substr"},
		{"SELECT length(printf('%.*c', 200000000, 'x'))", "substr"},
		{wide, "memory"},
		{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT CAST(zeroblob(4000000) AS TEXT) FROM n", "larger"},
	} {
		_, err := sql.Query(ctx, a, c.query, sql.Limits{})
		if !errors.Is(err, sql.ErrLimit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v", c.query, err)
		}
	}
	if _, err := sql.Query(ctx, a, "SELECT count(*) FROM transcript", sql.Limits{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestLimits(t *testing.T) {
	a := openFiles(t, bundles+"wink-claude-error.zip")
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
	start := time.Now()
	if _, err := sql.Query(ctx, a, endless+"count(*) FROM n", sql.Limits{Time: 50 * time.Millisecond}); !errors.Is(err, sql.ErrLimit) {
		t.Errorf("an endless query ends with %v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	rows, err := sql.Query(ctx, a, endless+"i FROM n", sql.Limits{Rows: 7})
	if err != nil || len(rows.Rows) != 7 || !rows.Truncated {
		t.Errorf("%d rows, %v", len(rows.Rows), err)
	}
	rows, err = sql.Query(ctx, a, "SELECT 1 UNION SELECT 2", sql.Limits{Rows: 2})
	if err != nil || len(rows.Rows) != 2 || rows.Truncated {
		t.Errorf("exactly as many: %+v, %v", rows, err)
	}
}

// TestStateAndFiles: slices, snapshot and environment of a bundle that has
// them.
func TestStateAndFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "b.zip")
	makeZip(t, file, map[string]string{
		"manifest.json":            `{"format_version":"1.0.0","bundle_id":"b1","request":{"status":"success"}}`,
		"logs/app.jsonl":           `{"timestamp":"2026-11-15T01:00:00+00:00","level":"ERROR","logger":"x","event":"tool.call.failed","message":"no","context":{"tool_name":"roll","arguments":{"d":20},"success":false,"error":"broken","duration_ms":3.5,"traceback":"at x"}}` + "\n",
		"session/after.jsonl":      `{"__type__":"myapp.state:AgentPlan","goal":"find","steps":[1,2]}` + "\n" + `{"__type__":"myapp.state:AgentPlan","goal":"leave","done":true}` + "\n" + `{"__type__":"app.Item","name":"lamp"}` + "\nbroken\n",
		"filesystem/notes/a.txt":   "hello",
		"filesystem/b.bin":         "\xff\x00",
		"environment/system.json":  `{"os":{"name":"linux"}}`,
		"environment/packages.txt": "x==1\n",
		"run_context.json":         `{"run_id":"r1"}`,
		"eval.json":                `{"score":0.5}`,
		"prompt_overrides.json":    `{"a":"b"}`,
	})
	a := openFiles(t, file)
	for query, want := range map[string]string{
		"SELECT goal, steps, done FROM slice_agentplan":                                            "find|[1,2]|-\nleave|-|1\n",
		"SELECT name, bundle FROM slice_item":                                                      "lamp|b1\n",
		"SELECT slice_type, data->>'$.goal' FROM session_slices WHERE data->>'$.goal' IS NOT NULL": "myapp.state:AgentPlan|find\nmyapp.state:AgentPlan|leave\n",
		"SELECT path, content, size_bytes FROM files ORDER BY 1":                                   "b.bin|ff00|2\nnotes/a.txt|hello|5\n",
		"SELECT file, key, value FROM environment ORDER BY 1":                                      "packages.txt|text|x==1\n\nsystem.json|os_name|linux\n",
		"SELECT key, value FROM run_context":                                                       "run_id|r1\n",
		"SELECT key, value FROM eval":                                                              "score|0.5\n",
		"SELECT key, value FROM prompt_overrides":                                                  "a|b\n",
		"SELECT tool_name, params, success, error_code, duration_ms FROM tool_calls":               `roll|{"d":20}|0|broken|3.5` + "\n",
		"SELECT source, error_type, message, traceback FROM errors ORDER BY 1":                     "log|tool.call.failed|no|at x\ntool_call|ToolError:roll|broken|\n",
	} {
		if got := table(t, a, query); got != want {
			t.Errorf("%s:\n got %q\nwant %q", query, got, want)
		}
	}
	s, err := sql.Describe(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int64{}
	for _, tb := range s.Tables {
		names[tb.Name] = tb.Rows
		if len(tb.Columns) == 0 {
			t.Errorf("%s has no columns", tb.Name)
		}
	}
	for _, name := range strings.Fields("manifest logs transcript tool_calls errors session_slices slice_agentplan slice_item files config metrics run_context prompt_overrides eval tool_timeline native_tool_calls transcript_entries error_summary usage cost turns leaks verbatim") {
		if _, ok := names[name]; !ok {
			t.Errorf("--schema does not list %s", name)
		}
	}
	if names["slice_agentplan"] != 2 || len(s.Hints.Queries) == 0 {
		t.Errorf("schema: %+v", names)
	}
	for name, q := range s.Hints.Queries {
		if _, err := sql.Query(ctx, a, q, sql.Limits{}); err != nil {
			t.Errorf("the hint %q does not work: %v", name, err)
		}
	}
}
