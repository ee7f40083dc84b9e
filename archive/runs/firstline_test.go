package runs

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/archive/archivetest"
	"conclave/internal/sample"
	"conclave/session"
)

// However long the first line of a session is, the session is taken up, with what
// that line alone tells of all of it.
func TestLongFirstLine(t *testing.T) {
	sizes := []int{1 << 10, 300 << 10}
	for _, bound := range []int{session.BeginBytes, 1 << 20, 4 << 20} {
		sizes = append(sizes, bound-1, bound, bound+1)
	}
	const thread = "01a1dc93-dbda-7f52-b2c5-8b0fd89fb084"
	for _, f := range []struct{ path, before, behind, next string }{
		{"projects/-p/" + captured + ".jsonl", `{"message":{"role":"user","content":"`,
			`"},"type":"user","uuid":"u","sessionId":"` + captured + `","cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z"}`,
			`{"type":"user","uuid":"v","sessionId":"` + captured + `","message":{"role":"user","content":"more"}}`},
		{"sessions/2026/01/01/rollout-2026-01-01T00-00-00-" + thread + ".jsonl",
			`{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"base_instructions":{"text":"`,
			`"},"id":"` + thread + `","session_id":"` + thread + `","cwd":"/w"}}`,
			`{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user",` +
				`"content":[{"type":"input_text","text":"more"}]}}`},
	} {
		for _, i := range sample.Pick(t, len(sizes), 1, 2) {
			size := sizes[i]
			root := t.TempDir()
			long := strings.Repeat("x", size-len(f.before)-len(f.behind))
			appendTo(t, filepath.Join(root, filepath.FromSlash(f.path)), f.before+long+f.behind+"\n"+f.next+"\n")
			a := archivetest.Open(t)
			archivetest.Refresh(t, a, root)
			list := shelf(t, a).all(t)
			if len(list) != 1 || list[0].Project != "/w" || list[0].Entries < 2 || list[0].Began.IsZero() || list[0].Session == "" {
				t.Errorf("%s with a first line of %d bytes: %+v", f.path[:8], size, list)
			}
		}
	}
}
