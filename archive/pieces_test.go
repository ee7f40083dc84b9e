package archive_test

import (
	"os"
	"path/filepath"
	"testing"

	"conclave/archive/archivetest"
)

// TestPiecesAreOneText: what an agent said piece by piece is shown whole, whether
// the message has an end or the file ends first.
func TestPiecesAreOneText(t *testing.T) {
	const pieces = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"where"}]}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"In the "}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"gryphontower."}}}}
`
	for name, end := range map[string]string{"ended": `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}` + "\n", "cut": ""} {
		path := filepath.Join(t.TempDir(), name+".jsonl")
		if err := os.WriteFile(path, []byte(pieces+end), 0o600); err != nil {
			t.Fatal(err)
		}
		var said []string
		for e, err := range archivetest.OpenFiles(t, path).Entries(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == "assistant_message" {
				said = append(said, e.Text)
			}
		}
		if len(said) != 1 || said[0] != "In the gryphontower." {
			t.Errorf("%s: %q", name, said)
		}
	}
}
