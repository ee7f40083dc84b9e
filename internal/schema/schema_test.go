package schema

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ schema, value, says string }{
		{`{}`, `[1,1e400]`, "[1]: expected integer or number of 64 bits, got 1e400"},
		{`{}`, `12345678901234567890`, ""},
		{`{"type":"integer"}`, `-1e3`, ""},
		{`{"type":"integer","maximum":9007199254740992}`, `9007199254740993`, "is greater than"},
		{`{"minimum":0.5}`, `0.25`, "the input: expected at least 0.5, got 0.25"},
		{`{"minimum":3}`, `"text"`, ""},
		{`{"const":{"a":[1,null]}}`, `{ "a" : [ 1.0 , null ] }`, ""},
		{`{"const":null}`, `false`, "expected one of null, got false"},
		{`{"enum":[1,"<b>"]}`, `"</b>"`, `expected one of 1, "<b>", got "</b>"`},
		{`{"type":"array","items":{"type":"array","items":{"type":"string"}}}`, `[[],["a",["b"]]]`, "[1][1]: expected string, got array"},
		{`{"additionalProperties":false}`, `{"a":1}`, `the key "a" is not known (known: none)`},
		{`{"additionalProperties":true,"properties":{"b":{"type":"object","required":["c"]}}}`, `{"a":1,"b":{}}`, `b: the key "c" is missing`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","title":"x","type":"string"}`, `"x"`, ""},
		{`{"maxLength":3,"pattern":"."}`, `""`, `"" does not match .`},
		{`{"enum":[]}`, `1`, "expected one of"},
	} {
		s, err := Compile([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		err = s.Check([]byte(c.value))
		if (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s in %s: %v, want %s", c.value, c.schema, err, c.says)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 40) + `{}` + strings.Repeat(`}`, 40)
	for schema, says := range map[string]string{
		``:                                      "no JSON",
		`{"type":1}`:                            "type",
		`{"$ref":"#"}`:                          "$ref: this keyword is not checked",
		`{"format":"date"}`:                     "format: this keyword is not checked",
		`{"properties":{"a":{"x":1}}}`:          "a: x: this keyword is not checked",
		`{"additionalProperties":{"not":{}}}`:   ".*: not: this keyword is not checked",
		`{"items":false}`:                       "items: not a JSON object",
		`{"minLength":"1"}`:                     `minLength: "1" is not what it takes`,
		`{"minLength":1.5}`:                     "integer",
		`{"enum":"a"}`:                          "enum",
		`{"properties":{"a":{"pattern":"[a"}}}`: "pattern",
		`{"required":["a"],"properties":{},"additionalProperties":false}`: `"a" is required and not allowed`,
		deep: "nested too deeply",
	} {
		if _, err := Compile([]byte(schema)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60s: %v, want %s", schema, err, says)
		}
	}
}

// Whatever is refused is explained by its place, not by the library's.
func FuzzCheck(f *testing.F) {
	const form = `{"type":["object","array","string","integer"],"minItems":2,"maxLength":3,"minimum":1,"maximum":9,
		"properties":{"a":{"enum":[1,"x"]},"b":{"type":"array","items":{"type":"number","maximum":4}}},
		"required":["a"],"additionalProperties":{"type":"string","pattern":"^[a-z]*$"},"items":{"type":["null","boolean"]}}`
	s, err := Compile([]byte(form))
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range []string{`{"a":1}`, `{"a":2}`, `{"b":[5]}`, `[null]`, `[1,2]`, `"long"`, `10`, `1.5`, `null`, `{"a":"x","c":"D"}`, `1e999`} {
		f.Add([]byte(v))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if err := s.Check(value); err != nil && strings.Contains(fmt.Sprint(err), "validating") {
			t.Errorf("%q: %v", value, err)
		}
	})
}
