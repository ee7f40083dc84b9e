package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

var samples = []string{
	`{}`, `[]`, `""`, `0`, `-0.5e+10`, `true`, `null`, ` {"a" : [1, {"b":"c\"\\\u00e9"}] } `,
	"{\"line\":\"\u2028 and \u0085 and 🐉\"}", `{"a":1,"a":2}`, `"\ud83d\ude00"`, `"\ud800"`,
	``, `{`, `{"a"}`, `[1,]`, `{"a":1,}`, `01`, `1.`, `-`, `"\x"`, `"\u12g4"`, "\"\n\"", `tru`, `{} x`, `"unterminated`,
	"\"\x80 bad utf8\"", strings.Repeat("[", 500) + strings.Repeat("]", 500),
	`"` + strings.Repeat("plain text without anything ", 20) + `"`,
}

func FuzzValidAgreesWithTheStandardLibrary(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := Valid(b), json.Valid(b); got != want {
			t.Fatalf("Valid(%q) = %v, encoding/json says %v", b, got, want)
		}
	})
}

func FuzzStringRoundTrip(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Add([]byte("\x00\x1f\x7f\"\\\n\t\r\u2028\xff\xfe"))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, exact := AppendString(nil, b)
		if exact != utf8.Valid(b) {
			t.Fatalf("exact = %v for %q", exact, b)
		}
		if !json.Valid(q) || !Valid(q) {
			t.Fatalf("AppendString(%q) = %q is no JSON", b, q)
		}
		var viaStd string
		if err := json.Unmarshal(q, &viaStd); err != nil {
			t.Fatal(err)
		}
		got, ok := String(q)
		if !ok || got != viaStd {
			t.Fatalf("String(%q) = %q, %v; encoding/json says %q", q, got, ok, viaStd)
		}
		if text := string(AppendText([]byte("x"), q)); text != "x"+viaStd {
			t.Fatalf("AppendText(%q) = %q", q, text)
		}
		if exact && got != string(b) {
			t.Fatalf("%q came back as %q", b, got)
		}
		if bytes.ContainsAny(q, "\n\r") {
			t.Fatalf("a line break survived in %q", q)
		}
	})
}

func FuzzWalkAgreesWithTheStandardLibrary(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want map[string]json.RawMessage
		stdErr := json.Unmarshal(b, &want)
		got := map[string]json.RawMessage{}
		err := Walk(b, func(key, value []byte) error {
			name, ok := String(append(append([]byte{'"'}, key...), '"'))
			if !ok {
				t.Fatalf("key %q cannot be read", key)
			}
			got[name] = value
			return nil
		})
		if want == nil {
			if err == nil {
				t.Fatalf("Walk accepts %q, encoding/json does not: %v", b, stdErr)
			}
			return
		}
		if stdErr == nil && err != nil {
			t.Fatalf("Walk(%q): %v", b, err)
		}
		for k, v := range want {
			if stdErr == nil && !bytes.Equal(got[k], v) {
				t.Fatalf("%q: key %q = %q, want %q", b, k, got[k], v)
			}
		}
	})
}

func TestElementsAndGet(t *testing.T) {
	var got []string
	if err := Elements([]byte(` [1, "two" ,{"three":3}, []]`), func(v []byte) error {
		got = append(got, string(v))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := `1|"two"|{"three":3}|[]`; strings.Join(got, "|") != want {
		t.Errorf("elements = %q, want %q", got, want)
	}
	doc := []byte(`{"a":{"b":1,"b":2},"c":[]}`)
	if v := Get(doc, "a", "b"); string(v) != "2" {
		t.Errorf(`Get("a","b") = %q, want the last one, 2`, v)
	}
	if v := Get(doc, "a", "x"); v != nil {
		t.Errorf("a missing value is %q, want nil", v)
	}
	if v := Get(doc, "c", "x"); v != nil {
		t.Errorf("a member of an array is %q, want nil", v)
	}
}

// FuzzObjectAgreesWithWalk: an object taken member by member is the same as the
// object walked through.
func FuzzObjectAgreesWithWalk(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want, got []string
		walkErr := Walk(b, func(key, value []byte) error {
			want = append(want, string(key)+"="+string(value))
			return nil
		})
		ok := Object(b, func(key []byte, at int) int {
			end := Skip(b, at, 1)
			if end >= 0 {
				got = append(got, string(key)+"="+string(b[at:end]))
			}
			return end
		})
		if ok != (walkErr == nil) || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("%q: Object found %q (%v), Walk %q (%v)", b, got, ok, want, walkErr)
		}
	})
}

func TestEnterNested(t *testing.T) {
	doc := []byte(`{"a":{"b":{"c":"x"},"d":[1, {"e":{}}]},"b":2}`)
	var path []string
	var visit func(key []byte, at int) int
	visit = func(key []byte, at int) int {
		path = append(path, string(key))
		switch doc[at] {
		case '{':
			return Enter(doc, at, 1, visit)
		case '[':
			return Each(doc, at, 1, func(at int) int { return visit([]byte("-"), at) })
		}
		return Skip(doc, at, 1)
	}
	if !Object(doc, visit) || strings.Join(path, " ") != "a b c d - - e b" {
		t.Errorf("%q", path)
	}
	for _, not := range []string{`[1]`, `{} x`, `{"a":1`, ``} {
		if Object([]byte(not), func(_ []byte, at int) int { return Skip([]byte(not), at, 1) }) {
			t.Errorf("%s is taken for an object", not)
		}
	}
}

// What is wrong and where, in words.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":}`: "offset 5: expected a value", `{a`: "offset 1: expected a key", `{"a"1`: "offset 4: expected ':'",
		`{"a":1;`: "offset 6: expected ',' or '}'", `[1;`: "offset 2: expected ',' or ']'", `-x`: "offset 1: expected a digit",
		`"\q"`: "offset 1: expected an escape sequence", "\"\n\"": "offset 1: expected an escaped control character",
		`"x`: "offset 2: expected '\"'", `tru`: "offset 0: expected true", `f`: "offset 0: expected false", `n`: "offset 0: expected null",
		`1 x`:                           "offset 2: expected end of text",
		strings.Repeat("[", MaxDepth+1): "offset 10000: expected less nesting",
	} {
		if err := Check([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.20s: %v, want %s", text, err, want)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	if Valid([]byte(deep)) {
		t.Errorf("nesting of %d was accepted", MaxDepth+1)
	}
	if ok := deep[1 : len(deep)-1]; !Valid([]byte(ok)) {
		t.Errorf("nesting of %d was refused", MaxDepth)
	}
}

func BenchmarkAppendString(b *testing.B) {
	line := bytes.Repeat([]byte(`{"type":"assistant","uuid":"0f9c","text":"some words of an answer, and more of them"},`), 12)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst, _ = AppendString(dst[:0], line)
	}
}

func BenchmarkValid(b *testing.B) {
	line := append(append([]byte{'['}, bytes.Repeat([]byte(`{"type":"assistant","uuid":"0f9c","text":"some words of an answer, and more of them"},`), 12)...), `{}]`...)
	if !Valid(line) {
		b.Fatal("not valid")
	}
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Valid(line)
	}
}
