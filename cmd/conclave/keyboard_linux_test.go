package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"conclave/app"
	"conclave/engine"
	"conclave/internal/screen"
	"conclave/room"
	"conclave/terminal"
)

// console is a terminal with somebody before it who looks and types.
type console struct {
	t     *testing.T
	outer *os.File
	shown chan string
	rest  string // shown and not looked at yet
	all   strings.Builder

	colours bool // the terminal has them
}

// newConsole returns a console and the terminal's inner end.
func newConsole(t *testing.T) (*console, *os.File) {
	t.Helper()
	outer, inner, err := room.NewTerminal()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { outer.Close(); inner.Close() })
	c := &console{t: t, outer: outer, shown: make(chan string, 1024)}
	go func() {
		defer close(c.shown)
		buf := make([]byte, 4096)
		for {
			n, err := outer.Read(buf)
			if n > 0 {
				c.shown <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return c, inner
}

// await looks until a text is shown, past what was looked at before.
func (c *console) await(text string) {
	c.t.Helper()
	tooLong := time.After(2 * time.Minute)
	for {
		if _, after, ok := strings.Cut(c.rest, text); ok {
			c.rest = after
			return
		}
		select {
		case more, ok := <-c.shown:
			if !ok {
				c.t.Fatalf("%q was not shown; all there was:\n%s", text, c.all.String())
			}
			c.all.WriteString(more)
			c.rest += more
		case <-tooLong:
			c.t.Fatalf("%q is not shown; all there is:\n%s", text, c.all.String())
		}
	}
}

// then waits for a text and types.
func (c *console) then(text, typed string) {
	c.t.Helper()
	c.await(text)
	if _, err := io.WriteString(c.outer, typed); err != nil {
		c.t.Fatal(err)
	}
}

// TestLinesThatComeTogether: on a terminal without marks around a paste, its
// lines are one answer all the same; Ctrl-D ends an answer and not the terminal.
func TestLinesThatComeTogether(t *testing.T) {
	c, inner := newConsole(t)
	at := &terminal.Terminal{
		Stdin: inner, StdinIsTerminal: true, Stdout: screen.New(inner, screen.Options{Terminal: true}),
	}
	for i, x := range []struct {
		q     engine.Question
		typed []string // what is waited for, and what is typed then
		want  string
	}{
		{engine.Question{Text: "First?"}, []string{"> ", "one\ntwo\n\nthree\n", "(these lines are one answer", "\n"}, "one\ntwo\n\nthree"},
		{engine.Question{Text: "Second?"}, []string{"> ", "one\ntwo\n\n"}, "one\ntwo"},
		{engine.Question{Text: "Third?", Lines: true}, []string{"> ", "one\ntwo\n", "two\r\n", "\x04"}, "one\ntwo"},
		{engine.Question{Text: "Fourth?"}, []string{"> ", "four\n"}, "four"},
		{engine.Question{Text: "Fifth?"}, []string{"> ", "\n"}, ""},
	} {
		type reply struct {
			text string
			err  error
		}
		got := make(chan reply, 1)
		go func() {
			text, err := at.Person().Ask(t.Context(), app.Question{Question: x.q})
			got <- reply{text, err}
		}()
		for n := 0; n < len(x.typed); n += 2 {
			c.then(x.typed[n], x.typed[n+1])
		}
		if r := <-got; r.err != nil || r.text != x.want {
			t.Errorf("answer %d is %q, %v; want %q", i+1, r.text, r.err, x.want)
		}
	}
}
