package redact

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkBytes goes over text of the kind that a bundle holds: lines of real
// session files, each once as it is and once quoted as raw, with a secret in
// one of two hundred.
func BenchmarkBytes(b *testing.B) {
	lines := sessionLines(b)
	secrets, r := planted(1)
	var texts [][]byte
	size := 0
	for i := range 4000 {
		line := lines[i%len(lines)]
		text := fmt.Appendf(nil, `{"event":"transcript.entry","context":{"detail":%s,"raw":%s}}`, line, quote(string(line)))
		if i%200 == 0 {
			text = append(text, quote(secrets[i/200%len(secrets)].Text)...)
		}
		texts = append(texts, text)
		size += len(text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		for _, text := range texts {
			out, _ = r.Bytes(out[:0], text)
		}
	}
}

func sessionLines(tb testing.TB) [][]byte {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "fixtures", "claude", "*", "home", ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no session files (%v)", err)
	}
	var lines [][]byte
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if len(line) > 0 {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// TestRealSessionsAreInnocent: nothing in the captures is a secret.
func TestRealSessionsAreInnocent(t *testing.T) {
	_, r := planted(1)
	for _, line := range sessionLines(t) {
		if out, counts := r.Bytes(nil, line); counts != nil {
			t.Errorf("%v in %.300s\n%.300s", counts, line, out)
		}
	}
}
