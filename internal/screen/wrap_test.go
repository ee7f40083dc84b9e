package screen

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// on is a terminal of so many columns.
func on(out io.Writer, width int) *Writer {
	return New(out, Options{Terminal: true, Plain: true, Width: func() int { return width }})
}

// TestProseIsBrokenBetweenWords (Q16): where a terminal's width is known, what
// people read is broken between words, and what goes on is indented.
func TestProseIsBrokenBetweenWords(t *testing.T) {
	const long = "The flood comes in spring and takes the bridge\n- a list whose first point is long enough\n\nEnd"
	for _, c := range []struct {
		name  string
		print func(*Writer)
		want  string
	}{
		{"a block", func(w *Writer) { w.Printf("Cat: %s\n", Indent("  ", long)) },
			"Cat: The flood comes in\n  spring and takes the\n  bridge\n  - a list whose first\n  point is long enough\n\n  End\n"},
		{"a stream", func(w *Writer) {
			w.Printf("Cat: ")
			s := w.Stream("  ")
			for _, piece := range []string{"The flo", "od comes in spr", "ing and takes the bridge\n- a list whose", " first point is long enough\n\nE", "nd"} {
				_, _ = s.Write([]byte(piece))
			}
			_ = s.Flush()
			w.Printf("\n")
		}, "Cat: The flood comes in\n  spring and takes the\n  bridge\n  - a list whose first\n  point is long enough\n\n  End\n"},
		{"an own text", func(w *Writer) { w.Printf("  1. %s\n", Prose("     ", "Hear the Owl, for time is tight")) },
			"  1. Hear the Owl, for\n     time is tight\n"},
		{"a word that is too long", func(w *Writer) { w.Printf("%s\n", Indent("  ", "see "+strings.Repeat("x", 30)+" there")) },
			"see\n  " + strings.Repeat("x", 30) + "\n  there\n"},
		{"a first word that is no longer than the indent",
			func(w *Writer) { w.Printf("%s\n", Indent("  ", "a "+strings.Repeat("x", 23))) },
			"a\n  " + strings.Repeat("x", 23) + "\n"},
		{"a second column that is too narrow for its word",
			func(w *Writer) { w.Printf("%s\n", Indent("  ", "a list:\n- a    "+strings.Repeat("x", 20))) },
			"a list:\n  - a\n  " + strings.Repeat("x", 20) + "\n"},
		{"what is no prose", func(w *Writer) { w.Printf("%s\n", strings.Repeat("word ", 9)) }, strings.Repeat("word ", 9) + "\n"},
		{"emphasis", func(w *Writer) {
			w.Printf("%s\n", Emphasis("  ", "**Verdict:** no\n\n1. **met** – 2**3 is *(noted)* here"))
		},
			"Verdict: no\n\n  1. **met** – 2**3 is\n  (noted) here\n"},
	} {
		var b bytes.Buffer
		c.print(on(&b, 24))
		if b.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, b.String(), c.want)
		}
		for _, w := range []*Writer{on(io.Discard, 0), New(&b, Options{Width: func() int { return 24 }})} {
			b.Reset()
			c.print(w)
			if strings.ContainsAny(b.String(), "\x0e\x06\x0f") {
				t.Errorf("%s: marks of prose are printed: %q", c.name, b.String())
			}
		}
	}
}

// Whatever is said, a line is no wider than the terminal unless a word is, the
// words stay the same, and it does not matter in which pieces they come.
func TestWrappingKeepsTheWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{" ", "  ", "\n", "\n\n", "\t", "a", "wörter", "日本", "🐱", "e\u0301", "**", "- "})
		text := strings.Join(rapid.SliceOfN(part, 0, 60).Draw(t, "parts"), "")
		width := rapid.IntRange(narrowest, 40).Draw(t, "width")
		var whole, pieces bytes.Buffer
		on(&whole, width).Printf("%s", Indent("  ", text))
		s := on(&pieces, width).Stream("  ")
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			_, _ = s.Write(rest[:n])
			rest = rest[n:]
		}
		_ = s.Flush()
		if whole.String() != pieces.String() {
			t.Fatalf("in pieces %q, at once %q", pieces.String(), whole.String())
		}
		if got, want := strings.Join(strings.Fields(whole.String()), " "), strings.Join(strings.Fields(Indent("  ", text).String()), " "); got != want {
			t.Fatalf("%q became %q", want, got)
		}
		for line := range strings.SplitSeq(whole.String(), "\n") {
			if columnAfter(0, []byte(line)) > width && len(strings.Fields(line)) > 1 && !strings.Contains(line, "\t") {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}

// TestSpeechIsEmphasised (Q16): on a terminal with colours, what an agent marks
// is bold, whatever the pieces; stars that mark nothing stay.
func TestSpeechIsEmphasised(t *testing.T) {
	for text, want := range map[string]string{
		"1. **met**: it is there.": "1. " + bold + "met" + reset + ": it is there.",
		"(**two words**) and on":   "(" + bold + "two words" + reset + ") and on",
		"2**3 is 8, ** alone":      "2**3 is 8, ** alone",
		"**open\nnext":             bold + "open" + reset + "\n  next",
		"**a** **b**":              bold + "a" + reset + " " + bold + "b" + reset,
		"***loud***":               "***loud***",
		"a **":                     "a **",
	} {
		for size := 1; size <= len(text); size++ {
			var b bytes.Buffer
			s := New(&b, Options{Terminal: true}).Stream("  ")
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				_, _ = s.Write(rest[:min(size, len(rest))])
			}
			_ = s.Flush()
			if b.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, b.String(), want)
				break
			}
		}
	}
	var b bytes.Buffer
	s := New(&b, Options{Terminal: true, Plain: true}).Stream("")
	_, _ = s.Write([]byte("**met**"))
	if _ = s.Flush(); b.String() != "**met**" {
		t.Errorf("without colours: %q", b.String())
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

// TestAFailedWriteIsRemembered: who prints line by line learns at the end that
// nobody got it.
func TestAFailedWriteIsRemembered(t *testing.T) {
	gone := errors.New("no space left")
	w := New(full{gone}, Options{})
	w.Printf("a line\n")
	w.Table(false).Printf("x\n")
	if err := w.Flush(); !errors.Is(err, gone) {
		t.Errorf("Flush says %v", err)
	}
	if err := New(io.Discard, Options{}).Flush(); err != nil {
		t.Error(err)
	}
}
