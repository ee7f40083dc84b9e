package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"conclave/app"
	"conclave/internal/screen"
)

// keyboard is the person at the terminal, who is asked and types. A line is an
// answer; so is what is pasted, however many lines it has, and what is typed
// after a backslash at the end of a line. Where several lines are asked for, an
// empty line, a single full stop or Ctrl-D ends the answer.
type keyboard struct {
	t      *Terminal
	lines  chan typed // closed when nothing more can come
	ahead  *typed     // looked at and not taken yet
	last   time.Time  // when a line came that came together with one before it
	paste  bool       // between the marks of a bracketed paste
	hinted bool       // how to answer was said
}

// typed is a line of the terminal.
type typed struct {
	text string
	at   time.Time // when it came
	end  bool      // Ctrl-D: the end of an answer
}

// together is within what time lines come that nobody types one by one.
const together = 30 * time.Millisecond

// out is where questions are put: not among the JSON.
func (k *keyboard) out() *screen.Writer {
	if k.t.Muted {
		return k.t.Stderr
	}
	return k.t.Stdout
}

// Ask implements app.Person.
func (k *keyboard) Ask(ctx context.Context, q app.Question) (string, error) {
	switch q.Way {
	case app.YesNo:
		word := "y/N"
		if q.Default == "y" {
			word = "Y/n"
		}
		k.out().Printf("\n%s [%s] ", screen.Indent("  ", q.Text), word)
		return k.readWord(ctx)
	case app.InLine:
		k.out().Printf("\n%s\n> ", screen.Indent("  ", q.Text))
		return k.readAnswer(ctx, false, nil)
	case app.Enter:
		text := screen.Dim(q.Text)
		if q.Who != "" {
			text = screen.Bold(q.Text)
		}
		k.out().Printf("\n%s\n> ", text)
		return k.readWord(ctx)
	}
	k.put(q)
	answer, err := k.readAnswer(ctx, q.Lines, func(line string, first bool) bool {
		return first && q.Ends != nil && q.Ends(line) || slices.ContainsFunc(q.Alone, func(alone string) bool {
			return strings.TrimSpace(line) == alone || strings.HasSuffix(alone, " ") && strings.HasPrefix(line, alone)
		})
	})
	if errors.Is(err, io.EOF) {
		k.out().Printf("\n")
	}
	return answer, err
}

func (k *keyboard) put(q app.Question) {
	if q.Title != "" {
		k.out().Printf("\n%s\n", screen.Bold("— "+q.Title+" —"))
	}
	if q.Lead != "" {
		k.out().Printf("\n  %s\n", screen.Markdown("  ", q.Lead))
	}
	k.out().Printf("\n%s\n", screen.Bold(screen.Indent("  ", q.Text)))
	for i, o := range q.Options {
		k.out().Printf("  %d. %s", i+1, o.Label)
		if o.Hint != "" {
			k.out().Printf(" %s", screen.Dim("– "+o.Hint))
		}
		k.out().Printf("\n")
	}
	switch {
	case len(q.Options) > 0:
	case q.Hint != "":
		k.out().Printf("%s\n", screen.Prose("", screen.Dim("("+q.Hint+")")))
	case q.Lines:
		k.out().Printf("%s\n", screen.Dim("(as many lines as you like; an empty line ends the answer)"))
	case !k.hinted && k.out().Terminal():
		k.hinted = true
		k.out().Printf("%s\n", screen.Prose("", screen.Dim("(Enter ends the answer; after \\ at the end of a line it goes on; "+
			"what you paste is one answer)")))
	}
	if q.Default != "" && len(q.Options) > 0 {
		k.out().Printf("%s", screen.Dim("["+q.Default+"] "))
	}
	k.out().Printf("> ")
}

// readAnswer reads one answer; ends knows lines that end one at once, above all
// first lines that are whole ones. Without any it is io.EOF.
func (k *keyboard) readAnswer(
	ctx context.Context, several bool, ends func(line string, first bool) bool,
) (string, error) {
	var parts []string
	joined := func() string { return strings.TrimRight(strings.Join(parts, "\n"), "\n") }
	for {
		l, err := k.readLine(ctx)
		if errors.Is(err, io.EOF) && len(parts) > 0 {
			return joined(), nil
		}
		if err != nil {
			return "", err
		}
		text, pasted := k.unmark(l.text)
		blank := strings.TrimSpace(text) == ""
		if !pasted && blank && len(parts) == 0 {
			return "", nil
		}
		switch more := k.follows(l); {
		case k.paste || more:
			parts = append(parts, text)
			continue // the rest is on its way
		case pasted && !several:
			parts = append(parts, text)
			return joined(), nil
		case pasted:
		case blank && several, several && strings.TrimSpace(text) == ".":
			return joined(), nil
		case ends != nil && ends(text, len(parts) == 0):
			parts = append(parts, text)
			return joined(), nil
		case !several && !k.came(l):
			rest, goesOn := strings.CutSuffix(text, "\\")
			parts = append(parts, rest)
			if !goesOn {
				return joined(), nil
			}
			k.out().Printf("… ")
			continue
		}
		parts = append(parts, text)
		if blank && k.came(l) {
			return joined(), nil // what was pasted ends with an empty line, as an answer does
		}
		if !several {
			several = true
			k.out().Printf("%s\n", screen.Dim("(these lines are one answer; go on, or end it with an empty line)"))
		}
		k.out().Printf("  ")
	}
}

// readWord reads an answer of one line, typed or pasted: a terminal may mark a
// paste although nobody asked it to.
func (k *keyboard) readWord(ctx context.Context) (string, error) {
	text := ""
	for {
		l, err := k.readLine(ctx)
		if err != nil {
			return text, err
		}
		part, _ := k.unmark(l.text)
		if text += part; !k.paste {
			return text, nil
		}
		text += " " // the paste goes on
	}
}

// unmark takes the marks of a bracketed paste out of a line. It says whether the
// line, or a part of it, was pasted.
func (k *keyboard) unmark(text string) (string, bool) {
	pasted := k.paste
	var b strings.Builder
	for {
		mark := screen.PasteBegins
		if k.paste {
			mark = screen.PasteEnds
		}
		before, after, found := strings.Cut(text, mark)
		b.WriteString(before)
		if !found {
			return b.String(), pasted
		}
		k.paste, pasted, text = !k.paste, true, after
	}
}

// follows says whether another line came together with this one, as those of a
// paste do where the terminal puts no marks around it. It is not asked to put them:
// lines are read as the terminal hands them over, and it would echo the marks.
func (k *keyboard) follows(l typed) bool {
	if !k.timed() {
		return false
	}
	if k.ahead == nil {
		select {
		case next, ok := <-k.lines:
			if !ok {
				return false
			}
			k.ahead = &next
		case <-time.After(together):
			return false
		}
	}
	if k.ahead.end || k.ahead.at.Sub(l.at) > together {
		return false
	}
	k.last = k.ahead.at
	return true
}

// came says whether a line came together with the one before it.
func (k *keyboard) came(l typed) bool { return !k.last.IsZero() && k.last.Equal(l.at) }

// timed says that what comes in is typed, and not a text that is there at once.
func (k *keyboard) timed() bool {
	_, ok := k.t.Stdin.(*os.File)
	return ok
}

// readLine waits for a line of the terminal, or for the end of ctx. The
// goroutine that reads ends with the program: a read of a terminal cannot be
// called off. It reads ahead, so that when a line came is known.
func (k *keyboard) readLine(ctx context.Context) (typed, error) {
	if k.lines == nil {
		k.lines = make(chan typed, 4096)
		go listen(k.t.Stdin, k.timed(), k.lines)
	}
	if k.ahead != nil {
		l := *k.ahead
		k.ahead = nil
		return l.orEnd()
	}
	select {
	case l, ok := <-k.lines:
		if !ok {
			return typed{}, io.EOF
		}
		return l.orEnd()
	case <-ctx.Done():
		return typed{}, context.Cause(ctx)
	}
}

func (l typed) orEnd() (typed, error) {
	if l.end {
		return typed{}, io.EOF
	}
	return l, nil
}

// listen reads lines until there are no more; a person who is timed can go on
// after an end.
func listen(from io.Reader, timed bool, out chan<- typed) {
	defer close(out)
	in := bufio.NewReader(from)
	for {
		text, err := in.ReadString('\n')
		if text != "" {
			out <- typed{text: strings.TrimRight(text, "\r\n"), at: time.Now()}
		}
		switch {
		case errors.Is(err, io.EOF) && text == "" && timed:
			out <- typed{end: true} // Ctrl-D: a terminal goes on after it
		case err != nil:
			return
		}
	}
}
