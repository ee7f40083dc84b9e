package codex

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"
)

// benchLines is a rollout of some megabytes, made of a real one.
func benchLines(b *testing.B) (lines [][]byte, size int64) {
	b.Helper()
	found, err := filepath.Glob(fixtures + "/13-*/codex_home/sessions/*/*/*/rollout-*.jsonl")
	if err != nil || len(found) == 0 {
		b.Fatalf("no rollouts (%v)", err)
	}
	for range 20 {
		for _, f := range found {
			for _, l := range readLines(b, f) {
				lines = append(lines, l)
				size += int64(len(l)) + 1
			}
		}
	}
	return lines, size
}

func BenchmarkRollout(b *testing.B) {
	lines, size := benchLines(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		var r Rollout
		for _, l := range lines {
			r.Map(l)
		}
	}
}

// BenchmarkPlainDecoding is what it is compared with.
func BenchmarkPlainDecoding(b *testing.B) {
	lines, size := benchLines(b)
	all := bytes.Join(lines, []byte("\n"))
	b.SetBytes(size)
	for b.Loop() {
		for _, l := range bytes.Split(all, []byte("\n")) {
			var v map[string]any
			if err := json.Unmarshal(l, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}
