package archive_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/archive/index"
	"conclave/archive/search"
	"conclave/bundle/redact"
	"conclave/internal/plant"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/transcript"
)

// plantAll puts every secret and look-alike into tool arguments, results and
// messages: of a record, and of a session file.
func plantAll(t *testing.T, dir string, secrets []plant.Secret, innocents []string) {
	t.Helper()
	newRecord(t, dir, "planted", "quest.consult.cat", func(_ *record.Writer, e *transcript.Emitter) {
		for i, s := range secrets {
			id := "t" + itoa(i)
			emit(t, e, transcript.ToolUse, map[string]any{"tool_use_id": id, "name": "Bash", "input": map[string]any{"command": s.Text}})
			emit(t, e, transcript.ToolResult, map[string]any{"tool_use_id": id, "name": "Bash", "is_error": i%3 == 0, "content": "one\n" + s.Text + "\nthree"})
			emit(t, e, transcript.AssistantMessage, map[string]any{"text": "I found this: " + s.Text})
			if err := e.Event(8, "something.failed", "it said "+s.Text, map[string]any{"traceback": s.Text}); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range innocents {
			emit(t, e, transcript.ToolResult, map[string]any{"content": text})
		}
	})
	var file bytes.Buffer
	line := func(typ string, content any) {
		b, err := json.Marshal(map[string]any{"type": typ, "uuid": "u", "sessionId": "s1", "cwd": "/home/ada/work/proj", "timestamp": "2026-11-15T01:00:00.000Z",
			"message": map[string]any{"role": typ, "content": content}})
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(b, '\n'))
	}
	for i, s := range secrets {
		line("assistant", []any{map[string]any{"type": "tool_use", "id": itoa(i), "name": "Bash", "input": map[string]any{"command": s.Text}}})
		line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": itoa(i), "content": s.Text}})
	}
	for _, text := range innocents {
		line("user", text)
	}
	writeFile(t, filepath.Join(dir, "projects", "-home-ada-work-proj", "s1.jsonl"), file.Bytes())
}

// TestNoPlantedSecretComesOut: no secret is in the index, in what a search
// finds or shows, in what a query answers or in log lines; the look-alikes are
// in all of them; and the raw store has every byte.
func TestNoPlantedSecretComesOut(t *testing.T) {
	sample.Long(t)
	secrets, innocents := plant.Secrets(4), plant.Innocents(4)
	if len(secrets) < 60 || len(innocents) < 200 {
		t.Fatalf("%d secrets and %d look-alikes", len(secrets), len(innocents))
	}
	dir := t.TempDir()
	plantAll(t, dir, secrets, innocents)
	path := filepath.Join(t.TempDir(), "archive.db")
	options := archive.Options{Redactor: redact.New(redact.Options{EnvValues: redact.SecretEnv(plant.Environ(secrets))})}
	a, err := archive.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	refresh(t, a, dir)
	absent := func(where, text string) {
		t.Helper()
		for _, s := range secrets {
			if strings.Contains(text, s.Value) {
				t.Errorf("%s is in %s", s.Kind, where)
			}
		}
	}
	everything := table(t, a, "SELECT content, raw_json, parsed, context FROM transcript") +
		table(t, a, "SELECT message, context FROM logs") + table(t, a, "SELECT params, result, error_code FROM tool_calls") +
		table(t, a, "SELECT * FROM errors") + table(t, a, "SELECT * FROM turns") + table(t, a, "SELECT * FROM sources")
	absent("the answers of queries", everything)
	items, err := a.Reader().QueryContext(ctx, "SELECT json_array(message, tool, tool_id, subtype, agent, logger, event) FROM items")
	if err != nil {
		t.Fatal(err)
	}
	defer items.Close()
	for items.Next() {
		var row string
		if err := items.Scan(&row); err != nil {
			t.Fatal(err)
		}
		absent("a row", row)
	}
	if err := items.Err(); err != nil {
		t.Fatal(err)
	}
	for line, err := range a.LogLines(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		absent("a log line", string(line))
	}
	for e, err := range a.Entries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		absent("an entry", e.Text+string(e.Detail)+string(e.Raw))
	}
	for _, s := range secrets {
		checkSearch(t, a, s)
	}
	checkIndex(t, a, secrets)
	for _, text := range innocents {
		if !strings.Contains(everything, text) {
			t.Errorf("a look-alike was taken for a secret: %q", text)
		}
	}
	checkRaw(t, a, path, dir, secrets)
}

// checkSearch looks for a secret, and for what stands around it.
func checkSearch(t *testing.T, a *archive.Archive, s plant.Secret) {
	t.Helper()
	for _, words := range []string{s.Value, s.Text, `"` + s.Value + `"`} {
		res, err := search.Find(ctx, a, search.Query{Words: strings.ReplaceAll(words, "-", " "), Limit: 50, Context: 2})
		if err != nil {
			continue // a text without words
		}
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.ReplaceAll(string(b), `\n`, "\n")
		if strings.Contains(plain, s.Value) {
			t.Errorf("a search for %.20q shows the %s", words, s.Kind)
		}
	}
}

// checkIndex reads the words that the index holds. A secret that is one word
// must not be among them; of others at least one word must be missing.
func checkIndex(t *testing.T, a *archive.Archive, secrets []plant.Secret) {
	t.Helper()
	conn, err := a.Writer().Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row')"); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.QueryContext(ctx, "SELECT term FROM temp.vocabulary")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	terms := map[string]bool{}
	for rows.Next() {
		var term string
		if err := rows.Scan(&term); err != nil {
			t.Fatal(err)
		}
		terms[term] = true
	}
	if len(terms) < 500 {
		t.Fatalf("the index has only %d words", len(terms))
	}
	for _, s := range secrets {
		all := true
		for _, w := range index.Of(s.Value) {
			all = all && (terms[w] || len(w) < 3)
		}
		if all && len(index.Of(s.Value)) > 0 {
			t.Errorf("all words of the %s are in the index: %q", s.Kind, index.Of(s.Value))
		}
	}
}

// checkRaw: the bytes are kept, compressed, for their owner alone.
func checkRaw(t *testing.T, a *archive.Archive, path, dir string, secrets []plant.Secret) {
	t.Helper()
	var out bytes.Buffer
	if err := a.Restore(ctx, &out, "s1"); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "projects", "-home-ada-work-proj", "s1.jsonl"))
	if err != nil || !bytes.Equal(before, out.Bytes()) {
		t.Errorf("the session comes back changed (%v)", err)
	}
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(path + suffix)
		if err == nil && os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", path+suffix, info.Mode())
		}
	}
	plain, err := archive.Open(path, archive.Options{NoRedact: true})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	all := table(t, plain, "SELECT content FROM transcript")
	if !strings.Contains(all, secrets[0].Value) {
		t.Error("with NoRedact texts are not as they were")
	}
}
