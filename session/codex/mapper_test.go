package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// mapLines maps lines of a conversation: those that begin with "> " were sent
// to the program.
func mapLines(lines ...string) ([]transcript.Item, *Mapper) {
	m := new(Mapper)
	var out []transcript.Item
	for _, l := range lines {
		if sent, ok := strings.CutPrefix(l, "> "); ok {
			out = append(out, m.Client([]byte(sent))...)
		} else {
			out = append(out, m.Server([]byte(l))...)
		}
	}
	return append(out, m.Flush()...), m
}

// tell is the story without the life cycle.
func tell(items []transcript.Item) string {
	var out []string
	for _, i := range items {
		if i.Type == transcript.SystemEvent {
			continue
		}
		s := string(i.Type)
		if sub := jsontext.Text(jsontext.Get(i.Detail, "subtype")); sub != "" {
			s += "(" + sub + ")"
		}
		if text := jsontext.Text(jsontext.Get(i.Detail, "text")); text != "" {
			s += ":" + text
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// Short lines of the program, of thread T and turn U.
func started(kind, id, more string) string {
	return item("item/started", kind, id, more)
}

func completed(kind, id, more string) string {
	return item("item/completed", kind, id, more)
}

func item(method, kind, id, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"method":%q,"params":{"threadId":"T","turnId":"U","item":{"type":%q,"id":%q%s}}}`, method, kind, id, more)
}

func delta(id, text string) string {
	return fmt.Sprintf(`{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"U","itemId":%q,"delta":%q}}`, id, text)
}

func total(input, last int) string {
	return fmt.Sprintf(`{"method":"thread/tokenUsage/updated","params":{"threadId":"T","turnId":"U","tokenUsage":{"total":{"inputTokens":%d,"outputTokens":1},"last":{"inputTokens":%d,"outputTokens":1}}}}`, input, last)
}

const (
	begin      = `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}`
	end        = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"completed"}}}`
	failedEnd  = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"no"}}}}`
	broken     = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"interrupted","error":null}}}`
	retry      = `{"method":"error","params":{"threadId":"T","turnId":"U","error":{"message":"Reconnecting... 1/5"},"willRetry":true}}`
	finalError = `{"method":"error","params":{"threadId":"T","turnId":"U","error":{"message":"no"},"willRetry":false}}`
	ask1       = `> {"id":3,"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"hi"}]}}`
)

func TestMapping(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		// Seed 004's own table.
		{"prompt", []string{ask1}, "user_message:hi"},
		{"message", []string{begin, started("agentMessage", "m", ""), delta("m", "a"), completed("agentMessage", "m", `"text":"ab"`), end}, "assistant_message:ab"},
		{"command", []string{started("commandExecution", "c", ""), completed("commandExecution", "c", `"status":"completed"`)}, "tool_use(commandExecution) tool_result(commandExecution)"},
		{"web search", []string{started("webSearch", "w", ""), completed("webSearch", "w", "")}, "tool_use(webSearch) tool_result(webSearch)"},
		{"reasoning, as the seed names it", []string{`{"method":"item/reasoning/completed","params":{"threadId":"T","summary":["x","y"]}}`}, "thinking:x\n\ny"},
		{"reasoning, as it is", []string{completed("reasoning", "r", `"summary":[],"content":["raw"]`)}, "thinking:raw"},
		{"usage alone", []string{total(10, 10)}, "token_usage"},
		{"failed turn", []string{failedEnd}, "error(turn_failed)"},
		{"other methods", []string{`{"method":"item/never/seen","params":{}}`, `{"method":"turn/never/seen","params":{}}`}, "unknown unknown"},
		{"other items", []string{started("neverSeen", "x", ""), completed("neverSeen", "x", "")}, "unknown unknown"},

		// The corrections.
		{"echo", []string{ask1, begin, started("userMessage", "u", `"content":[{"type":"text","text":"hi"}]`), completed("userMessage", "u", `"content":[{"type":"text","text":"hi"}]`), end}, "user_message:hi"},
		{"a message that nobody of ours sent", []string{ask1, started("userMessage", "u", `"content":[{"type":"text","text":"ho"}]`), completed("userMessage", "u", `"content":[{"type":"text","text":"ho"}]`)}, "user_message:hi user_message:ho"},
		{"only the end of a message was seen", []string{completed("userMessage", "u", `"content":[{"type":"text","text":"ho"}]`)}, "user_message:ho"},
		{"cut short", []string{begin, started("agentMessage", "m", ""), delta("m", "half "), delta("m", "a \"th"), broken}, "assistant_message:half a \"th"},
		{"nothing was said before the cut", []string{begin, started("agentMessage", "m", ""), broken}, ""},
		{"the end was never seen", []string{begin, delta("m", "half")}, "assistant_message:half"},
		{"steered", []string{begin, started("agentMessage", "m", ""), delta("m", "half"), started("userMessage", "u", `"content":[{"type":"text","text":"stop"}]`), completed("agentMessage", "n", `"text":"ok"`), end}, "assistant_message:half user_message:stop assistant_message:ok"},
		{"retry in the middle", []string{begin, started("agentMessage", "m", ""), delta("m", "ha"), retry, started("agentMessage", "n", ""), completed("agentMessage", "n", `"text":"half"`), total(10, 10), end}, "error(retry) assistant_message:half token_usage"},
		{"retry after the text", []string{begin, completed("agentMessage", "m", `"text":"half"`), retry, completed("agentMessage", "n", `"text":"whole"`), total(10, 10), end}, "error(retry) assistant_message:whole token_usage"},
		{"retry after a repeated count", []string{begin, total(5, 5), completed("agentMessage", "m", `"text":"half"`), total(5, 5), retry, completed("agentMessage", "n", `"text":"whole"`), total(15, 10), end}, "token_usage error(retry) assistant_message:whole token_usage"},
		{"thinking said again", []string{begin, completed("reasoning", "r", `"summary":["t"]`), started("agentMessage", "m", ""), retry, completed("reasoning", "s", `"summary":["t"]`), completed("agentMessage", "n", `"text":"x"`), total(1, 1), end}, "thinking:t error(retry) assistant_message:x token_usage"},
		{"the same twice is no retry", []string{begin, completed("agentMessage", "m", `"text":"x"`), completed("agentMessage", "n", `"text":"x"`), end}, "assistant_message:x assistant_message:x"},
		{"the end of a message without its text", []string{begin, started("agentMessage", "m", ""), delta("m", "a"), delta("m", "b"), completed("agentMessage", "m", `"text":""`), end}, "assistant_message:ab"},
		{"no attempt came to its end", []string{begin, completed("agentMessage", "m", `"text":"half"`), retry, completed("agentMessage", "n", `"text":"whole"`), finalError, failedEnd}, "error(retry) assistant_message:whole assistant_message:half error(turn_failed)"},
		{"and they said the same", []string{begin, completed("agentMessage", "m", `"text":"half"`), retry, completed("agentMessage", "n", `"text":"half"`), finalError, failedEnd}, "error(retry) assistant_message:half error(turn_failed)"},
		{"one error, not two", []string{begin, finalError, failedEnd}, "error(turn_failed)"},
		{"an error outside of turns", []string{finalError}, "error(error)"},
		{"an error and no end", []string{begin, finalError}, "error(error)"},
		{"an error that was not final", []string{begin, finalError, end}, "error(error)"},
		{"totals, not parts", []string{begin, total(10, 10), total(10, 10), total(30, 20)}, "token_usage token_usage"},
		{"the count begins again", []string{begin, total(30, 30), total(10, 10)}, "token_usage token_usage"},
		{"a dynamic tool once", []string{started("dynamicToolCall", "c", `"tool":"x"`), `{"method":"item/tool/call","id":0,"params":{"threadId":"T","callId":"c","tool":"x"}}`, `> {"id":0,"result":{"success":true}}`, completed("dynamicToolCall", "c", `"tool":"x","success":true`)}, "tool_use(dynamicToolCall) tool_result(dynamicToolCall)"},
		{"a dynamic tool without items", []string{`{"method":"item/tool/call","id":0,"params":{"threadId":"T","callId":"c","tool":"x"}}`, `> {"id":0,"result":{"success":false}}`}, "tool_use(dynamicToolCall) tool_result(dynamicToolCall)"},
		{"a dynamic tool whose item comes later", []string{`{"method":"item/tool/call","id":0,"params":{"threadId":"T","callId":"c","tool":"x"}}`, started("dynamicToolCall", "c", `"tool":"x"`), `> {"id":0,"result":{"success":true}}`, completed("dynamicToolCall", "c", `"tool":"x"`)}, "tool_use(dynamicToolCall) tool_result(dynamicToolCall)"},
		{"only the end of a tool was seen", []string{completed("commandExecution", "c", "")}, "tool_use(commandExecution) tool_result(commandExecution)"},
		{"a refused request", []string{`> {"id":9,"method":"thread/start","params":{}}`, `{"id":9,"error":{"code":1,"message":"no"}}`}, "error(request_refused)"},
		{"nonsense", []string{"", "not JSON", `[1]`, `{"id":1}`, "> also not"}, "unknown(not_json) unknown(not_json) unknown(not_json) unknown unknown(not_json)"},
	}
	for _, tt := range tests {
		items, _ := mapLines(tt.lines...)
		if got := tell(items); got != tt.want {
			t.Errorf("%s: %q\nwant %q", tt.name, got, tt.want)
		}
		accountedFor(t, tt.name, tt.lines, items)
	}
}

// accountedFor checks that each line is the raw of exactly one item, in order.
func accountedFor(t *testing.T, name string, lines []string, items []transcript.Item) {
	t.Helper()
	var raws []string
	for _, i := range items {
		if i.Raw != nil {
			raws = append(raws, string(i.Raw))
		}
		if !json.Valid(i.Detail) {
			t.Errorf("%s: detail %s", name, i.Detail)
		}
	}
	var want []string
	for _, l := range lines {
		want = append(want, strings.TrimPrefix(l, "> "))
	}
	if !slices.Equal(raws, want) {
		t.Errorf("%s: raw lines\n%q\nwant\n%q", name, raws, want)
	}
}

func TestUnrecognisedIsNamedOnce(t *testing.T) {
	_, m := mapLines(`{"method":"new/thing","params":{}}`, `{"method":"new/thing","params":{}}`,
		completed("newItem", "x", ""), `{"method":"new/ask","id":1,"params":{}}`)
	if got, want := m.Unrecognised(), []string{"new/thing", "item type newItem", "new/ask"}; !slices.Equal(got, want) {
		t.Errorf("unrecognised %q, want %q", got, want)
	}
}

func TestGrandchildrenHaveTheirOwnParent(t *testing.T) {
	spawn := func(from, to string) string {
		return fmt.Sprintf(`{"method":"item/completed","params":{"threadId":%q,"turnId":"U","item":{"type":"collabAgentToolCall","id":"s%s","tool":"spawnAgent","senderThreadId":%q,"receiverThreadIds":[%q]}}}`, from, to, from, to)
	}
	turn := func(thread, turn string) string {
		return fmt.Sprintf(`{"method":"turn/started","params":{"threadId":%q,"turn":{"id":%q,"rootTurnId":"U"}}}`, thread, turn)
	}
	items, _ := mapLines(begin, spawn("T", "A"), turn("A", "UA"), spawn("A", "B"), turn("B", "UB"), turn("C", "UC"))
	want := map[string]string{"T": "", "A": "T", "B": "A", "C": "T"} // of C no more is known than the root
	for _, i := range items {
		id := jsontext.Text(jsontext.Get(i.Detail, "thread_id"))
		if p := jsontext.Text(jsontext.Get(i.Detail, "parent_thread_id")); p != want[id] {
			t.Errorf("the parent of %s is %q, want %q", id, p, want[id])
		}
	}
}

// What a mapper keeps is its own: the caller may use the line's memory again.
func TestLinesAreNotKept(t *testing.T) {
	for _, c := range captures(t) {
		want, _ := mapCapture(c)
		var got []transcript.Item
		var server Mapper
		var file FileMapper
		buf := make([]byte, 0, 1<<20)
		both := c.lines[0].client
		for _, d := range c.lines {
			buf = append(buf[:0], d.line...)
			var items []transcript.Item
			switch {
			case d.client:
				items = server.Client(buf)
			case both:
				items = server.Server(buf)
			default:
				items = file.Map(buf)
			}
			for _, i := range items {
				i.Raw, i.Detail = bytes.Clone(i.Raw), bytes.Clone(i.Detail)
				got = append(got, i)
			}
			for i := range buf {
				buf[i] = '#'
			}
		}
		got = append(append(got, server.Flush()...), file.Flush()...)
		if len(got) != len(want) {
			t.Fatalf("%s: %d items, want %d", c.name, len(got), len(want))
		}
		for i := range got {
			if got[i].Type != want[i].Type || !bytes.Equal(got[i].Detail, want[i].Detail) || !bytes.Equal(got[i].Raw, want[i].Raw) {
				t.Errorf("%s: item %d is\n%s\nwant\n%s", c.name, i, got[i].Detail, want[i].Detail)
				break
			}
		}
	}
}

// Whatever comes, every line is on exactly one entry, in order, and every
// detail is JSON.
func FuzzMapper(f *testing.F) {
	f.Add([]byte(strings.Join([]string{begin, ask1, started("agentMessage", "m", ""), delta("m", "x"), completed("agentMessage", "m", `"text":"x"`), total(1, 1), end}, "\n")))
	f.Add([]byte(strings.Join([]string{begin, retry, finalError, failedEnd, "nonsense", ""}, "\n")))
	f.Add([]byte(`{"method":"rawResponseItem/completed","params":{"threadId":"T","item":{"type":"function_call_output","call_id":"c","output":7}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Split(string(data), "\n")
		items, _ := mapLines(lines...)
		accountedFor(t, "fuzz", lines, items)
	})
}

// The same for the files of the program.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"type":"session_meta","payload":{"id":"T"}}` + "\n" + `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"hi"}]}}` + "\n" + `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"text":"hi"}]}}}`))
	f.Add([]byte(`{"type":"thread.started","thread_id":"T"}` + "\n" + `{"type":"item.completed","item":{"id":"a","id":"b","type":"web_search"}}` + "\n" + `{"type":"error","message":"x"}`))
	f.Add([]byte("nonsense\n" + begin))
	f.Fuzz(func(t *testing.T, data []byte) {
		var file FileMapper
		var items []transcript.Item
		lines := strings.Split(string(data), "\n")
		for _, l := range lines {
			items = append(items, file.Map([]byte(l))...)
		}
		items = append(items, file.Flush()...)
		for i := range lines {
			lines[i] = "> " + lines[i] // accountedFor takes it off
		}
		accountedFor(t, "fuzz", lines, items)
	})
}

// What a response took is of a model, or nobody could say what it cost: the one that
// its thread has, until the program takes another.
func TestResponsesNameTheirModel(t *testing.T) {
	models := func(items []transcript.Item) (out []string) {
		for _, i := range items {
			if i.Type == transcript.TokenUsage {
				out = append(out, jsontext.Text(jsontext.Get(i.Detail, "model")))
			}
		}
		return out
	}
	told := 0
	for _, c := range captures(t) {
		if len(c.lines) == 0 || !c.lines[0].client {
			continue
		}
		items, _ := mapCapture(c)
		for _, model := range models(items) {
			if told++; model != "mock-model" {
				t.Errorf("%s: a response is of the model %q", c.name, model)
			}
		}
	}
	if told < 10 {
		t.Errorf("only %d responses were seen", told)
	}
	items, _ := mapLines(`{"method":"thread/started","params":{"thread":{"id":"T","model":"first"}}}`, begin, total(10, 10),
		`{"method":"model/rerouted","params":{"threadId":"T","turnId":"U","fromModel":"first","toModel":"second","reason":"x"}}`,
		total(30, 20), `{"method":"thread/started","params":{"thread":{"id":"T"}}}`, total(40, 10))
	if got := strings.Join(models(items), " "); got != "first second second" {
		t.Errorf("the responses are of %s", got)
	}
}
