package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile is what foreign text must not do to a terminal, and how it is shown
// in one line (W9).
var hostile = map[string]string{
	"\x1b[2J":                "␛[2J",
	"\x1b]52;c;aGk=\a":       "␛]52;c;aGk=␇",
	"\x1bP+q\x1b\\":          "␛P+q␛\\",
	"\u009b2J":               "⟨U+009B⟩2J",
	"\x9b2J":                 "⟨0x9B⟩2J",
	"\u0085":                 "⟨U+0085⟩",
	"a\b\bb":                 "a␈␈b",
	"a\rb":                   "a␍b",
	"a\r\nb":                 "a␍␊b",
	"a\tb\vc\fd":             "a␉b␋c␌d",
	"\x00\x7f":               "␀␡",
	"a\nconclave: trusted":   "a␊conclave: trusted",
	"a\u2028b\u2029c":        "a⟨U+2028⟩b⟨U+2029⟩c",
	"\u202egnp.exe":          "⟨U+202E⟩gnp.exe",
	"\u2066x\u2069":          "⟨U+2066⟩x⟨U+2069⟩",
	"\u200e\u200f\u061c":     "⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩",
	"pay\u200bpal":           "pay⟨U+200B⟩pal",
	"c\u200dat":              "c⟨U+200D⟩at",
	"a\ufeffb\u00adc":        "a⟨U+FEFF⟩b⟨U+00AD⟩c",
	"a\U000e0041":            "a⟨U+E0041⟩",
	"a\ufe0f\ufe01":          "a⟨U+FE0F⟩⟨U+FE01⟩",
	"a\U000e0100":            "a⟨U+E0100⟩",
	"\u3164\u115f\uffa0":     "⟨U+3164⟩⟨U+115F⟩⟨U+FFA0⟩",
	"\u0338x":                "⟨U+0338⟩x",
	"\xff\xc3(":              "⟨0xFF⟩⟨0xC3⟩(",
	"\xed\xa0\x80":           "⟨0xED⟩⟨0xA0⟩⟨0x80⟩",
	"\ufdd0\U0010ffff\ufff9": "⟨U+FDD0⟩⟨U+10FFFF⟩⟨U+FFF9⟩",
}

// innocent text is left alone.
var innocent = []string{
	"", "plain", "Größe – “quoted” … ✓ ● ◐", "日本語 한국어", "שלום مرحبا",
	"می\u200cخواهم", "क्\u200dष", "🧙\u200d♂\ufe0f",
	"🏳\ufe0f\u200d🌈",
	"👩🏽\u200d🚀", "1\ufe0f\u20e3", "❤\ufe0f", "e\u0301", "\ufffd", "葛\U000e0100", "a\u00a0b",
}

func TestHostileTextIsShown(t *testing.T) {
	for text, want := range hostile {
		got := Line(text).String()
		if got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
		if at := Foreign([]byte(got)); at != nil {
			t.Errorf("%q: shown, and still foreign at %v", text, at)
		}
		if at := Foreign([]byte("our own \x1b[1mline\x1b[0m\r\n" + text)); at == nil && text != "a\nconclave: trusted" && text != "a\r\nb" {
			t.Errorf("%q is not found on a terminal", text)
		}
	}
}

func TestInnocentTextIsLeftAlone(t *testing.T) {
	for _, text := range innocent {
		if got := Line(text).String(); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
		if at := Foreign([]byte(text)); at != nil {
			t.Errorf("%q is foreign at %v", text, at)
		}
	}
}

// said is an error that knows its own words.
type said struct{ file string }

func (s said) Error() string { return "open " + s.file + "\ntry: again" }
func (s said) Text() Text    { return Sprintf("open %s\ntry: again", s.file) }

// TestErrorsTellTheirOwnWordsFromForeignOnes, also through what carries them.
func TestErrorsTellTheirOwnWordsFromForeignOnes(t *testing.T) {
	own, other := said{"a\ntry: rm"}, errors.New("b\ntry: rm")
	for _, c := range []struct {
		err  error
		want string
	}{
		{own, "open a␊try: rm\ntry: again"},
		{errors.Join(own, nil), "open a␊try: rm\ntry: again"},
		{fmt.Errorf("%w", own), "open a␊try: rm\ntry: again"},
		{errors.Join(own, other), "open a␊try: rm\ntry: again\n  b\n  try: rm"},
		{fmt.Errorf("x: %w", own), "x: open a\n  try: rm\n  try: again"},
		{other, "b\n  try: rm"},
	} {
		if got := Sprintf("%v", c.err).String(); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.err, got, c.want)
		}
	}
}

func TestManyMarksDoNotPile(t *testing.T) {
	if got := Line("a" + strings.Repeat("\u0301", 40)).String(); !strings.Contains(got, "⟨U+0301⟩") {
		t.Errorf("%q", got)
	}
}

func TestPrintf(t *testing.T) {
	evil := "a\n\x1b[2Jb"
	for _, c := range []struct {
		format string
		args   []any
		want   string
	}{
		{"%s|%v|%q\n", []any{evil, []byte("x\r"), evil}, "a␊␛[2Jb|[120 13]|\"a\\n\\x1b[2Jb\"\n"},
		{"%s\n", []any{Block(evil)}, "a\n␛[2Jb\n"},
		{"%s\n", []any{Indent("> ", evil)}, "a\n> ␛[2Jb\n"},
		{"%v\n", []any{errors.New(evil)}, "a\n  ␛[2Jb\n"},
		{"%v %d %[1]s\n", []any{[]string{evil}, 3}, "[a␊␛[2Jb] 3 [a␊␛[2Jb]\n"},
		{"%c%5d|%-5s|%5s|%*d\n", []any{rune(0x1b), 7, "é", Line("é"), 3, 7}, "␛    7|é    |    é|  7\n"},
		{"%s\n", []any{Bold(evil)}, bold + "a␊␛[2Jb" + reset + "\n"},
		{"%-4s|\n", []any{Red("x")}, red + "x" + reset + "   |\n"},
		{"%s\n", []any{Dim(Sprintf("%s %s", Green("x"), "\x1b[1m"))}, dim + green + "x" + reset + dim + " ␛[1m" + reset + "\n"},
		{"%s\n", []any{fmt.Sprint(Bold("x"))}, "x\n"},
	} {
		var b bytes.Buffer
		if err := New(&b, Options{Terminal: true}).Printf(c.format, c.args...); err != nil || b.String() != c.want {
			t.Errorf("%q prints\n%q, want\n%q (%v)", c.format, b.String(), c.want, err)
		}
		var plain bytes.Buffer
		_ = New(&plain, Options{}).Printf(c.format, c.args...)
		if strings.Contains(plain.String(), "\x1b") {
			t.Errorf("%q paints in a pipe: %q", c.format, plain.String())
		}
	}
}

// TestStreams: wherever a chunk ends, the screen shows the same.
func TestStreams(t *testing.T) {
	var all strings.Builder
	for text := range hostile {
		all.WriteString(text + "|")
	}
	all.WriteString(strings.Join(innocent, "\r\n"))
	text := all.String()
	want := Block(text).String()
	for size := 1; size < 9; size++ {
		var b bytes.Buffer
		w := New(&b, Options{Terminal: true})
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil || b.String() != want {
			t.Errorf("in chunks of %d: %q, want %q (%v)", size, b.String(), want, err)
		}
		if at := Foreign(b.Bytes()); at != nil {
			t.Errorf("in chunks of %d: foreign at %v", size, at)
		}
	}
}

func TestHalfACharacterDoesNotReachIntoOurOwnWords(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{Terminal: true})
	_, _ = w.Write([]byte("a\xc2"))
	_ = w.Printf("%s\n", "\x9b")
	if b.String() != "a⟨0xC2⟩⟨0x9B⟩\n" {
		t.Errorf("%q", b.String())
	}
}

func TestRawIsExactInAPipeAndShownOnATerminal(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var b bytes.Buffer
		_, _ = New(&b, Options{Terminal: terminal}).Raw().Write([]byte("\x1b\xff\n"))
		want := "\x1b\xff\n"
		if terminal {
			want = "␛⟨0xFF⟩\n"
		}
		if b.String() != want {
			t.Errorf("terminal %v: %q, want %q", terminal, b.String(), want)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	table := New(&b, Options{Terminal: true}).Table(false)
	table.Printf("%s\t%v\t%d\n", "a\tb\nc", errors.New("x\ny"), 1)
	table.Printf("%s\t%s\t%d\n", "é", "z", 22)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "a␉b␊c  x␊  y  1\né      z      22\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestJSON: escaped, and the same value.
func TestJSON(t *testing.T) {
	texts := innocent
	for text := range hostile {
		if utf8.ValidString(text) {
			texts = append(texts, text)
		}
	}
	raw, err := JSON(map[string]any{"texts": texts, "raw": json.RawMessage("[\"\x9b<\u202e\",\r\n1]")})
	if err != nil {
		t.Fatal(err)
	}
	if at := Foreign(raw); at != nil || bytes.ContainsAny(raw, "\n\r\t") {
		t.Errorf("foreign at %v in %q", at, raw)
	}
	var back struct {
		Texts []string
		Raw   []any
	}
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if back.Texts[i] != text {
			t.Errorf("%q came back as %q", text, back.Texts[i])
		}
	}
	if back.Raw[0] != "\ufffd<\u202e" {
		t.Errorf("%q", back.Raw)
	}
	var b bytes.Buffer
	if err := New(&b, Options{}).JSON([]string{"<\u009b>"}); err != nil || b.String() != "[\n  \"<\\u009b>\"\n]\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// TestCells: one rule for formulas (W19).
func TestCells(t *testing.T) {
	for _, formula := range []string{
		"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\rx", "\tx", "  =1", "\n=1", "\"=1", "'=1",
		"\u00a0=1", "＝1", "＋1", "－1", "＠x", "\ufeff=1", "\u200b=1", "\x00=1",
	} {
		if got := Cell(formula); got != "'"+formula {
			t.Errorf("%q becomes %q", formula, got)
		}
	}
	for _, text := range []string{"", "a=1", "1-1", "a@b", "#1", "'", "–", "über"} {
		if got := Cell(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestSessionDrivesALineAndNothingElse(t *testing.T) {
	for edit, want := range map[bool]string{true: "ls\b \b\rx\r\n␛[2J⟨U+009B⟩␇", false: "ls␈ ␈␍x\r\n␛[2J⟨U+009B⟩␇"} {
		var b bytes.Buffer
		_, _ = New(&b, Options{Terminal: true}).Session(edit).Write([]byte("ls\b \b\rx\r\n\x1b[2J\u009b\a"))
		if b.String() != want {
			t.Errorf("edit %v: %q, want %q", edit, b.String(), want)
		}
	}
}

// FuzzShown: nothing foreign is ever left, in whatever form and chunks.
func FuzzShown(f *testing.F) {
	for text := range hostile {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = min(max(cut, 0), len(text))
		var b bytes.Buffer
		w := New(&b, Options{Terminal: true})
		_, _ = w.Write([]byte(text[:cut]))
		_, _ = w.Write([]byte(text[cut:]))
		_ = w.Flush()
		_ = w.Printf("\n%s%v%s\n", text, errors.New(text), Indent(" ", text))
		if at := Foreign(b.Bytes()); at != nil {
			t.Errorf("%q: foreign at %v in %q", text, at, b.String())
		}
		if got := Line(text).String(); strings.ContainsAny(got, "\n\t\r\x1b") {
			t.Errorf("%q", got)
		}
		raw, err := JSON(text)
		var back string
		if err != nil || Foreign(raw) != nil || json.Unmarshal(raw, &back) != nil || utf8.ValidString(text) && back != text {
			t.Errorf("%q: %q", text, raw)
		}
	})
}
