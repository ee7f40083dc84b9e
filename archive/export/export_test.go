package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/archive"
	"conclave/bundle/redact"
	"conclave/internal/plant"
	"conclave/transcript"
)

func sequence(list ...archive.Entry) iter.Seq2[archive.Entry, error] {
	return func(yield func(archive.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func entry(typ transcript.Type, seq int64, text string) archive.Entry {
	e := archive.Entry{Run: "run-1", Project: "/home/ada/work", Role: "cat", Text: text}
	e.Type, e.Sequence, e.Source, e.Adapter, e.PromptName = typ, seq, transcript.Main, transcript.AdapterScripted, "quest.consult.cat"
	e.Timestamp = time.Date(2026, 2, 18, 14, 32, int(seq), 0, time.UTC)
	e.Detail = []byte(`{"text":"x"}`)
	return e
}

func write(t *testing.T, f Format, o Options, list ...archive.Entry) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, f, sequence(list...), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var tricky = []archive.Entry{
	entry(transcript.UserMessage, 1, "# not a heading\n```\n<script>alert(1)</script>"),
	entry(transcript.ToolUse, 2, "=1+1 ```` fenced"),
	entry(transcript.ToolResult, 3, strings.Repeat("ü", 30_000)),
	entry(transcript.Unknown, 4, "housekeeping"),
	entry(transcript.AssistantMessage, 5, strings.Repeat("all of it ", 5000)+"END"),
}

// TestMarkdown: no text can pass for the document's own.
func TestMarkdown(t *testing.T) {
	out := write(t, Markdown, Options{}, tricky...)
	for line := range strings.SplitSeq(out, "\n") {
		if strings.HasPrefix(line, "# not") || strings.HasPrefix(line, "<script") {
			t.Errorf("a text stands as the document's own: %q", line)
		}
	}
	for _, want := range []string{"## run-1", "> # not a heading", "**Message** · 2026-02-18 14:32:01 · #1", "`````text", "bytes more)", "END"} {
		if !strings.Contains(out, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	if strings.Contains(out, "housekeeping") || !strings.Contains(write(t, Markdown, Options{All: true}, tricky...), "housekeeping") {
		t.Error("what programs noted for themselves is shown, or cannot be")
	}
}

// TestHTML: everything is escaped, and nothing is loaded or run.
func TestHTML(t *testing.T) {
	evil := entry(transcript.UserMessage, 9, `</pre><img src=x onerror=alert(1)>`)
	evil.Run = `"><script>x</script>`
	out := write(t, HTML, Options{Title: "<b>"}, append(tricky, evil)...)
	for _, bad := range []string{"<script", "<img", "http://", "https://", "onerror=alert(1)>", "<b></title>"} {
		if strings.Contains(out, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"<!doctype html>", "Content-Security-Policy", "default-src 'none'", "&lt;script&gt;", "</html>"} {
		if !strings.Contains(out, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	if empty := write(t, HTML, Options{}); !strings.Contains(empty, "</html>") {
		t.Errorf("a page without entries: %q", empty)
	}
}

// TestJSONL: the lines are log records that can be read again.
func TestJSONL(t *testing.T) {
	out := write(t, JSONL, Options{}, tricky...)
	got := transcript.Reconstruct(func(yield func([]byte) bool) {
		for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
			if !yield([]byte(line)) {
				return
			}
		}
	})
	if len(got.Entries) != len(tricky) || got.Skipped != 0 || got.Entries[0].Type != transcript.UserMessage {
		t.Errorf("%d entries come back, %d skipped", len(got.Entries), got.Skipped)
	}
}

func TestCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(write(t, CSV, Options{}, tricky...))).ReadAll()
	if err != nil || len(rows) != len(tricky)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if text := rows[2][10]; text != "'=1+1 ```` fenced" {
		t.Errorf("a formula stays one: %q", text)
	}
	if rows[1][0] != "run-1" || rows[1][6] != "user_message" {
		t.Errorf("row: %q", rows[1])
	}
}

func TestErrors(t *testing.T) {
	if _, err := Write(&bytes.Buffer{}, "pdf", sequence(), Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("pdf: %v", err)
	}
	broken := errors.New("broken")
	for _, f := range []Format{Markdown, HTML, JSONL, CSV, OTLP, ATIF} {
		_, err := Write(&bytes.Buffer{}, f, func(yield func(archive.Entry, error) bool) { yield(archive.Entry{}, broken) }, Options{})
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestNoPlantedSecretInAnExport: none in any format, and every look-alike.
func TestNoPlantedSecretInAnExport(t *testing.T) {
	secrets, innocents := plant.Secrets(9), plant.Innocents(9)
	if len(secrets) < 60 || len(innocents) < 200 {
		t.Fatalf("%d secrets, %d look-alikes", len(secrets), len(innocents))
	}
	var log []byte
	seq := int64(0)
	add := func(typ transcript.Type, text string) {
		seq++
		quoted := quote(text)
		detail := `{"text":` + quoted + `,"input":{"command":` + quoted + `},"content":` + quoted + `}`
		log = append(transcript.AppendEntry(log, &transcript.Entry{PromptName: "p", Adapter: transcript.AdapterScripted, Type: typ, Sequence: seq,
			Source: transcript.Main, Timestamp: time.Now(), Detail: []byte(detail), Raw: []byte(detail)}), '\n')
	}
	for _, s := range secrets {
		add(transcript.ToolUse, s.Text)
		add(transcript.ToolResult, "before\n"+s.Text+"\nafter")
	}
	for _, text := range innocents {
		add(transcript.UserMessage, text)
	}
	file := filepath.Join(t.TempDir(), "app.jsonl")
	if err := os.WriteFile(file, log, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := archive.OpenFiles(context.Background(), t.TempDir(), []string{file},
		archive.Options{Redactor: redact.New(redact.Options{EnvValues: redact.SecretEnv(plant.Environ(secrets))})})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, f := range []Format{Markdown, HTML, JSONL, CSV, OTLP, ATIF} {
		var b bytes.Buffer
		n, err := Write(&b, f, a.Entries(context.Background()), Options{All: true, Content: true})
		if err != nil || n != int(seq) {
			t.Fatalf("%s: %d of %d entries, %v", f, n, seq, err)
		}
		for _, s := range secrets {
			if strings.Contains(b.String(), s.Value) {
				t.Errorf("the %s is in the %s", s.Kind, f)
			}
		}
		if f != CSV {
			continue
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]bool{}
		for _, r := range rows {
			texts[strings.TrimPrefix(r[10], "'")] = true
		}
		for _, text := range innocents {
			if !texts[text] && !texts[strings.TrimRight(text, "\n")] {
				t.Errorf("a look-alike is changed: %q", text)
			}
		}
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(b)
}
