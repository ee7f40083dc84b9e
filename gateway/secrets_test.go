package gateway

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const lentToken = "sk-ant-oat01-AbCdEf0123456789"

func TestSecretsAreCleaned(t *testing.T) {
	s := NewSecrets(lentToken, "another-secret-of-it", "short")
	b64 := base64.StdEncoding.EncodeToString([]byte("x" + lentToken))
	for _, c := range []struct{ text, want string }{
		{`nothing`, `nothing`},
		{`it is short`, `it is short`},
		{`it is ` + lentToken + `!`, `it is [withheld]!`},
		{`{"a":"` + lentToken + `","b":[1,"another-secret-of-it"]}`, `{"a":"[withheld]","b":[1,"[withheld]"]}`},
		{`{"n":12345678901234567890,"a":"see ` + b64 + `","b":"kept"}`, `{"a":"[withheld]","b":"kept","n":12345678901234567890}`},
		{`{"` + hex.EncodeToString([]byte(lentToken)) + `":1,"b":"kept"}`, `{"b":"kept"}`},
		{b64, withheldText},
		{`{"a":"` + b64 + `"} and ` + b64, withheldText},
		{`{"a":"` + b64, withheldText},
	} {
		if got := string(s.Clean([]byte(c.text))); got != c.want {
			t.Errorf("%s\nbecomes %s\nnot     %s", c.text, got, c.want)
		}
	}
	var none *Secrets
	if none.In([]byte(lentToken)) || string(none.Clean([]byte("x"))) != "x" || NewSecrets("short") != nil {
		t.Error("nobody's secret was found")
	}
}

// Whatever is cleaned holds nothing, and a JSON object stays one.
func TestCleanHoldsNothing(t *testing.T) {
	s := NewSecrets(lentToken)
	forms := []string{
		lentToken, hex.EncodeToString([]byte(lentToken)), base64.URLEncoding.EncodeToString([]byte(lentToken)),
		base64.StdEncoding.EncodeToString([]byte("ab" + lentToken)), url.QueryEscape(strings.ReplaceAll(lentToken, "-", "%2D")),
		strings.ReplaceAll(lentToken, "-", `\u002d`),
	}
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{}
		for range rapid.IntRange(1, 4).Draw(t, "members") {
			text := rapid.String().Draw(t, "before") + rapid.SampledFrom(forms).Draw(t, "form") + rapid.String().Draw(t, "after")
			switch rapid.IntRange(0, 2).Draw(t, "where") {
			case 0:
				value[rapid.StringN(1, 5, -1).Draw(t, "key")] = text
			case 1:
				value[text] = true
			default:
				value["list"] = []any{1, text, nil}
			}
		}
		b, err := json.Marshal(value)
		if err != nil {
			t.Skip()
		}
		clean := s.Clean(b)
		if s.In(clean) || json.Unmarshal(clean, &map[string]any{}) != nil {
			t.Fatalf("%s\nbecomes %s", b, clean)
		}
	})
}
