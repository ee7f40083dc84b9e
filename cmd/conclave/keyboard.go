package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"conclave/app"
	"conclave/internal/screen"
)

// keyboard is the person at the terminal, who is asked and types.
type keyboard struct {
	env   *environment
	lines chan string // closed at the end of the input
}

// out is where questions are put: not among the JSON.
func (k *keyboard) out() *screen.Writer {
	if k.env.muted {
		return k.env.Stderr
	}
	return k.env.Stdout
}

// Ask implements app.Person.
func (k *keyboard) Ask(ctx context.Context, q app.Question) (string, error) {
	read := k.readAnswer
	switch q.Way {
	case app.YesNo:
		word := "y/N"
		if q.Default == "y" {
			word = "Y/n"
		}
		k.out().Printf("\n%s [%s] ", screen.Indent("  ", q.Text), word)
		return read(ctx)
	case app.InLine:
		k.out().Printf("\n%s\n> ", screen.Indent("  ", q.Text))
		return read(ctx)
	case app.Enter:
		text := screen.Dim(q.Text)
		if q.Who != "" {
			text = screen.Bold(q.Text)
		}
		k.out().Printf("\n%s\n> ", text)
		return k.readLine(ctx)
	}
	k.put(q)
	if q.Lines {
		read = k.readLines
	}
	answer, err := read(ctx)
	if errors.Is(err, io.EOF) {
		k.out().Printf("\n")
	}
	return answer, err
}

func (k *keyboard) put(q app.Question) {
	k.out().Printf("\n%s\n", screen.Bold(screen.Indent("  ", q.Text)))
	for i, o := range q.Options {
		k.out().Printf("  %d. %s", i+1, o.Label)
		if o.Hint != "" {
			k.out().Printf(" %s", screen.Dim("– "+o.Hint))
		}
		k.out().Printf("\n")
	}
	if q.Default != "" && len(q.Options) > 0 {
		k.out().Printf("%s", screen.Dim("["+q.Default+"] "))
	}
	k.out().Printf("> ")
}

// readAnswer reads a line; one that ends in a backslash goes on in the next.
// Without any it is io.EOF.
func (k *keyboard) readAnswer(ctx context.Context) (string, error) {
	var parts []string
	for {
		text, err := k.readLine(ctx)
		if errors.Is(err, io.EOF) && len(parts) > 0 {
			return strings.Join(parts, "\n"), nil
		}
		if err != nil {
			return "", err
		}
		more, goesOn := strings.CutSuffix(text, "\\")
		parts = append(parts, more)
		if !goesOn {
			return strings.Join(parts, "\n"), nil
		}
		k.out().Printf("… ")
	}
}

// readLines reads lines up to an empty one. Without any it is io.EOF.
func (k *keyboard) readLines(ctx context.Context) (string, error) {
	var parts []string
	for {
		text, err := k.readLine(ctx)
		if errors.Is(err, io.EOF) && len(parts) == 0 {
			return "", err
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if err != nil || strings.TrimSpace(text) == "" {
			return strings.Join(parts, "\n"), nil
		}
		parts = append(parts, text)
		if len(parts) == 1 && alone(text) {
			return text, nil
		}
		k.out().Printf("  ")
	}
}

// alone says whether a line is a whole turn: nobody wants to end /help with an
// empty line.
func alone(line string) bool { return line == "/help" || line == "/quit" }

// readLine waits for a line of the terminal, or for the end of ctx. The
// goroutine that reads ends with the program: a read of a terminal cannot be
// called off.
func (k *keyboard) readLine(ctx context.Context) (string, error) {
	if k.lines == nil {
		k.lines = make(chan string)
		go func(out chan<- string) {
			in := bufio.NewReader(k.env.Stdin)
			for {
				text, err := in.ReadString('\n')
				if err != nil && text == "" {
					close(out)
					return
				}
				out <- strings.TrimRight(text, "\r\n")
			}
		}(k.lines)
	}
	select {
	case text, ok := <-k.lines:
		if !ok {
			return "", io.EOF
		}
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
