package structured

import (
	"strings"
	"testing"

	"conclave/agent"
)

func compile(t *testing.T, form string) *Form {
	t.Helper()
	s, err := Of(agent.Message{Schema: []byte(form)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStructured(t *testing.T) {
	form := compile(t, `{"type":"object","required":["n"],"properties":{"n":{"type":["integer","null"]},"tags":{"type":"array","items":{"type":"string"}},"k":{"const":1},"f":{"type":"number"},"b":{"type":"boolean"}}}`)
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
		if got := string(form.Find(text)); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

// What the form asks for is checked, all of it, or the answer is none.
func TestStructuredFailsClosed(t *testing.T) {
	for form, answer := range map[string]string{
		`{"type":"object","properties":{"n":{"type":"integer","minimum":3}}}`:      `{"n":2}`,
		`{"type":"object","properties":{"n":{"type":"integer","maximum":3}}}`:      `{"n":4}`,
		`{"type":"object","properties":{"s":{"type":"string","pattern":"^a"}}}`:    `{"s":"b"}`,
		`{"type":"object","properties":{"s":{"minLength":2}}}`:                     `{"s":"b"}`,
		`{"type":"object","properties":{"l":{"type":"array","maxItems":1}}}`:       `{"l":[1,2]}`,
		`{"type":"object","additionalProperties":{"type":"string"}}`:               `{"l":1}`,
		`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`: `{"n":1,"n":"x"}`,
	} {
		if got := compile(t, form).Find(answer); got != nil {
			t.Errorf("%s gives %s, which does not fit %s", answer, got, form)
		}
	}
}

// A form that nothing can be held to is its maker's fault, and is said before
// anything is asked.
func TestFormsAreReadAtTheStart(t *testing.T) {
	for form, says := range map[string]string{
		`no json`:                    "no JSON",
		``:                           "no JSON",
		`true`:                       "not a JSON object",
		`{"type":"text"}`:            `"text" is no type`,
		`{"required":"n"}`:           "required",
		`{"properties":{"n":1}}`:     "n",
		`{"anyOf":[{},{}]}`:          "anyOf: this keyword is not checked",
		`{"type":"string","If":{}}`:  "If: this keyword is not checked",
		`{"items":{"pattern":"("}}`:  "pattern",
		`{"items":{"minItems":"1"}}`: "minItems",
	} {
		_, err := Of(agent.Message{Schema: []byte(form)})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "the schema") {
			t.Errorf("%s: %v, want %s", form, err, says)
		}
	}
	if form, err := Of(agent.Message{}); form != nil || err != nil {
		t.Errorf("%v, %v", form, err)
	}
}

// What is wrong is said by its place, and the form is asked for again.
func TestCorrection(t *testing.T) {
	form := compile(t, `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)
	for text, says := range map[string]string{
		"I would rather not.":              "there is no JSON value in it",
		`{"n":"one"}`:                      "n",
		"Look:\n```json\n{\"m\":1}\n```\n": "n",
	} {
		got := form.Correction(text)
		if !strings.Contains(got, says) || !strings.HasSuffix(got, form.Request()) {
			t.Errorf("%q: %s", text, got)
		}
	}
}
