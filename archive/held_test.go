package archive_test

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/collect"
)

// TestFiguresBearTheirOwnTime: what tells of a response without a known end stands
// at the time, the words and the bytes of that response, however many lines of
// others came before it was given up; in a session's own file and on its record.
func TestFiguresBearTheirOwnTime(t *testing.T) {
	t.Parallel()
	head := `"sessionId":"0b9c6a53-6c6e-4f38-a1b1-5f6b14f1f1aa","cwd":"/w",`
	answer := func(id, day, words, in, out string) string {
		return `{"type":"assistant",` + head + `"uuid":"` + id + `","timestamp":"` + day + `T10:00:05.000Z","requestId":"r` + id +
			`","message":{"id":"m` + id + `","role":"assistant","model":"claude-opus-4-1","content":[{"type":"text","text":"` + words +
			`"}],"usage":{"input_tokens":` + in + `,"output_tokens":` + out + `}}}` + "\n"
	}
	prompt := func(id, day string) string {
		return `{"type":"user",` + head + `"uuid":"` + id + `","timestamp":"` + day + `T10:00:00.000Z","message":{"role":"user","content":"go on"}}` + "\n"
	}
	for name, words := range map[string]string{"short": "so", "in another block": strings.Repeat("so ", 90_000)} {
		root := filepath.Join(t.TempDir(), "projects")
		file := filepath.Join(root, "-w", "0b9c6a53-6c6e-4f38-a1b1-5f6b14f1f1aa.jsonl")
		writeFile(t, file, []byte(prompt("p1", "2026-05-01")+answer("a1", "2026-05-01", words, "500000", "1000")+
			prompt("p2", "2026-05-02")+answer("a2", "2026-05-02", "and so", "10", "1")))
		workspace := t.TempDir()
		c, err := collect.New(collect.Options{Workspace: workspace, Roots: []string{root}, Once: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, path := range append(glob(t, filepath.Join(workspace, ".conclave", "records", "*.record")), file) {
			a := openFiles(t, path)
			same(t, name+": "+path, table(t, a, "SELECT day, input, output FROM usage ORDER BY day"),
				table(t, a, "SELECT '2026-05-01', 500000, 1000 UNION ALL SELECT '2026-05-02', 10, 1"))
			if path != file || name != "short" {
				continue
			}
			got := table(t, a, "SELECT content, raw_json FROM transcript WHERE entry_type = 'token_usage' ORDER BY timestamp")
			if lines := strings.Split(got, "\n"); len(lines) < 2 || !strings.Contains(lines[len(lines)-3], "500000") {
				t.Errorf("the figures show %s", got)
			}
		}
	}
}
