package session

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"conclave/internal/jsontext"
	"conclave/internal/sessiongen"
	"conclave/session/claude"
	"conclave/session/kind"
	"conclave/transcript"
)

// spoken are the types that have words.
func spoken(t transcript.Type) bool {
	switch t {
	case transcript.SystemEvent, transcript.TokenUsage, transcript.Unknown:
		return false
	}
	return true
}

// TestOnePass: what the mapping takes from a line in one pass is what the details
// of its entries say, of all programs.
func TestOnePass(t *testing.T) {
	var made bytes.Buffer
	if _, err := sessiongen.Write(&made, sessiongen.Options{Seed: 5, Bytes: 400_000, Words: 3000}); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"generated.jsonl": made.Bytes()}
	for _, pattern := range []string{"claude/*/home/.claude/projects/*/*.jsonl", "codex/*/sessions/*/*/*/*.jsonl", "codex/*/*.jsonl"} {
		files, err := filepath.Glob(filepath.Join("../testdata/fixtures", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if texts[file], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	said := map[string]int{}
	for name, text := range texts {
		first, _, _ := bytes.Cut(text, []byte("\n"))
		f := Unnamed(name, Sniff(first))
		m := f.Kind.NewMapper(f, kind.Options{Reuse: true})
		var w Words
		var items []transcript.Item
		check := func(i int, it *transcript.Item) {
			told, want := m.Facts(i), FactsOf(it.Type, it.Detail, jsontext.Members(it.Detail, FactNames...))
			if it.Type == transcript.ToolUse || it.Type == transcript.ToolResult {
				if told.ToolID != want.ToolID || told.Tool != want.Tool || told.Failed != want.Failed {
					t.Errorf("%s: %s tells %+v, its detail %+v", name, it.Detail, told, want)
				}
			}
			if told.Subtype != want.Subtype || !reflect.DeepEqual(told.Sum, want.Sum) || it.Type == transcript.TokenUsage &&
				(told.Usage == nil && told.Sum == nil || !reflect.DeepEqual(told.Usage, want.Usage) || told.Message != want.Message) {
				t.Errorf("%s: %s tells %+v, its detail %+v", name, it.Detail, told, want)
			}
			if !spoken(it.Type) {
				return
			}
			got, words := string(m.Words(nil, i)), string(w.Append(nil, f.Kind.Adapter, it.Type, it.Detail))
			if got != words {
				t.Errorf("%s: %s\n got %q\nwant %q", name, it.Detail, got, words)
			}
			if len(got) > 0 {
				said[f.Kind.Name]++
			}
		}
		for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
			items = m.Append(items[:0], line)
			for i := range items {
				check(i, &items[i])
			}
		}
		for i, it := range m.Flush() {
			check(i, &it)
		}
	}
	if said["claude"] < 150 || said["codex"] < 80 {
		t.Errorf("only %v entries said something", said)
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
		m := claude.Kind.NewMapper(Unnamed("x", nil), kind.Options{})
		for i, it := range m.Append(nil, []byte(line)) {
			if spoken(it.Type) {
				var w Words
				got = append(got, string(w.Append(nil, transcript.AdapterClaude, it.Type, it.Detail)))
				if once := m.Words(nil, i); string(once) != got[len(got)-1] {
					t.Errorf("%s: the mapping says %q", line, once)
				}
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

// TestQueuedPrompt: a prompt that was sent while the agent worked is a message,
// once, and its words are found.
func TestQueuedPrompt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/fixtures/claude/30-queued-prompt/home/.claude/projects/*/*.jsonl")
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	f := Unnamed(files[0], OfName("claude"))
	m, said := f.Kind.NewMapper(f, Options{}), 0
	for line := range bytes.Lines(text) {
		for i, it := range m.Append(nil, bytes.TrimSuffix(line, []byte("\n"))) {
			words := string(m.Words(nil, i))
			if it.Type == transcript.UserMessage && strings.Contains(words, "queued prompt zebra: also do the other thing") {
				said++
			}
		}
	}
	if said != 1 {
		t.Errorf("the queued prompt is %d messages", said)
	}
}
