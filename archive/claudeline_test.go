package archive

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"conclave/internal/sessiongen"
	"conclave/session/claude"
	"conclave/transcript"
)

// TestOnePass: what is taken from a line in one pass is what the details of its
// entries say.
func TestOnePass(t *testing.T) {
	var made bytes.Buffer
	if _, err := sessiongen.Write(&made, sessiongen.Options{Seed: 5, Bytes: 400_000, Words: 3000}); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"generated": made.Bytes()}
	for _, file := range glob(t, fixtures+"/claude/*/home/.claude/projects/*/*.jsonl") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = text
	}
	spoken := 0
	for name, text := range texts {
		f := newSessionFeed(transcript.AdapterClaude, name, indexer{})
		for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
			f.read(line)
			items := f.items
			for i := range items {
				if !searchable(items[i].Type) {
					continue
				}
				got, want := f.text(nil, &items[i]), textOf(nil, transcript.AdapterClaude, items[i].Type, items[i].Detail)
				if string(got) != string(want) {
					t.Errorf("%s: entry %d of %.300s\n got %q\nwant %q", name, i, line, got, want)
				}
				if len(got) > 0 {
					spoken++
				}
			}
		}
	}
	if spoken < 150 {
		t.Errorf("only %d entries said something", spoken)
	}
}

// TestClaudeText: where the words of an entry are, in all the forms that such
// lines have had.
func TestClaudeText(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"user","message":{"role":"user","content":"plain \u00e9\n"}}`:                 "plain é",
		`{"type":"user","content":"without a message"}`:                                        "without a message",
		`{"type":"user","message":"no object","content":"beside"}`:                             "",
		`{"content":"first","type":"user","message":{"content":[{"type":"text","text":"a"}]}}`: "a",
		`{"content":"first","type":"user","message":{"content":[{"type":"text","text":"one"},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"two"}]}]}}`: "one|two",
		`{"type":"assistant","message":{"content":[{"type":"text","text":"x"}]},"message":{"id":"m","content":[{"type":"thinking","thinking":"the last counts"}]}}`:                "the last counts",
		`{"type":"tool_result","tool_use_id":"t","content":"alone"}`:                   "alone",
		`{"type":"thinking","thinking":"alone"}`:                                       "alone",
		`{"type":"system","subtype":"api_error","error":{"status":529,"text":"busy"}}`: "status: 529\ntext: busy",
		`{"type":"assistant","message":{"content":[ {"type":"tool_use","id":"u","name":"Bash","input":{"command":"ls"}} , {"type":"text","text":"t"}]}}`: "command: ls|t",
	} {
		var got []string
		for _, it := range claude.NewMapper(claude.Options{}).Append(nil, []byte(line)) {
			if searchable(it.Type) {
				got = append(got, string(textOf(nil, transcript.AdapterClaude, it.Type, it.Detail)))
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}
