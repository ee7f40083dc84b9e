package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/sessiongen"
)

// TestUsageParts: a file that is read in parts by several has the same figures,
// wherever the parts meet.
func TestUsageParts(t *testing.T) {
	var made bytes.Buffer
	if _, err := sessiongen.Write(&made, sessiongen.Options{Seed: 13, Bytes: 300_000, Words: 1000}); err != nil {
		t.Fatal(err)
	}
	text := made.Bytes()
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := CountUsage(t.Context(), []string{file}, UsageOptions{})
	if err != nil || len(whole.Problems) > 0 {
		t.Fatal(err, whole.Problems)
	}
	want := whole.Total
	for _, size := range []int64{1, 100, 5_000, 77_777, 200_000} {
		u := &usageFile{path: file, kind: kindClaude}
		for from := int64(0); from < int64(len(text)); {
			to := min(from+max(size, 1000), int64(len(text)))
			piece := &usageFile{path: file, kind: kindClaude}
			if _, err := piece.scan(nil, from, to); err != nil {
				t.Fatal(err)
			}
			u.merge(piece, from)
			from = to
		}
		var got Usage
		got.sum([]*usageFile{u}, UsageOptions{By: "day"})
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
		u := &usageFile{kind: kindClaude}
		u.lines(line)
		for _, r := range u.rows {
			if r.input == 0 && r.output == 0 && r.cacheRead == 0 && r.cacheWrite == 0 {
				continue
			}
			if !bytes.Contains(line, []byte(`"assistant"`)) {
				t.Fatalf("%q has figures", line)
			}
		}
	})
}
