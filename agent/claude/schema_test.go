package claude

import (
	"encoding/json"
	"testing"
)

func TestStructured(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":["integer","null"]},"tags":{"type":"array","items":{"type":"string"}},"k":{"const":1},"f":{"type":"number"},"b":{"type":"boolean"}}}`)
	for text, want := range map[string]string{
		`{"n": 1}`:                                  `{"n":1}`,
		"Here:\n```json\n{\"n\":null}\n```\n":       `{"n":null}`,
		"```\nno\n```\n```\n{\"n\":3}\n```":         `{"n":3}`,
		"Well.\n{\"n\":2,\n\"x\":1}":                `{"n":2,"x":1}`,
		`{"n":1,"f":2,"b":true,"k":1,"tags":["a"]}`: `{"n":1,"f":2,"b":true,"k":1,"tags":["a"]}`,
		`{"n":1.5}`:                                 "",
		`{"n":1,"tags":["a",2]}`:                    "",
		`{"n":1,"k":2}`:                             "",
		`{"m":1}`:                                   "",
		`[1]`:                                       "",
		`no`:                                        "",
		"```{\"n\":1":                               "",
	} {
		if got := string(structured(schema, text)); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
