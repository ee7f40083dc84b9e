package desk

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Call is a command as it was typed.
type Call struct {
	Command
	Rest string
}

// Fault is a line that means nothing as it stands. Whoever typed it can type it
// again.
type Fault struct {
	Line int // from 1 on; 0: no single one
	Text string
	Err  error
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.Err.Error()
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.Err)
}

func (f *Fault) Unwrap() error { return f.Err }

// IsCommand says whether a line begins with one slash, and cuts it into its word
// and what stands behind.
func IsCommand(text string) (word, rest string, ok bool) {
	after, ok := strings.CutPrefix(text, "/")
	if !ok || strings.HasPrefix(after, "/") {
		return "", "", false
	}
	word, rest, _ = strings.Cut(after, " ")
	return strings.TrimSpace(word), strings.TrimSpace(rest), true
}

// Plain is a line of words: of two slashes one is left.
func Plain(text string) string {
	if strings.HasPrefix(text, "//") {
		return text[1:]
	}
	return text
}

// Split tells the commands of a player's answer, which come first, from the words
// behind them. A veto has all that follows for its reason.
func Split(text string, seats Seats, at At) (calls []Call, words string, err error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		word, rest, ok := IsCommand(l)
		if !ok {
			break
		}
		if word == "veto" {
			rest = strings.TrimSpace(rest + "\n" + strings.Join(lines[i+1:], "\n"))
		}
		c, err := Find(word, rest, seats, at)
		if err != nil {
			return nil, "", fault(lines, i, err)
		}
		calls = append(calls, Call{c, rest})
		if word == "veto" {
			return calls, "", nil
		}
	}
	said := lines[len(calls):]
	for i, l := range said {
		if _, _, ok := IsCommand(l); ok {
			err := fmt.Errorf("%q stands among your words: a command is the first line, or the only one (// begins a line with a slash)", l)
			return nil, "", fault(lines, len(calls)+i, err)
		}
		said[i] = Plain(l)
	}
	return calls, strings.TrimSpace(strings.Join(said, "\n")), nil
}

func fault(lines []string, i int, err error) error {
	if len(lines) == 1 {
		return &Fault{Text: lines[i], Err: err}
	}
	return &Fault{Line: i + 1, Text: lines[i], Err: err}
}

// Pointed is the fault for whoever typed the line: the line itself, with the word
// that it is about.
func (f *Fault) Pointed() string {
	if f.Line == 0 {
		return f.Err.Error()
	}
	text := fmt.Sprintf("Line %d cannot be taken: %s\n\n  %s", f.Line, f.Err, f.Text)
	for _, word := range f.words() {
		before, _, ok := strings.Cut(strings.ToLower(f.Text), strings.ToLower(word))
		if ok && word != "" {
			return text + "\n  " + strings.Repeat(" ", utf8.RuneCountInString(before)) +
				strings.Repeat("^", utf8.RuneCountInString(word))
		}
	}
	return text
}

// words are what a fault may be about: what it quotes, or the command.
func (f *Fault) words() []string {
	var out []string
	if _, after, ok := strings.Cut(f.Err.Error(), `"`); ok {
		quoted, _, _ := strings.Cut(after, `"`)
		out = append(out, quoted)
	}
	word, _, _ := strings.Cut(f.Text, " ")
	return append(out, word)
}

// Left says why words cannot be left for a seat by somebody who is not at the
// table: a line that is done at once has nobody there to do it for.
func Left(seat string, at At, text string) error {
	kind := KindOf(seat)
	if kind == GM {
		return nil // part of a turn, and judged with it
	}
	calls, _, err := Split(text, kind, at)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if c.Name != "veto" && c.Name != "notes" {
			return fmt.Errorf("/%s is typed at the table: conclave table play, --as for your seat", c.Name)
		}
	}
	return nil
}
