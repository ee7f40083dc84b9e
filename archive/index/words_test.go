package index

import (
	"slices"
	"strconv"
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
		if got := strings.Join(Of(text), " "); got != want {
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
		var b Bag
		b.Reset()
		b.AddText([]byte("an older text"))
		b.Reset()
		b.AddText([]byte(text))
		got := wordsOf(&b)
		want := Of(text)
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

// wordsOf takes a bag apart.
func wordsOf(b *Bag) (list []string) {
	for rest := b.Bytes(); len(rest) > 0; {
		n := 1 + int(rest[0])
		list = append(list, string(rest[1:n]))
		rest = rest[n:]
	}
	return list
}

func TestBagManyWords(t *testing.T) {
	var b Bag
	for range 3 {
		b.Reset()
		var text strings.Builder
		for i := range 20_000 {
			text.WriteString(" w" + strconv.Itoa(i) + " w" + strconv.Itoa(i))
		}
		b.AddText([]byte(text.String()))
		if n := len(wordsOf(&b)); n != 20_000 {
			t.Fatalf("%d words", n)
		}
	}
}
