package usage

import (
	"bytes"
	"path/filepath"
	"testing"

	"conclave/internal/sessiongen"
	"conclave/session/claude"
)

// TestUsageParts: a file that is read in parts by several has the same figures,
// wherever the parts meet.
func TestUsageParts(t *testing.T) {
	text := sessionText(t, 13, 300_000)
	name := filepath.Join(t.TempDir(), "s.jsonl")
	writeFile(t, name, text)
	want := count(t, Options{}, name).Total
	for _, size := range []int64{1, 100, 5_000, 77_777, 200_000} {
		u := &file{path: name, kind: claude.Kind.Name}
		for from := int64(0); from < int64(len(text)); {
			to := min(from+max(size, 1000), int64(len(text)))
			piece := &file{path: name, kind: claude.Kind.Name}
			if _, err := piece.scan(nil, from, to); err != nil {
				t.Fatal(err)
			}
			u.merge(piece, from)
			from = to
		}
		var got Report
		got.sum([]*file{u}, Options{By: "day"})
		if got.Total != want {
			t.Errorf("parts of %d: %+v, want %+v", size, got.Total, want)
		}
	}
}

// FuzzUsageLines: a text that only quotes a usage is none, and no line makes it
// panic.
func FuzzUsageLines(f *testing.F) {
	var b bytes.Buffer
	if _, err := sessiongen.Write(&b, sessiongen.Options{Seed: 1, Bytes: 30_000}); err != nil {
		f.Fatal(err)
	}
	for line := range bytes.SplitSeq(b.Bytes(), []byte("\n")) {
		if bytes.Contains(line, usageMark) {
			f.Add(line)
		}
	}
	f.Add([]byte(`{"type":"user","toolUseResult":{"usage":{"input_tokens":5}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		u := &file{kind: claude.Kind.Name}
		u.lines(line)
		for _, r := range u.rows {
			if r.Input == 0 && r.Output == 0 && r.CacheRead == 0 && r.CacheWrite == 0 {
				continue
			}
			if !bytes.Contains(line, []byte(`"assistant"`)) {
				t.Fatalf("%q has figures", line)
			}
		}
	})
}
