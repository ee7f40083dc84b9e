package codex

import (
	"slices"
	"testing"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

func mapFile(lines ...string) ([]transcript.Item, *FileMapper) {
	f := new(FileMapper)
	var out []transcript.Item
	for _, l := range lines {
		out = append(out, f.Map([]byte(l))...)
	}
	return append(out, f.Flush()...), f
}

func TestFiles(t *testing.T) {
	user := `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`
	tests := []struct {
		name   string
		lines  []string
		want   string
		format Format
	}{
		{"each message once", []string{user, `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"hi"}]}}}`}, "user_message:hi", FormatRollout},
		{"the same message in two turns", []string{user, `{"type":"event_msg","payload":{"type":"task_started"}}`, user}, "user_message:hi user_message:hi", FormatRollout},
		{"an older file", []string{user, `{"type":"event_msg","payload":{"type":"user_message","message":"hi"}}`, `{"type":"event_msg","payload":{"type":"agent_message","message":"ho"}}`, `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5,"output_tokens":1},"last_token_usage":{"input_tokens":5,"output_tokens":1}}}}`}, "user_message:hi assistant_message:ho token_usage", FormatRollout},
		{"what the program says in the person's name", []string{
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"whatever"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["new.kind"]}}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<b>bold</b>, says the person"}]}}`,
		}, "user_message:<b>bold</b>, says the person", FormatRollout},
		{"a call and its output", []string{
			`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c"}}`,
			`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c","status":"failed"}}}`,
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"no"}}`,
		}, "tool_use tool_result", FormatRollout},
		{"a call that only an item tells", []string{`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"exec-1"}}}`, `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"exec-1"}}}`}, "tool_use tool_result", FormatRollout},
		{"a failed turn", []string{`{"type":"event_msg","payload":{"type":"error","message":"no"}}`, `{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"no"}}}`}, "error(error)", FormatRollout},
		{"things not known", []string{`{"type":"new_line","payload":{}}`, `{"type":"event_msg","payload":{"type":"new_event"}}`, `{"type":"response_item","payload":{"type":"new_item"}}`, "cut of"}, "unknown unknown unknown unknown(not_json)", FormatRollout},

		{"exec: a failed turn", []string{`{"type":"turn.started"}`, `{"type":"error","message":"Reconnecting... 1/5"}`, `{"type":"error","message":"no"}`, `{"type":"turn.failed","error":{"message":"no"}}`}, "error(retry) error(turn_failed)", FormatExec},
		{"exec: an error at the end", []string{`{"type":"thread.started","thread_id":"T"}`, `{"type":"error","message":"no"}`}, "error(error)", FormatExec},
		{"exec: an id twice", []string{`{"type":"item.started","item":{"id":"ws_1","type":"web_search","id":"item_1"}}`, `{"type":"item.completed","item":{"id":"ws_1","type":"web_search","id":"item_1"}}`}, "tool_use(web_search) tool_result(web_search)", FormatExec},
		{"exec: progress", []string{`{"type":"item.started","item":{"id":"1","type":"command_execution"}}`, `{"type":"item.updated","item":{"id":"1","type":"command_execution"}}`, `{"type":"item.completed","item":{"id":"1","type":"command_execution","status":"failed"}}`}, "tool_use(command_execution) tool_result(command_execution)", FormatExec},

		{"what was sent", []string{`{"id":1,"method":"initialize","params":{}}`, `{"id":3,"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":"hi"}]}}`}, "user_message:hi", FormatClient},
		{"the format is known late", []string{"a banner", `{"type":"thread.started","thread_id":"T"}`, `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"ho"}}`}, "unknown(not_json) assistant_message:ho", FormatExec},
		{"another protocol", []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`}, "unknown", FormatUnknown},
		{"no format at all", []string{`{"some":"thing"}`, `7`}, "unknown unknown", FormatUnknown},
	}
	for _, tt := range tests {
		items, f := mapFile(tt.lines...)
		if got := tell(items); got != tt.want {
			t.Errorf("%s: %q\nwant %q", tt.name, got, tt.want)
		}
		if f.Format() != tt.format {
			t.Errorf("%s: format %q, want %q", tt.name, f.Format(), tt.format)
		}
		accountedFor(t, tt.name, tt.lines, items)
	}
}

// A failure is said by the item, and belongs on the result.
func TestRolloutResultKnowsOfFailure(t *testing.T) {
	items, _ := mapFile(
		`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c"}}`,
		`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c","status":"failed"}}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"no"}}`)
	last := items[len(items)-1]
	if string(jsontext.Get(last.Detail, "is_error")) != "true" || jsontext.Text(jsontext.Get(last.Detail, "name")) != "exec_command" {
		t.Errorf("result %s", last.Detail)
	}
}

func TestFileNamesWhatItDidNotKnow(t *testing.T) {
	_, f := mapFile(`{"type":"session_meta","payload":{}}`, `{"type":"new_line","payload":{}}`, `{"type":"new_line","payload":{}}`)
	if got := f.Unrecognised(); !slices.Equal(got, []string{"line type new_line"}) {
		t.Errorf("unrecognised %q", got)
	}
}
