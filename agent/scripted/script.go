package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Script is a parsed script.
type Script struct {
	Turns []ScriptTurn
}

// ScriptTurn is one prepared answer.
type ScriptTurn struct {
	Role   string // "" is everybody's
	On     string // text that the message must contain
	Always bool   // can be used more than once
	Steps  []Step
}

// Step is one line of a turn.
type Step struct {
	Verb string
	Name string // tool name, file path
	Text string // text, JSON, duration or numbers, by verb
}

// syntaxError says where a script is wrong.
type syntaxError struct {
	line   int
	reason string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.reason) }

type shape int

const (
	bare    shape = iota // the verb alone
	text                 // TEXT
	named                // NAME TEXT
	jsonArg              // JSON
	nameJSON
	duration
	numbers
)

var verbs = map[string]shape{
	"expect": text, "think": text, "say": text, "tool": nameJSON, "result": text,
	"read": text, "write": named, "veto": text, "answer": jsonArg, "usage": numbers,
	"wait": duration, "error": text, "stall": bare, "die": text,
}

// Parse reads a script.
func Parse(src []byte) (*Script, error) {
	p := &parser{lines: strings.Split(string(src), "\n")}
	for p.next() {
		if err := p.line(); err != nil {
			return nil, &syntaxError{p.at, err.Error()}
		}
	}
	return &p.script, nil
}

type parser struct {
	lines  []string
	at     int // number of the current line, from 1
	cur    string
	role   string
	script Script
}

func (p *parser) next() bool {
	if p.at >= len(p.lines) {
		return false
	}
	p.cur = p.lines[p.at]
	p.at++
	return true
}

func (p *parser) line() error {
	s := strings.TrimSpace(p.cur)
	if s == "" || s[0] == '#' {
		return nil
	}
	verb, rest := cut(s)
	switch verb {
	case "as":
		if rest == "" || strings.ContainsAny(rest, " \t") {
			return fmt.Errorf("as wants one role")
		}
		p.role = rest
		return nil
	case "turn", "always":
		return p.turn(verb == "always", rest)
	}
	kind, ok := verbs[verb]
	if !ok {
		return fmt.Errorf("no step is called %q", verb)
	}
	if len(p.script.Turns) == 0 {
		return fmt.Errorf("%s stands before the first turn", verb)
	}
	step, err := p.step(verb, kind, rest)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	t := &p.script.Turns[len(p.script.Turns)-1]
	if verb == "result" && (len(t.Steps) == 0 || t.Steps[len(t.Steps)-1].Verb != "tool") {
		return fmt.Errorf("result stands right below its tool")
	}
	t.Steps = append(t.Steps, step)
	return nil
}

func (p *parser) turn(always bool, rest string) error {
	t := ScriptTurn{Role: p.role, Always: always}
	if rest != "" {
		word, on := cut(rest)
		if word != "on" || on == "" {
			return fmt.Errorf("expected \"on TEXT\" or nothing, not %q", rest)
		}
		var err error
		if t.On, err = p.text(on); err != nil {
			return err
		}
	}
	p.script.Turns = append(p.script.Turns, t)
	return nil
}

func (p *parser) step(verb string, kind shape, rest string) (Step, error) {
	s := Step{Verb: verb}
	var err error
	switch kind {
	case bare:
		if rest != "" {
			err = fmt.Errorf("takes no text")
		}
	case text:
		s.Text, err = p.text(rest)
	case named:
		if s.Name, rest = cut(rest); s.Name == "" {
			return s, fmt.Errorf("wants a name")
		}
		s.Text, err = p.text(rest)
	case jsonArg:
		s.Text, err = compact(rest)
	case nameJSON:
		if s.Name, rest = cut(rest); s.Name == "" {
			return s, fmt.Errorf("wants a name")
		}
		s.Text, err = compact(rest)
	case duration:
		var d time.Duration
		s.Text = rest
		if d, err = time.ParseDuration(rest); err == nil && d < 0 {
			err = fmt.Errorf("%s is no time to wait", rest)
		}
	case numbers:
		s.Text, err = twoNumbers(rest)
	}
	return s, err
}

// text takes the rest of the line, or the lines up to the word after "<<".
func (p *parser) text(rest string) (string, error) {
	word, ok := strings.CutPrefix(rest, "<<")
	if !ok {
		return rest, nil
	}
	if word == "" || strings.ContainsAny(word, " \t") {
		return "", fmt.Errorf("<< wants one word that ends the text")
	}
	began := p.at
	var lines []string
	for p.next() {
		if strings.TrimSuffix(p.cur, "\r") == word {
			return strings.Join(lines, "\n"), nil
		}
		lines = append(lines, p.cur)
	}
	return "", fmt.Errorf("the text that begins in line %d is not ended by %q", began, word)
}

func cut(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

func compact(s string) (string, error) {
	if s == "" {
		return "{}", nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		return "", err
	}
	return b.String(), nil
}

func twoNumbers(s string) (string, error) {
	f := strings.Fields(s)
	if len(f) != 2 {
		return "", fmt.Errorf("wants two numbers, tokens in and out")
	}
	for i := range f {
		n, err := strconv.ParseUint(f[i], 10, 31)
		if err != nil {
			return "", fmt.Errorf("%q is no number of tokens", f[i])
		}
		f[i] = strconv.FormatUint(n, 10)
	}
	return f[0] + " " + f[1], nil
}

// String prints the step as it stands in a script, with its line end.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString("  " + s.Verb)
	if s.Name != "" {
		b.WriteString(" " + s.Name)
	}
	switch verbs[s.Verb] {
	case text, named:
		printText(&b, s.Text)
	case bare:
	default:
		b.WriteString(" " + s.Text)
	}
	b.WriteByte('\n')
	return b.String()
}

// printText prints text on the same line where that reads back the same, and
// below it where it does not.
func printText(b *strings.Builder, text string) {
	if text == strings.TrimSpace(text) && !strings.Contains(text, "\n") && !strings.HasPrefix(text, "<<") {
		if text != "" {
			b.WriteString(" " + text)
		}
		return
	}
	word := "END"
	for n := 2; endsText(text, word); n++ {
		word = "END" + strconv.Itoa(n)
	}
	b.WriteString(" <<" + word + "\n")
	b.WriteString(text)
	b.WriteString("\n" + word)
}

func endsText(text, word string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSuffix(line, "\r") == word {
			return true
		}
	}
	return false
}
