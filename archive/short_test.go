package archive_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
)

// Thousands of short sessions are taken up with the memory of a few: each brought
// buffers of two megabytes of its own.
func TestShortFilesTakeLittle(t *testing.T) {
	const files, most = 200, 1 << 20 // the race detector empties pools at random
	dir := t.TempDir()
	for i := range files {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		writeFile(t, filepath.Join(dir, "-home-ada-p", id+".jsonl"), fmt.Appendf(nil,
			`{"type":"user","sessionId":%q,"uuid":"u%d","timestamp":"2026-02-18T14:00:00Z","message":{"role":"user","content":"words"}}`+"\n", id, i))
	}
	a := newTestArchive(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if rep := refresh(t, a, dir); rep.Entries != files {
		t.Fatalf("%+v", rep)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / files; each > most {
		t.Errorf("%d bytes a file, more than %d", each, most)
	}
}
