package gateway

import (
	"bytes"
	"strings"
	"testing"

	"conclave/internal/jsontext"
)

// The cursor steps over exactly one value, whatever it is, and judges every
// message that is JSON without getting stuck.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e3,true,null,"x\\\"y","\\\\"],"b":{}}`, `[]`, `"\\"`, ` 12 `, `[[[]],{"type":"url","url":"http://x"}]`,
		`[{"content":[{"type":"image","source":{"type":"url","url":"http://x"}}]}]`, `{"input":{"url":"x"},"file_id":"f"}`,
		`{"parts":[{"fileData":{"file_uri":"gs://x"}}]}`, `{"audio":{"id":"a"},"file_data":"https:\u002f/x","uuid":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !jsontext.Valid(b) {
			return
		}
		c := cursor{api: messagesAPI, b: b}
		if got, want := c.skip(), bytes.Trim(b, " \t\r\n"); !bytes.Equal(got, want) {
			t.Fatalf("stepped over %q of %q", got, want)
		}
		for _, a := range apis {
			c = cursor{api: a, b: b}
			if c.content(0) == nil && len(bytes.Trim(c.b[c.i:], " \t\r\n")) > 0 {
				t.Errorf("%s: stopped at %d of %q", a.kind, c.i, b)
			}
		}
	})
}

// A source is found however the conversation around it looks.
func TestCursorFindsSources(t *testing.T) {
	const source = `{"type":"image","source":{"type":"url","url":"http://x"}}`
	n := 0
	for _, before := range []string{``, `{"type":"text","text":"a \"quoted\" {[ \\"},`, `{"type":"tool_use","input":{"url":"http://y"}},`, `[],{},null,-1.5,true,`} {
		for _, after := range []string{``, `,"x"`, ` , { } `} {
			for depth := range 20 {
				n++
				c := cursor{api: messagesAPI, b: []byte(strings.Repeat(`[{"content":`, depth) + `[` + before + source + after + `]` + strings.Repeat(`}]`, depth))}
				if err := c.content(0); err == nil || !strings.Contains(err.Error(), "http://x") {
					t.Errorf("%s: %v", c.b, err)
				}
			}
		}
	}
	if n == 0 {
		t.Fatal("no cases")
	}
}
