package terminal

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"conclave/app"
	"conclave/engine"
	"conclave/internal/screen"
)

// typing is a keyboard on which this was typed.
func typing(text string) (*keyboard, *bytes.Buffer) {
	out := &bytes.Buffer{}
	t := &Terminal{Stdin: strings.NewReader(text), Stdout: screen.New(out, screen.Options{Terminal: true})}
	return t.keyboard(), out
}

// TestAnswers: what one answer is, and that the next question gets the rest.
func TestAnswers(t *testing.T) {
	const paste, end = "\x1b[200~", "\x1b[201~"
	for _, c := range []struct {
		name, typed string
		lines       bool // several are asked for
		want, next  string
	}{
		{"a line", "one\ntwo\n", false, "one", "two"},
		{"a backslash goes on", "one\\\ntwo\nthree\n", false, "one\ntwo", "three"},
		{"a paste is one answer", paste + "one\ntwo\n\nthree" + end + "\nfour\n", false, "one\ntwo\n\nthree", "four"},
		{"a paste with a line end", paste + "one\ntwo\n" + end + "\nfour\n", false, "one\ntwo", "four"},
		{"words around a paste", "see: " + paste + "one\ntwo" + end + " there\nfour\n", false, "see: one\ntwo there", "four"},
		{"a backslash in a paste", paste + "one \\\ntwo" + end + "\nfour\n", false, "one \\\ntwo", "four"},
		{"nothing", "\nfour\n", false, "", "four"},
		{"several lines", "one\ntwo\n\nfour\n", true, "one\ntwo", "four"},
		{"a full stop ends them", "one\ntwo\n.\nfour\n", true, "one\ntwo", "four"},
		{"a paste among them", "one\n" + paste + "two\n\nthree" + end + "\nmore\n\nfour\n", true, "one\ntwo\n\nthree\nmore", "four"},
		{"nothing of several", "\nfour\n", true, "", "four"},
	} {
		k, out := typing(c.typed)
		got, err := k.Ask(t.Context(), app.Question{Question: engine.Question{Text: "Well?", Lines: c.lines}})
		if err != nil || got != c.want {
			t.Errorf("%s: the answer is %q, %v; want %q", c.name, got, err, c.want)
		}
		if got, err = k.Ask(t.Context(), app.Question{Question: engine.Question{Text: "And?"}}); err != nil || got != c.next {
			t.Errorf("%s: the next answer is %q, %v; want %q", c.name, got, err, c.next)
		}
		if !strings.Contains(out.String(), "ends the answer") {
			t.Errorf("%s: how to end an answer is not said:\n%s", c.name, out)
		}
	}
	k, _ := typing("ok\ntwo\n\n")
	ends := func(line string) bool { return line == "ok" }
	for _, want := range []string{"ok", "two"} {
		if got, err := k.Ask(t.Context(), app.Question{Question: engine.Question{Lines: true}, Ends: ends}); err != nil || got != want {
			t.Errorf("a line that says it all: %q, %v; want %q", got, err, want)
		}
	}
	for _, way := range []app.Way{app.YesNo, app.Enter} {
		k, _ = typing(paste + "y" + end + "\n" + paste + "one\ntwo" + end + "\n")
		for _, want := range []string{"y", "one two"} {
			if got, err := k.Ask(t.Context(), app.Question{Way: way}); err != nil || got != want {
				t.Errorf("pasted where one line is asked for: %q, %v; want %q", got, err, want)
			}
		}
	}
	k, _ = typing("one\ntwo")
	if got, err := k.Ask(t.Context(), app.Question{Question: engine.Question{Lines: true}}); err != nil || got != "one\ntwo" {
		t.Errorf("at the end of the input: %q, %v", got, err)
	}
	if _, err := k.Ask(t.Context(), app.Question{}); !errors.Is(err, io.EOF) {
		t.Errorf("after the end of the input: %v", err)
	}
}
