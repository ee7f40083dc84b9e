package opencode

import (
	"fmt"
	"strings"
	"testing"

	"conclave/session/kind"
	"conclave/transcript"
)

// A row that is written again and again is told once, when it is whole, and in its
// order; what never ends is told at the end, and called partial.
func TestRowsThatGrow(t *testing.T) {
	t.Parallel()
	part := func(id, data string) string {
		return fmt.Sprintf(`{"from":"opencode","table":"part","key":%q,"session":"s","about":{"role":"assistant","model":"m"},`+
			`"row":{"id":%q,"message_id":"msg","data":%s}}`, id, id, data)
	}
	tool := func(state string) string {
		return part("p2", `{"type":"tool","callID":"c","tool":"bash","state":`+state+`}`)
	}
	m := Kind.NewMapper(kind.File{Source: transcript.Main, Kind: Kind}, kind.Options{})
	var got []string
	tell := func(items []transcript.Item) {
		for i, it := range items {
			got = append(got, fmt.Sprintf("%s %s %s", it.Type, m.Facts(i).Subtype, m.Words(nil, i)))
			if strings.Contains(string(it.Detail), `"partial":true`) {
				got = append(got, "partial")
			}
		}
	}
	for _, line := range []string{
		part("p1", `{"type":"text","text":"","time":{"start":1}}`),
		part("p1", `{"type":"text","text":"Hel","time":{"start":1}}`),
		part("p1", `{"type":"text","text":"Hello","time":{"start":1,"end":2}}`),
		tool(`{"status":"pending","input":{},"raw":""}`),
		tool(`{"status":"running","input":{"command":"ls"}}`),
		tool(`{"status":"completed","input":{"command":"ls"},"output":"notes"}`),
		tool(`{"status":"completed","input":{"command":"ls"},"output":"notes","title":"later"}`),
		part("p3", `{"type":"step-finish","tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}`),
		`{"from":"opencode","table":"part","key":"p3","session":"s","row":null}`,
		part("p4", `{"type":"reasoning","text":"Half a","time":{"start":3}}`),
	} {
		tell(m.Append(nil, []byte(line)))
	}
	tell(m.Flush())
	tell(m.Flush())
	want := []string{
		"system_event unfinished ", "system_event unfinished ", "assistant_message  Hello",
		"system_event unfinished ", "tool_use  command: ls",
		"system_event repeated ", "tool_result  notes", "system_event repeated ",
		"token_usage  ", "system_event gone ", "system_event unfinished ",
		"thinking  Half a", "partial",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
