package collect

import (
	"bytes"
	"encoding/json"
	"testing"

	"conclave/internal/jsontext"
)

// Whatever is quoted for the record is found again as it was.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{"", "a", `a"b\\c/`, "\n\t\r\b\f", "\x00\x1f", "日本\u2028🐉", `\u0041`, "\\"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		quoted, exact := jsontext.AppendString(nil, raw)
		got, err := unquote(nil, quoted)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil {
			t.Fatal(err)
		}
		if string(got) != want || exact && !bytes.Equal(got, raw) {
			t.Fatalf("%q is %q, want %q", quoted, got, want)
		}
	})
}
