package acp

import (
	"slices"
	"strings"
	"testing"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

func update(u string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":` + u + `}}`
}

func says(text string) string {
	return update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}`)
}

// told is what the lines say: type, and subtype, name or text.
func told(lines ...string) []string {
	m := Kind.NewMapper(kind.File{Kind: Kind, Source: transcript.Main}, kind.Options{})
	var items []transcript.Item
	for _, l := range lines {
		items = m.Append(items, []byte(l))
	}
	var out []string
	for _, it := range append(items, m.Flush()...) {
		d := jsontext.Members(it.Detail, "subtype", "name", "text")
		if what := jsontext.Text(d[0]); what == "delta" || what == "initialize" {
			continue
		}
		out = append(out, string(it.Type)+" "+jsontext.Text(d[0])+jsontext.Text(d[1])+jsontext.Text(d[2]))
	}
	return out
}

func TestMeaning(t *testing.T) {
	const prompt = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"S","prompt":[{"type":"text","text":"hi"}]}}`
	copilot := `{"jsonrpc":"2.0","id":1,"result":{"agentCapabilities":{},"agentInfo":{"name":"Copilot"}}}`
	counted := update(`{"sessionUpdate":"usage_update","used":1,"size":2}`)
	call := func(members string) string {
		return update(`{"sessionUpdate":"tool_call","toolCallId":"c","rawInput":{"a":1},` + members + `}`)
	}
	const room = `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[{"name":"room","type":"http"}]}}`
	for name, tt := range map[string]struct{ lines, want []string }{
		"what Copilot says of its own accord is not its model's": {
			[]string{copilot, prompt, says("Info: Disabled tools: edit"), counted, says("Info: all"), says(" is well.")},
			[]string{"user_message hi", "system_event notice", "system_event usage_update", "assistant_message Info: all is well."}},
		"others say what they like": {
			[]string{prompt, says("Info: all is well.")}, []string{"user_message hi", "assistant_message Info: all is well."}},
		"a cancellation cuts no word": {
			[]string{says("so f"), `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"S"}}`, says("ar")},
			[]string{"system_event interrupt", "assistant_message so far"}},
		"what is loaded was told before": {
			[]string{`{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"S"}}`, says("long ago"),
				`{"jsonrpc":"2.0","id":2,"result":{}}`, says("now")},
			[]string{"system_event session", "system_event replayed", "system_event answer", "assistant_message now"}},
		"a tool has the name that the agent tells": {[]string{call(`"kind":"execute","title":"ls","_meta":{"toolName":"bash"}`)}, []string{"tool_use bash"}},
		"or tells deeper":                          {[]string{call(`"kind":"other","title":"x y","_meta":{"z":{"toolName":"Read"}}`)}, []string{"tool_use Read"}},
		"or that of its kind":                      {[]string{call(`"kind":"execute","title":"ls"`)}, []string{"tool_use execute"}},
		"or of its title":                          {[]string{call(`"kind":"other","title":"room_submit"`)}, []string{"tool_use room_submit"}},
		"or of a server":                           {[]string{call(`"kind":"other","title":"submit (room MCP Server)"`)}, []string{"tool_use mcp__room__submit"}},
		"or of a server, whatever the kind": {
			[]string{room, call(`"kind":"edit","title":"room-update_state"`)}, []string{"system_event session", "tool_use room-update_state"}},
		"of that server, not of a name like it": {[]string{room, call(`"kind":"read","title":"roomy.md"`)},
			[]string{"system_event session", "tool_use read"}},
		"of one that is there": {[]string{room, call(`"kind":"edit","title":"house-rules.md"`)},
			[]string{"system_event session", "tool_use edit"}},
		"but no sentence is a name": {[]string{call(`"kind":"other","title":"look around"`)}, []string{"tool_use other"}},
	} {
		if got := told(tt.lines...); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
		}
	}
}
