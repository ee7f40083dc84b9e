package archive

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, World":            "hello world",
		"snake_case x-ray 3.14":   "snake case x ray 3 14",
		"naïve Größe Łódź Ørsted": "naive große lodz orsted",
		"日本語 abc":                 "日 本 語 abc",
		"e\u0301":                 "e\u0301",
		"\xff\xfe bad":            "bad",
		strings.Repeat("a", 100):  strings.Repeat("a", maxWord),
		"":                        "",
	} {
		if got := strings.Join(wordsOf(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzWords: a bag holds the words of its text, each once, and none has a
// character that the index would take for a border or an order.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"a b a", "日本 x", "_t1 __", "é\u0301 \xff", strings.Repeat("w1 w2 ", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b bag
		b.reset()
		b.addText([]byte("an older text"))
		b.reset()
		b.addText([]byte(text))
		got := strings.Fields(string(b.out))
		want := wordsOf(text)
		slices.Sort(want)
		want = slices.Compact(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q: bag %q, words %q", text, got, want)
		}
		for _, w := range want {
			if strings.ContainsAny(w, "\"_*:() \x00") || w == "" || !utf8.ValidString(w) {
				t.Fatalf("%q has the word %q", text, w)
			}
		}
	})
}

// FuzzAppendString: what encoding/json reads is what this reads.
func FuzzAppendString(f *testing.F) {
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
		if got := string(appendString(nil, []byte(text))); got != want {
			t.Fatalf("%s: %q, want %q", text, got, want)
		}
	})
}

func TestBagManyWords(t *testing.T) {
	var b bag
	for range 3 {
		b.reset()
		var text strings.Builder
		for i := range 20_000 {
			text.WriteString(" w" + itoa(i) + " w" + itoa(i))
		}
		b.addText([]byte(text.String()))
		if n := len(strings.Fields(string(b.out))); n != 20_000 {
			t.Fatalf("%d words", n)
		}
	}
}
