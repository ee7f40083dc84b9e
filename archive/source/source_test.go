package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/sample"
	"conclave/session"
)

// A first line says whose a file is however long it is, up to the longest line,
// and so does the first that tells behind others.
func TestKindOfLongLines(t *testing.T) {
	sizes := []int{1 << 10, 200 << 10, 300 << 10, 5 << 20}
	for _, bound := range []int{16 << 10, session.BeginBytes, 512 << 10, 1 << 20, 4 << 20} {
		sizes = append(sizes, bound-1, bound, bound+1)
	}
	forms := map[string][2]string{ // what tells stands behind what is long
		"claude": {`{"message":{"role":"user","content":"`, `"},"type":"user","uuid":"u","sessionId":"s","cwd":"/w"}`},
		"codex": {`{"timestamp":"2026-01-01T00:00:00Z","payload":{"base_instructions":"`,
			`","id":"01a1dc93-dbda-7f52-b2c5-8b0fd89fb084","cwd":"/w"},"type":"session_meta"}`},
	}
	for want, form := range forms {
		for _, before := range []string{"", "no line of anybody\n", strings.Repeat("{}\n", session.SniffLines-1)} {
			for _, i := range sample.Pick(t, len(sizes), 1, 2) {
				size := sizes[i]
				path := filepath.Join(t.TempDir(), "x.jsonl")
				long := strings.Repeat("x", max(size-len(form[0])-len(form[1])-len(before), 0))
				text := before + form[0] + long + form[1] + "\n{}\n"
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if kind, err := Kind(path); kind != want || err != nil {
					t.Errorf("%s behind %d bytes, a line of %d: %q %v", want, len(before), size, kind, err)
				}
			}
		}
	}
}

// What is too long for a line is judged by its beginning, and is not read whole.
func TestKindOfAnEndlessLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"parentUuid":null,"type":"user","sessionId":"s","message":"`)
	if err := f.Truncate(session.MaxLine * 3); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if kind, err := Kind(path); kind != "claude" || err != nil {
		t.Errorf("%q %v", kind, err)
	}
}
