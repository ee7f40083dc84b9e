package claude

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/internal/jsontext"
	"conclave/internal/sessiongen"
	"conclave/session/kind"
	"conclave/transcript"
)

// Each line with the types that it gives, and the subtype of the first.
func TestMapLine(t *testing.T) {
	for _, c := range []struct{ line, want, subtype string }{
		// The table of the specification, as older files have it.
		{`{"type":"user","message":{"role":"user","content":"hi"}}`, "user_message", ""},
		{`{"type":"user","content":"hi"}`, "user_message", ""},
		{`{"type":"assistant","message":{"role":"assistant","content":"hello"}}`, "assistant_message", ""},
		{`{"type":"tool_result","tool_use_id":"t1","content":"done"}`, "tool_result", ""},
		{`{"type":"thinking","thinking":"hm"}`, "thinking", ""},
		{`{"type":"summary","summary":"we talked"}`, "system_event", "compaction"},
		{`{"type":"system","content":"x"}`, "system_event", "system"},
		{`{"type":"whatever"}`, "unknown", "whatever"},

		// What the programs write.
		{`{"message":{"content":[{"type":"text","text":"a"},{"type":"image"}]},"type":"user"}`, "user_message", ""},
		{`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b","is_error":true},{"type":"text","text":"and"}]}}`, "user_message tool_result tool_result", ""},
		{`{"type":"user","isMeta":true,"message":{"content":"<caveat>"}}`, "system_event", "meta"},
		{`{"type":"user","isMeta":true,"message":{"content":[{"type":"tool_result","tool_use_id":"a"}]}}`, "tool_result", ""},
		{`{"type":"user","isCompactSummary":true,"message":{"content":"So far"}}`, "system_event", "compaction_summary"},
		{`{"type":"user","origin":{"kind":"task-notification"},"message":{"content":"<task-notification>"}}`, "system_event", "task_notification"},
		{`{"type":"user","message":{"content":"<command-name>/compact</command-name>"}}`, "system_event", "command"},
		{`{"type":"user","message":{"content":"<command-message>fix</command-message>\n<command-name>/fix</command-name>"}}`, "user_message", ""},
		{`{"type":"user","message":{"content":"\u003cbash-input\u003els"}}`, "system_event", "command"},
		{`{"type":"user","promptSource":"sdk","message":{"content":"<command-name>/compact</command-name>"}}`, "user_message", ""},
		{`{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`, "system_event", "interrupt"},
		{`{"type":"user","message":{"content":[]}}`, "user_message", ""},
		{`{"type":"user"}`, "user_message", ""},
		{`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"x"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"y"},{"type":"tool_use","id":"t","name":"N","input":{}}]}}`, "thinking thinking assistant_message tool_use", ""},
		{`{"type":"assistant","message":{"content":[{"type":"text","text":"y"}],"usage":{"input_tokens":1}}}`, "assistant_message token_usage", ""},
		{`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"y"}],"usage":{"input_tokens":1},"stop_reason":null}}`, "assistant_message", ""},
		{`{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}],"usage":{"input_tokens":0}}}`, "error", "api_error"},
		{`{"type":"assistant","isAbortedMidStream":true,"message":{"id":"m","content":[{"type":"text","text":"y"}],"usage":{"input_tokens":1}}}`, "assistant_message", ""},
		{`{"type":"assistant","message":{"content":[{"type":"dance"}]}}`, "unknown", "assistant block dance"},
		{`{"type":"assistant","message":{"content":["odd", 7]}}`, "unknown unknown", "assistant block "},
		{`{"type":"system","subtype":"compact_boundary"}`, "system_event", "compaction"},
		{`{"type":"system","subtype":"api_error"}`, "error", "api_error"},
		{`{"type":"system","subtype":"turn_duration"}`, "system_event", "turn_duration"},
		{`{"type":"attachment","attachment":{"type":"date"}}`, "system_event", "attachment/date"},
		{`{"type":"attachment","attachment":{"type":"queued_command","prompt":"also this","commandMode":"prompt"}}`, "user_message", ""},
		{`{"type":"attachment","attachment":{"type":"queued_command","prompt":"<task>","commandMode":"task-notification"}}`, "system_event", "attachment/queued_command"},
		{`{"type":"api-request-blob","message":{"role":"user","content":"hi"}}`, "system_event", "model_request"},
		{`{"type":"queue-operation","operation":"enqueue","content":"hi"}`, "unknown", "queue-operation"},

		// What nobody writes, and what only looks like JSON.
		{`{"sessionId":"s"}`, "unknown", "no type"},
		{`{"type":7}`, "unknown", "no type"},
		{`[1,2]`, "unknown", "not an object"},
		{`{"type":"user","message":{"content":"hi"}`, "unknown", "not JSON"},
		{`{"type":"user","message":{"content":"hi","n":01}}`, "unknown", "not JSON"},
		{`plain text`, "unknown", "not JSON"},
		{``, "unknown", "not JSON"},
		{"{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}", "user_message", ""},
		{`{"type":"assistant","type":"user","message":{"content":[{"type":"text","text":"x"}]},"message":{"content":"hi"}}`, "user_message", ""},
	} {
		items := NewMapper(Options{}).Map([]byte(c.line))
		var got []string
		for i, it := range items {
			got = append(got, string(it.Type))
			if (it.Raw != nil) != (i == 0) || !jsontext.Valid(it.Detail) {
				t.Errorf("%s: item %d has raw %q, detail %s", c.line, i, it.Raw, it.Detail)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s gives %v, want %s", c.line, got, c.want)
			continue
		}
		if sub := string(jsontext.Bare(jsontext.Get(items[0].Detail, "subtype"))); sub != c.subtype {
			t.Errorf("%s has the subtype %q, want %q", c.line, sub, c.subtype)
		}
		if string(items[0].Raw) != c.line {
			t.Errorf("%s comes back as %s", c.line, items[0].Raw)
		}
	}
}

// The usage of a message is given once, with its last figures.
func TestUsageOnce(t *testing.T) {
	line := func(id, stop string, out string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","content":[{"type":"text","text":"x"}],"stop_reason":` + stop + `,"usage":{"output_tokens":` + out + `}}}`
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  []int64
	}{
		{"repeated", []string{line("a", `"end_turn"`, "5"), line("a", `"end_turn"`, "5")}, []int64{5}},
		{"growing", []string{line("a", "null", "1"), line("a", "null", "3"), line("a", `"end_turn"`, "9")}, []int64{9}},
		{"never ended", []string{line("a", "null", "1"), line("a", "null", "3"), line("b", `"end_turn"`, "9")}, []int64{3, 9}},
		{"ended by the file", []string{line("a", "null", "4")}, []int64{4}},
		{"interleaved with results", []string{line("a", `"tool_use"`, "5"), `{"type":"user","message":{"content":[{"type":"tool_result"}]}}`, line("a", `"tool_use"`, "5")}, []int64{5}},
		{"aborted", []string{line("a", "null", "1"), `{"type":"assistant","isAbortedMidStream":true,"message":{"id":"a","content":[{"type":"text","text":"x"}],"usage":{"output_tokens":1}}}`}, nil},
	} {
		m := NewMapper(Options{})
		var items []transcript.Item
		for _, l := range c.lines {
			items = append(items, m.Map([]byte(l))...)
		}
		items = append(items, m.Flush()...)
		items = append(items, m.Flush()...)
		var got []int64
		for _, it := range items {
			if it.Type == transcript.TokenUsage {
				got = append(got, transcript.UsageOf(it.Detail).Output)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	m := NewMapper(Options{Source: "subagent:x", NoRaw: true, Parent: kind.Parent{Source: "main", ToolUseID: "toolu_1"},
		Known: func(session, uuid string) bool { return session == "s" && uuid == "old" }})
	items := m.Map([]byte(`{"type":"assistant","uuid":"new","sessionId":"s","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}`))
	for i, want := range []string{
		`{"sdk_entry":{"type":"assistant","uuid":"new","sessionId":"s","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}},"block_index":0,"parent":"main","parent_tool_use_id":"toolu_1"}`,
		`{"of":"new","block_index":1,"sdk_entry":{"type":"text","text":"b"},"parent":"main","parent_tool_use_id":"toolu_1"}`,
	} {
		if it := items[i]; string(it.Detail) != want || it.Raw != nil || it.Source != "subagent:x" || it.SessionID != "s" {
			t.Errorf("item %d: %+v\n%s", i, it, it.Detail)
		}
	}
	if Text(items[0].Detail) != "a" || Text(items[1].Detail) != "b" {
		t.Errorf("texts %q, %q", Text(items[0].Detail), Text(items[1].Detail))
	}
	if old := m.Map([]byte(`{"type":"user","uuid":"old","sessionId":"s","message":{"content":"a"}}`)); len(old) != 1 || old[0].Type != transcript.SystemEvent {
		t.Errorf("a known line gives %+v", old)
	}
	if other := m.Map([]byte(`{"type":"user","uuid":"old","sessionId":"t","message":{"content":"a"}}`)); other[0].Type != transcript.UserMessage {
		t.Errorf("the same uuid in another session gives %+v", other)
	}
}

// TestOneMessage: a prompt is one entry, of however many texts and images it is
// made, and what tools gave back beside it are entries of their own, each with
// the id of its call where other readers look for it.
func TestOneMessage(t *testing.T) {
	const text, image, result = `{"type":"text","text":"%"}`, `{"type":"image","source":{}}`, `{"type":"tool_result","tool_use_id":"toolu_%","content":"gave %"}`
	for _, c := range []struct {
		blocks string
		want   []string // type, words, id of the call
	}{
		{image + "," + strings.ReplaceAll(text, "%", "a") + "," + image, []string{"user_message", "a", ""}},
		{strings.ReplaceAll(text, "%", "a") + "," + strings.ReplaceAll(text, "%", "b"), []string{"user_message", "a\nb", ""}},
		{strings.ReplaceAll(result, "%", "1"), []string{"tool_result", "gave 1", "toolu_1"}},
		{strings.ReplaceAll(result, "%", "1") + "," + strings.ReplaceAll(text, "%", "a") + "," + strings.ReplaceAll(result, "%", "2") + "," + strings.ReplaceAll(text, "%", "b"),
			[]string{"user_message", "a\nb", "", "tool_result", "gave 1", "toolu_1", "tool_result", "gave 2", "toolu_2"}},
	} {
		line := `{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":[` + c.blocks + `]}}`
		m := NewMapper(Options{})
		var got []string
		for i, it := range m.Map([]byte(line)) {
			var stored Words
			words := string(m.Words(nil, i))
			if again := string(stored.Append(nil, it.Type, it.Detail)); again != words || Text(it.Detail) != words {
				t.Errorf("%s: words %q, from its detail %q, %q", c.blocks, words, again, Text(it.Detail))
			}
			got = append(got, string(it.Type), words, jsontext.Text(jsontext.Get(it.Detail, "sdk_entry", "tool_use_id")))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.blocks, got, c.want)
		}
	}
}

// Reusing memory gives the same bytes as not reusing it.
func TestReuse(t *testing.T) {
	var file bytes.Buffer
	w, err := sessiongen.Write(&file, sessiongen.Options{Seed: 3, Bytes: 2 << 20, Hard: true})
	if err != nil {
		t.Fatal(err)
	}
	fresh, reused := NewMapper(Options{}), NewMapper(Options{Reuse: true})
	var sum transcript.Usage
	for line := range bytes.SplitSeq(bytes.TrimSuffix(file.Bytes(), []byte("\n")), []byte("\n")) {
		a, b := fresh.Map(line), reused.Map(line)
		if len(a) != len(b) {
			t.Fatalf("%d and %d items of %.100s", len(a), len(b), line)
		}
		for i := range a {
			if !bytes.Equal(a[i].Detail, b[i].Detail) || !bytes.Equal(a[i].Raw, b[i].Raw) {
				t.Fatalf("item %d of %.100s differs", i, line)
			}
		}
		s, _ := totals(a)
		sum = sum.Add(s)
	}
	if want := (transcript.Usage{Input: w.Input, Output: w.Output, CacheRead: w.CacheRead, CacheWrite: w.CacheWrite}); sum != want {
		t.Errorf("tokens %+v, want %+v", sum, want)
	}
	if st := fresh.Stats(); st.Lines != w.Lines || st.Bytes != w.Bytes || st.Unknown["not JSON"] != w.BadLines {
		t.Errorf("stats %+v, want %+v", st, w)
	}
}

func TestLocate(t *testing.T) {
	for _, c := range []struct{ path, session, source string }{
		{"/c/projects/-x/11.jsonl", "11", "main"},
		{"/c/projects/-x/11/subagents/agent-a7.jsonl", "11", "subagent:a7"},
		{"/c/projects/-x/11/subagents/deep/er/agent-a7.jsonl", "11", "subagent:a7"},
		{"/c/projects/-x/11/subagents/agent-a7.meta.json", "", ""},
		{"/c/projects/-x/.jsonl", "", ""},
	} {
		f, ok := Locate(c.path)
		if ok != (c.session != "") || ok && (f.Session != c.session || f.Source != c.source) {
			t.Errorf("%s: %+v, %v", c.path, f, ok)
		}
	}
}

// Older programs put the files of subagents beside that of their session: their
// lines tell whose they are.
func TestLocateBesideTheSession(t *testing.T) {
	const id = "11111111-1111-4111-8111-111111111111"
	for line, want := range map[string]string{
		`{"isSidechain":true,"agentId":"a7","sessionId":"` + id + `","type":"user"}`: id,
		`{"type":"user"}`: "",
	} {
		f, told, err := Kind.Locate("/c/projects/-x/agent-a7.jsonl", func() ([]byte, error) { return []byte(line), nil })
		if err != nil || told != (want != "") || told && (f.Source != "subagent:a7" || f.Session != want || f.Project != "-x") {
			t.Errorf("%s: %+v, %v, %v", line, f, told, err)
		}
	}
}

// The usage of a message comes behind the last of its lines, however many they
// are, and before whatever follows; without anything that follows at the end.
func TestUsageBehindItsMessage(t *testing.T) {
	said := func(id, block string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","content":[` + block + `],"stop_reason":"end_turn","usage":{"output_tokens":5}}}`
	}
	const thought, word, call = `{"type":"thinking","thinking":"x"}`, `{"type":"text","text":"x"}`, `{"type":"tool_use","id":"t","name":"N"}`
	result := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}`
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"thought and said":    {[]string{said("a", thought), said("a", word)}, "thinking assistant_message token_usage"},
		"said twice":          {[]string{said("a", word), said("a", word), `{"type":"last-prompt"}`}, "assistant_message assistant_message token_usage unknown"},
		"two messages":        {[]string{said("a", word), said("b", word)}, "assistant_message token_usage assistant_message token_usage"},
		"a tool":              {[]string{said("a", word), said("a", call), result, said("b", word)}, "assistant_message tool_use token_usage tool_result assistant_message token_usage"},
		"a line that is none": {[]string{said("a", word), "no JSON"}, "assistant_message token_usage unknown"},
	} {
		m := NewMapper(Options{})
		var got []string
		for _, line := range c.lines {
			for _, it := range m.Map([]byte(line)) {
				got = append(got, string(it.Type))
			}
		}
		for _, it := range m.Flush() {
			got = append(got, string(it.Type))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// Further entries of a line name it: by its uuid, or by the hash of its bytes.
func TestEntriesNameTheirLine(t *testing.T) {
	const blocks = `"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}`
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(`{`+blocks)))
	for line, want := range map[string]string{
		`{"uuid":"u-1",` + blocks: `"u-1"`,
		`{` + blocks:              `"sha256:` + sum[:16] + `"`,
	} {
		items := NewMapper(Options{}).Map([]byte(line))
		if len(items) != 2 || string(jsontext.Get(items[1].Detail, "of")) != want {
			t.Errorf("%s: %+v, want %s", line, items, want)
		}
	}
}

// The scanner accepts what encoding/json accepts, and no object that it does
// not; whatever the line, its bytes come through.
func FuzzMap(f *testing.F) {
	for _, s := range []string{`{}`, `{"type":"user","message":{"content":"x"}}`, `{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"t"}],"usage":{}}}`,
		`{"message":{"content":[{}]},"content":[{"type":"text"}],"type":"user"}`, `{"a":"\u00e9\ud83d\ude00","type":"x"}`, `{"type":"user","message":{"content":[1,{"type":"text","text":"\"}]"}]}}`,
		`{"a":-0.5e+10,"b":[true,false,null]}`, `{"a":01}`, `{"a":1,}`, "{\"a\":\"\n\"}", `{"a":"unterminated`, `[]`, ` {"type" : "user" } `, "\xff", `{"isMeta":true,"type":"user"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		var s scanner
		var object map[string]json.RawMessage
		valid := json.Unmarshal(line, &object) == nil && object != nil
		if got := s.scan(line); got != valid {
			t.Fatalf("scan = %v, encoding/json says %v", got, valid)
		}
		items := NewMapper(Options{}).Map(line)
		if len(items) == 0 || !bytes.Equal(items[0].Raw, line) || items[0].Raw == nil {
			t.Fatalf("%q gives %+v", line, items)
		}
		for _, it := range items {
			if !it.Type.Valid() || !json.Valid(it.Detail) {
				t.Fatalf("%q gives %s %s", line, it.Type, it.Detail)
			}
		}
		if valid && !bytes.Contains(items[0].Detail, line) {
			t.Fatalf("%q is not in %s", line, items[0].Detail)
		}
	})
}

// A detail of a line that was read whole is not read again, unless putting the
// line into it may nest it deeper than JSON is read.
func TestCheckedUnlessDeep(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(`{"type":"user","a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) +
			`,"message":{"content":"hi"}}`)
	}
	for depth, want := range map[int]bool{1: true, 5000: true, jsontext.MaxDepth - 1: false} {
		items := NewMapper(Options{}).Map(nested(depth))
		if len(items) != 1 || items[0].Type != transcript.UserMessage || items[0].Checked != want {
			t.Errorf("nested %d deep: %d items, the first %s, checked %v",
				depth, len(items), items[0].Type, items[0].Checked)
		}
		if items[0].Checked && !jsontext.Valid(items[0].Detail) {
			t.Errorf("nested %d deep: its detail is no JSON, and said to be", depth)
		}
	}
}
