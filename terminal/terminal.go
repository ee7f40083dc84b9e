// Package terminal is a person at a terminal: how they are asked and what of
// their typing is an answer, how a conversation, progress and other events look,
// and how a room is lent their keyboard and screen. It is the part of a face that
// knows no command: it shows what app tells and hands on what is typed. What is
// shown goes through internal/screen, and nothing else is written.
package terminal

import (
	"context"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"conclave/app"
	"conclave/internal/screen"
)

// Terminal is where a command is run from: what comes in, and where words go.
type Terminal struct {
	Stdin           io.Reader
	Stdout, Stderr  *screen.Writer
	StdinIsTerminal bool
	Muted           bool // standard output is for JSON alone

	person   *keyboard // at this terminal
	progress progress  // the line that says how far something is
	voice    voice
}

// On is the terminal of these files, each of which may be none.
func On(in, out, errs *os.File) Terminal {
	return Terminal{
		Stdin: in, Stdout: screenOn(out), Stderr: screenOn(errs),
		StdinIsTerminal: term.IsTerminal(int(in.Fd())),
	}
}

// screenOn is the way to a file that may be a terminal. A person can do without
// colours: NO_COLOR.
func screenOn(f *os.File) *screen.Writer {
	return screen.New(f, screen.Options{
		Terminal: term.IsTerminal(int(f.Fd())),
		Plain:    os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
		Width: func() int {
			width, _, _ := term.GetSize(int(f.Fd())) // 0 where nobody knows
			return width
		},
	})
}

// Begin makes it ready for a command: nothing was typed yet, nobody is muted.
func (t *Terminal) Begin() { t.person, t.Muted = nil, false }

// Person is who can be asked here: nobody where nothing is typed.
func (t *Terminal) Person() app.Person {
	if !t.StdinIsTerminal {
		return nil
	}
	return t.keyboard()
}

// Word asks for one line; the end of the input is an empty answer.
func (t *Terminal) Word(ctx context.Context, format string, args ...any) string {
	t.Stdout.Printf(format, args...)
	line, _ := t.keyboard().readWord(ctx)
	return strings.TrimSpace(line)
}

// keyboard is the one reader of what is typed.
func (t *Terminal) keyboard() *keyboard {
	if t.person == nil {
		t.person = &keyboard{t: t}
	}
	return t.person
}

// Show prints an event.
func (t *Terminal) Show(e app.Event) {
	switch e := e.(type) {
	case app.Warning:
		t.Stderr.Printf("conclave: %s\n", e.Text)
	case app.Faults:
		PrintFaults(t.Stdout, e)
	case app.Following:
		t.Stderr.Printf("following %s\n", strings.Join(e.Roots, " and "))
	case app.Collecting:
		t.showCollecting(e.Balance)
	case app.Progress:
		t.showProgress(e)
	case app.Aside:
		t.keyboard().out().Printf("%s\n", screen.Prose("", screen.Dim(e.Text)))
	case app.Note:
		t.Stdout.Printf("\n%s\n", screen.Prose("", e.Text))
	case app.Remark:
		t.Stdout.Printf("%s\n", screen.Prose("", e.Text))
	case app.Passage:
		t.printPassage(e)
	case app.ClearScreen:
		t.Stdout.Clear()
	case app.Speech:
		if !t.Muted {
			t.voice.hear(t.Stdout, e)
		}
	case app.Outcome:
		t.printOutcome(e)
		t.PrintOffers(app.Offers{List: e.Offers})
	case app.Offers:
		t.PrintOffers(e)
	case app.Standing:
		t.printStanding(e)
	case app.Cast:
		t.PrintCast(e)
	case app.RoomView:
		t.PrintRoom(e)
	case app.Audited:
		PrintAudit(t.Stdout, e.Reports, 0)
	}
}

// printPassage prints what a seat of this screen sees of a table.
func (t *Terminal) printPassage(p app.Passage) {
	switch p.Kind {
	case "scene":
		title, place, _ := strings.Cut(p.Text, "\n")
		t.Stdout.Printf("\n%s\n", screen.Bold("── "+title+" ──"))
		if place != "" {
			t.Stdout.Printf("  %s\n", screen.Prose("  ", screen.Dim(place)))
		}
	case "narrative", "recap", "desk":
		t.Stdout.Printf("\n  %s\n", screen.Markdown("  ", p.Text))
	case "digest":
		t.Stdout.Printf("  %s\n\n", screen.Markdown("  ", p.Text))
	case "slow":
		if !t.Stdout.Terminal() {
			return // nobody is here to wonder why it takes so long
		}
		fallthrough
	default:
		t.Stdout.Printf("\n  %s\n", screen.Dim(screen.Indent("  ", p.Text)))
	}
}
