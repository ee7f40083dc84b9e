package sql_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/internal/sample"
)

// TestSQLIsTheJSON: what a query gives is what SQLite's own JSON functions give
// over the same log, however the query is shaped: an entry or another record,
// a member that is there, empty, null or absent.
func TestSQLIsTheJSON(t *testing.T) {
	odd := t.TempDir() + "/odd.zip"
	makeZip(t, odd, map[string]string{
		"manifest.json": `{"bundle_id":"odd","format_version":"1.0.0","status":"success"}`,
		"logs/app.jsonl": strings.Join([]string{
			logLine("transcript.entry", `{"entry_type":"user_message","sequence_number":1,"source":"main","adapter":"x","prompt_name":"p","session_id":"s","detail":{"text":"a"}}`),
			logLine("transcript.entry", `{"entry_type":"thinking","sequence_number":2,"source":"","adapter":"","prompt_name":null,"detail":{}}`),
			logLine("transcript.entry", `{"entry_type":"unknown","sequence_number":0,"source":"sub","session_id":""}`),
			logLine("transcript.entry", `{"source":"main"}`),
			logLine("tool.called", `{"source":"elsewhere","sequence_number":7,"session_id":"t","entry_type":"none"}`),
			logLine("tool.called", `{"adapter":"y","prompt_name":""}`),
			logLine("other", `{}`),
		}, "\n") + "\n",
	})
	archives := []*archive.Archive{openFiles(t, odd)}
	for range sample.Count(0, 0, 1) {
		archives = append(archives, openFiles(t, bundles+"wink-claude-error.zip"))
	}
	rnd := sample.Rand(t)
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	member := func() string {
		return pick("source", "session_id", "sequence_number", "entry_type", "adapter", "prompt_name", "detail", "absent")
	}
	for range sample.Count(5, 25, 500) {
		get := func() string { return "context->>'" + pick("", "$.") + member() + "'" }
		from := pick("transcript", "logs", "transcript t", "(SELECT context FROM transcript)", "(SELECT * FROM logs)",
			"(SELECT context FROM logs UNION ALL SELECT context FROM transcript)")
		query := pick(
			fmt.Sprintf("SELECT %s AS a, count(*) AS n FROM %s GROUP BY 1 ORDER BY 1, 2", get(), from),
			fmt.Sprintf("SELECT count(*), count(%s), count(DISTINCT %s) FROM %s", get(), get(), from),
			fmt.Sprintf("SELECT %s AS a, %s AS b FROM %s WHERE %s IS NOT NULL ORDER BY 1, 2", get(), get(), from, get()),
			fmt.Sprintf("SELECT count(*) FROM %s WHERE %s IS NULL OR %s = ''", from, get(), get()),
			fmt.Sprintf("SELECT max(%s), typeof(%s) FROM %s WHERE %s IN ('main', 'user_message', 1, 2)", get(), get(), from, get()),
		)
		plain := asFunction(query)
		for _, a := range archives {
			if got, want := table(t, a, query), table(t, a, plain); got != want {
				t.Errorf("%s\n got %s\nwant %s", query, got, want)
			}
		}
	}
}

// asFunction writes context->>'name' as the function that it is short for.
func asFunction(query string) string {
	parts := strings.Split(query, "context->>'")
	for i, p := range parts[1:] {
		name, rest, _ := strings.Cut(p, "'")
		parts[i+1] = "json_extract(context, '$." + strings.TrimPrefix(name, "$.") + "')" + rest
	}
	return strings.Join(parts, "")
}

func logLine(event, context string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05Z","level":"DEBUG","logger":"x","event":%q,"message":"m","context":%s}`, event, context)
}

// TestAloneIsAsTogether: a bundle says the same whether it is asked alone, when
// the lines of its entries are not looked at, or beside another file.
func TestAloneIsAsTogether(t *testing.T) {
	t.Parallel()
	other := t.TempDir() + "/other.zip"
	makeZip(t, other, map[string]string{
		"manifest.json":  `{"bundle_id":"other","format_version":"1.0.0","status":"success"}`,
		"logs/app.jsonl": logLine("other", `{}`) + "\n",
	})
	zips := glob(t, "testdata/original/imported-*.zip")
	if len(zips) == 0 {
		t.Fatal("no bundles of imported sessions")
	}
	for _, i := range sample.Pick(t, len(zips), 1, 1) {
		zip := zips[i]
		alone, together := openFiles(t, zip), openFiles(t, zip, other)
		for _, query := range []string{
			"SELECT timestamp, prompt_name, transcript_source, sequence_number, entry_type, role, content, tool_name, " +
				"tool_use_id, raw_json FROM transcript WHERE bundle <> 'other' ORDER BY transcript_source, sequence_number",
			"SELECT timestamp, level, event, message, context, session_id FROM logs WHERE event <> 'other' ORDER BY rowid",
			"SELECT * FROM usage ORDER BY timestamp, total",
			"SELECT timestamp, tool_name, params, result, success, duration_ms, tool_use_id, seat, project " +
				"FROM tool_calls ORDER BY transcript_source, sequence_number",
		} {
			want := table(t, together, query)
			if len(want) == 0 {
				t.Fatalf("%s: %s says nothing", zip, query)
			}
			if got := table(t, alone, query); got != want {
				t.Errorf("%s: %s\n got %.2000s\nwant %.2000s", zip, query, got, want)
			}
		}
	}
}
