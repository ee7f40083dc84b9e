package terminal

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"conclave/app"
	"conclave/internal/screen"
)

// Lend runs something in a room before this terminal: a shell, or a command that
// has a terminal if the person has one on both sides.
func (t *Terminal) Lend(run func(app.Streams) error, shell bool) error {
	// Who only listens to a terminal needs one on both sides.
	both := t.StdinIsTerminal && t.Stdout.Terminal() && app.HasTerminals && fileOf(t.Stdin) != nil
	if shell || both {
		return t.attach(run, shell)
	}
	return t.relay(run)
}

// relay runs a command in a room: what it says goes into a pipe or a file as it
// is, and to a person through the screen. What it is told comes from a pipe or
// a file as it is; what is typed comes through a pipe.
func (t *Terminal) relay(run func(app.Streams) error) error {
	out, shownOut, err := handedOn(t.Stdout)
	if err != nil {
		return app.ErrorOf(app.Environment, "%w", err)
	}
	defer shownOut()
	errs, shownErrs, err := handedOn(t.Stderr)
	if err != nil {
		return app.ErrorOf(app.Environment, "%w", err)
	}
	defer shownErrs()
	in := fileOf(t.Stdin)
	if t.StdinIsTerminal {
		typed, to, err := os.Pipe()
		if err != nil {
			return app.ErrorOf(app.Environment, "%w", err)
		}
		defer typed.Close()
		go func() { // ends with the program: a read of a terminal cannot be waited for
			defer to.Close()
			_, _ = io.Copy(to, t.Stdin)
		}()
		in = typed
	}
	return run(app.Streams{In: in, Out: out, Err: errs})
}

// handedOn is a file that a program in a room may write to, and what is to be
// called when it has ended.
func handedOn(w *screen.Writer) (*os.File, func(), error) {
	if f := w.File(); f != nil {
		return f, func() {}, nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(w, from) // a screen that is gone shows nothing
		from.Close()
		_ = w.Flush()
	}()
	return to, func() {
		to.Close()
		_ = from.SetReadDeadline(time.Now().Add(time.Second)) // who stayed behind in the room is not waited for
		<-shown
	}, nil
}

// fileOf is the file behind a stream; rooms hand descriptors on, not readers.
func fileOf(stream any) *os.File {
	f, _ := stream.(*os.File)
	return f
}

// attach relays the person's terminal to one of the room's own. The person's
// own never enters: what is typed into it would reach the shell outside.
func (t *Terminal) attach(run func(app.Streams) error, edit bool) error {
	in := fileOf(t.Stdin)
	outer, inner, err := app.NewTerminal()
	if err != nil {
		return err
	}
	defer outer.Close()
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return app.ErrorOf(app.Environment, "%w", err)
	}
	defer func() { _ = term.Restore(int(in.Fd()), state) }()
	go func() { _, _ = io.Copy(outer, in) }() // ends with the program: a read of a terminal cannot be waited for
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		to := t.Stdout.Session(edit)
		_, _ = io.Copy(to, outer)
		_ = to.Flush()
	}()
	streams := app.Streams{In: inner, Out: inner, Err: inner, Terminal: true}
	if f := t.Stderr.File(); f != nil {
		streams.Err = f
	}
	err = run(streams)
	inner.Close()
	<-shown
	return err
}
