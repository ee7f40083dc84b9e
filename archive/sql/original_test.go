package sql_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/archive/sql"
)

// told is what the original system answers to one of its hint queries.
type told struct {
	Query   string   `json:"query"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// TestOriginalHints: the twelve queries that the original system offers as hints
// have the same answers here, over its bundles and over ours. Further columns of
// ours do not count. A call is in native_tool_calls once; where the original has
// the result as a second row, that one is passed over.
func TestOriginalHints(t *testing.T) {
	t.Parallel()
	answers := glob(t, "testdata/original/*.json")
	if len(answers) != 9 {
		t.Fatalf("answers about %d bundles", len(answers))
	}
	for _, file := range answers {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, imported := strings.TrimSuffix(file, ".json")+".zip", strings.HasPrefix(name, "imported-")
			if strings.HasPrefix(name, "wink-") {
				path = bundles + name + ".zip"
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var hints map[string]told
			if err := json.Unmarshal(text, &hints); err != nil || len(hints) != 12 {
				t.Fatalf("%d hints: %v", len(hints), err)
			}
			a := openFiles(t, path)
			for hint, want := range hints {
				if hint == "native_tools" {
					want.Rows = onceEach(want)
				}
				got, err := sql.Query(ctx, a, want.Query, sql.Limits{})
				if err != nil {
					t.Errorf("%s: %v", hint, err)
					continue
				}
				if len(got.Rows) != len(want.Rows) {
					t.Errorf("%s: %d rows, the original has %d", hint, len(got.Rows), len(want.Rows))
					continue
				}
				for i, row := range got.Rows {
					for n, column := range want.Columns {
						at := slices.Index(got.Columns, column)
						if imported && column == "timestamp" {
							continue // see TestImportedTimes
						}
						if at < 0 || !reflect.DeepEqual(plainly(row[at]), want.Rows[i][n]) {
							t.Errorf("%s: row %d, %s is %v, the original says %v", hint, i, column, row, want.Rows[i])
						}
					}
				}
			}
		})
	}
}

// onceEach passes over rows whose call had one already.
func onceEach(t told) (rows [][]any) {
	id, seen := slices.Index(t.Columns, "tool_use_id"), map[any]bool{}
	for _, r := range t.Rows {
		if !seen[r[id]] {
			rows = append(rows, r)
		}
		seen[r[id]] = true
	}
	return rows
}

// plainly writes a value as the answers have it.
func plainly(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case string:
		var parsed any
		if json.Unmarshal([]byte(v), &parsed) == nil {
			switch parsed.(type) {
			case map[string]any, []any:
				var b bytes.Buffer
				e := json.NewEncoder(&b)
				e.SetEscapeHTML(false)
				_ = e.Encode(parsed) // it was decoded from JSON
				v = strings.TrimSuffix(b.String(), "\n")
			}
		}
		if len(v) > 120 {
			sum := sha256.Sum256([]byte(v))
			return fmt.Sprintf("sha256:%x:%d", sum[:8], len(v))
		}
		return v
	}
	return v
}

// TestEnvironmentViews: the machine in the original system's tables.
func TestEnvironmentViews(t *testing.T) {
	t.Parallel()
	a := openFiles(t, "testdata/original/ours-codex.zip")
	for _, view := range []string{"turns", "cost", "leaks", "verbatim", "env_git", "transcript_agents", "tool_calls"} {
		if _, err := sql.Query(ctx, a, "SELECT count(*) FROM "+view, sql.Limits{}); err != nil {
			t.Errorf("a query that wants no column of %s: %v", view, err)
		}
	}
	for query, want := range map[string]string{
		"SELECT os_name, cpu_count, typeof(cpu_count), hostname FROM env_system":                                "linux|2|integer|hal",
		"SELECT branch, is_dirty, remotes->>'origin', tags->>0 FROM env_git":                                    "main|1|https://example.org/x.git|v1",
		"SELECT is_containerized, image IS NULL FROM env_container":                                             "0|1",
		"SELECT count(*) = 0 FROM transcript WHERE session_id = '' OR session_id IS NOT context->>'session_id'": "1",
		"SELECT count(*) FROM env_python":                                                                       "0",
		"SELECT value FROM env_vars WHERE name = 'LANG'":                                                        "C.UTF-8",
		"SELECT count(*) = count(DISTINCT tool_use_id) AND count(*) > 0 FROM native_tool_calls":                 "1",
	} {
		if got := strings.TrimSpace(table(t, a, query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestImportedTimes: in the views of transcripts an entry of an imported session
// has the time that its agent wrote, as it has when the session's own files are
// asked, and not that of the import, which the original system would tell (D-56).
// The log beside it says when it was captured.
func TestImportedTimes(t *testing.T) {
	t.Parallel()
	const fixtures = "../../testdata/fixtures/"
	for name, files := range map[string][]string{
		"claude": glob(t, fixtures+"claude/02-thinking-tools/home/.claude/projects/*/*.jsonl"),
		"subagents": append(glob(t, fixtures+"claude/04-subagents-hooks/home/.claude/projects/*/*.jsonl"),
			glob(t, fixtures+"claude/04-subagents-hooks/home/.claude/projects/*/*/subagents/*.jsonl")...),
		"rollout": glob(t, fixtures+"codex/03-command-execution/codex_home/sessions/*/*/*/*.jsonl"),
	} {
		times := func(a *archive.Archive) map[string]any {
			r, err := sql.Query(ctx, a, "SELECT transcript_source || ' ' || sequence_number, timestamp FROM transcript",
				sql.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			list := map[string]any{}
			for _, row := range r.Rows {
				list[fmt.Sprint(row[0])] = row[1]
			}
			return list
		}
		bundle := openFiles(t, "testdata/original/imported-"+name+".zip")
		got, want := times(bundle), times(openFiles(t, files...))
		if len(want) < 10 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the bundle says\n%v, its session\n%v", name, got, want)
		}
		r, err := sql.Query(ctx, bundle, "SELECT min(timestamp) FROM logs WHERE event = 'transcript.entry'", sql.Limits{})
		if err != nil || !strings.HasPrefix(fmt.Sprint(r.Rows[0][0]), "2026-11-16T10:20:") {
			t.Errorf("%s: the log says %v, %v", name, r.Rows, err)
		}
	}
}
