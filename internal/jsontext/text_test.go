package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzAppendText: what encoding/json reads is what this reads.
func FuzzAppendText(f *testing.F) {
	for _, s := range []string{`"a\n\"b\"\\"`, `"\u00e9\ud83d\udc09\ud83d x"`, `"\/\b\f\r\t"`, `""`, `"\udc00\u0041"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want string
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		text = strings.TrimSpace(text)
		if text == "null" {
			return
		}
		if got := string(AppendText(nil, []byte(text))); got != want {
			t.Fatalf("%s: %q, want %q", text, got, want)
		}
	})
}
