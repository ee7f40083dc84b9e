package bundle

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"conclave/audit"
	"conclave/record"
	"conclave/transcript"
)

// TestTranscriptOfABundle: logs/app.jsonl has every log record of the run, and
// transcript.jsonl exactly its entries, both in order and as they stand on the
// record; everything is below one root.
func TestTranscriptOfABundle(t *testing.T) {
	t.Parallel()
	path := newRecord(t, t.TempDir(), "r", func(_ *record.Writer, e *transcript.Emitter) {
		if err := e.Start(); err != nil {
			t.Fatal(err)
		}
		said(t, e, transcript.UserMessage, map[string]string{"text": "first"})
		event(t, e, audit.EventMessage, audit.Message{Turn: "a", Attempt: 1})
		said(t, e, transcript.AssistantMessage, map[string]string{"text": "transcript.entry"})
		said(t, e, transcript.Thinking, map[string]string{"text": "hm"})
		if err := e.Stop(); err != nil {
			t.Fatal(err)
		}
	})
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all, entries []string
	for r.Next() {
		if f := r.Frame(); f.Kind == record.KindLog {
			all = append(all, string(f.Payload))
			if _, err := transcript.ParseEntry(f.Payload); err == nil {
				entries = append(entries, string(f.Payload))
			}
		}
	}
	made := mustCreate(t, Options{Record: path})
	files := unzip(t, made.Path)
	lines := func(name string) []string {
		return strings.Split(strings.TrimSuffix(string(files[name]), "\n"), "\n")
	}
	if got := lines("logs/app.jsonl"); len(all) < 6 || !slices.Equal(got, all) {
		t.Errorf("the log has %d lines, the record %d", len(got), len(all))
	}
	if got := lines(TranscriptFile); len(entries) != 3 || !slices.Equal(got, entries) {
		t.Errorf("the transcript is %q\nwant %q", got, entries)
	}
	z, err := zip.OpenReader(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "debug_bundle/") {
			t.Errorf("%s is outside of debug_bundle/", f.Name)
		}
	}
	if !bytes.Contains(files["manifest.json"], []byte(TranscriptFile)) {
		t.Error("the manifest does not name the transcript")
	}
}
