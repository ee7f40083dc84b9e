package screen

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Text is fit to be written to a terminal as it is: foreign text in it is shown,
// and every control sequence is the program's own. Its String has no colours.
type Text struct{ s string }

// Texter is an error of the program that knows which of its words are its own.
type Texter interface{ Text() Text }

// The program's own sequences.
const (
	reset = "\x1b[0m"
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	// italic is underlined where a terminal has no slanted letters.
	italic = "\x1b[3m"
)

var uncoloured = strings.NewReplacer(reset, "", bold, "", dim, "", red, "", green, "", italic, "", clearLine, "")

func (t Text) String() string { return uncoloured.Replace(plainProse(t.s)) }

// Line is foreign text as one line: breaks and tabs are shown.
func Line(text string) Text { return Text{oneLine(text)} }

// Block is foreign text with its lines.
func Block(text string) Text { return Text{shown(filter{form: block}, text)} }

// Indent is a Block whose lines, but for the first, stand behind an indent, so
// that none of them passes for a line of the program. It is Prose.
func Indent(indent, text string) Text {
	return Prose(indent, Text{shown(filter{form: block, indent: indent}, text)})
}

var remark = regexp.MustCompile(`\*(\([^*]*\))\*`)

// Emphasis is a block of the program's own Markdown as people read it, indented:
// what stands between pairs of ** in a line is bold, and *(a remark)* a remark.
func Emphasis(indent, text string) Text {
	lines := strings.Split(shown(filter{form: block, indent: indent}, text), "\n")
	for i, line := range lines {
		lines[i] = remark.ReplaceAllString(line, "$1")
		parts := strings.Split(lines[i], "**")
		if len(parts)%2 == 0 {
			continue // one of them is alone
		}
		for n := 1; n < len(parts); n += 2 {
			parts[n] = bold + parts[n] + reset
		}
		lines[i] = strings.Join(parts, "")
	}
	return Prose(indent, Text{strings.Join(lines, "\n")})
}

// Bold, Dim, Red and Green paint: foreign text, as one line, or a Text.
func Bold(v any) Text  { return paint(bold, v) }
func Dim(v any) Text   { return paint(dim, v) }
func Red(v any) Text   { return paint(red, v) }
func Green(v any) Text { return paint(green, v) }

func paint(code string, v any) Text {
	inner := strings.ReplaceAll(textOf(v).s, reset, reset+code)
	return Text{code + inner + reset}
}

// Join puts texts together with words of the program's own between them.
func Join(parts []Text, between string) Text {
	var list []string
	for _, p := range parts {
		list = append(list, p.s)
	}
	return Text{strings.Join(list, between)}
}

// Sprintf is Printf for a Text.
func Sprintf(format string, args ...any) Text {
	if false {
		_ = fmt.Sprintf(format, args...) // so that vet knows what this is
	}
	stars := strings.Contains(format, "*")
	safe := make([]any, len(args))
	for i, a := range args {
		safe[i] = argument{a}
		if n, ok := a.(int); ok && stars {
			safe[i] = n // it may be a width
		}
	}
	return Text{fmt.Sprintf(format, safe...)}
}

// errorIndent goes before every line of an error but the first.
const errorIndent = "  "

func textOf(v any) Text {
	switch v := v.(type) {
	case Text:
		return v
	case Texter:
		return v.Text()
	case error:
		return errorText(v)
	case string:
		return Line(v)
	}
	return Line(fmt.Sprint(v))
}

// errorText is an error as a Text: what only carries other errors stands back
// behind them, for one of them may know its own words.
func errorText(err error) Text {
	var inner []error
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	case interface{ Unwrap() error }:
		inner = []error{e.Unwrap()}
	}
	var said []string
	var parts []Text
	for _, e := range inner {
		if e != nil {
			said, parts = append(said, e.Error()), append(parts, textOf(e))
		}
	}
	if len(parts) > 0 && strings.Join(said, "\n") == err.Error() {
		return Join(parts, "\n"+errorIndent)
	}
	return Indent(errorIndent, err.Error())
}

// argument is foreign until it is found to be a Text.
type argument struct{ v any }

// Format implements fmt.Formatter.
func (a argument) Format(st fmt.State, verb rune) {
	whole := verb == 's' || verb == 'v'
	switch v := a.v.(type) {
	case Text, Texter, error:
		if whole {
			pad(st, textOf(v))
			return
		}
	}
	_, _ = st.Write([]byte(oneLine(fmt.Sprintf(fmt.FormatString(st, verb), a.v)))) // into memory
}

// pad writes a Text in the width that the format asks for.
func pad(st fmt.State, t Text) {
	text := t.s
	if width, ok := st.Width(); ok {
		fill := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(t.String())))
		if st.Flag('-') {
			text += fill
		} else {
			text = fill + text
		}
	}
	_, _ = st.Write([]byte(text)) // into memory
}
