package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"conclave/app"
	"conclave/internal/screen"
)

func newRoomCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "room",
		Short: "Look into a role's locked room, or run something in it",
		Long: `A role's room holds copies of exactly what the role may know. These commands
let you see what the Dragon would see, walk around in it, and try its walls. A role
may be named by the character that it wears.
What runs there has at most 4 GiB of memory and of disk, 1 GiB in a file,
1024 processes and 8192 descriptors (docs/levels.md).`,
		Example: `  conclave room show dragon README.md src/
  conclave room enter guardian
  conclave room run dragon --work report.md -- cat work/report.md`,
	}
	cmd.AddCommand(newRoomShowCommand(env), newRoomEnterCommand(env), newRoomRunCommand(env))
	return cmd
}

func newRoomShowCommand(env *environment) *cobra.Command {
	var of app.RoomOf
	cmd := answer(env, &cobra.Command{
		Use:   "show ROLE [PATH…]",
		Short: "List what a role would see, and what not, with reasons; starts nobody",
		Long: `Show lists the very room that the role would get: what is in it, what of the
quest is kept from it, and which files of the project or of the named work are
held back, each with its kind and the reason. Keys and logins (.env, .ssh,
id_rsa, a *.pem that holds a private key …) are in nobody's room; --grant lets
one in by name, for this command alone.`,
		Example: "  conclave room show dragon src/ README.md\n  conclave room show cat --grant .env.test\n  conclave room show gandalf --json",
		Args:    cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string) (app.RoomView, error) {
		of.Role, of.Work = args[0], args[1:]
		return env.app().ShowRoom(ctx, of)
	}, func(_ *screen.Writer, v app.RoomView) error {
		env.printRoom(v)
		return nil
	})
	addGrantFlag(cmd, &of.Grants)
	return cmd
}

func newRoomEnterCommand(env *environment) *cobra.Command {
	var of app.RoomOf
	cmd := &cobra.Command{
		Use:   "enter ROLE [PATH…]",
		Short: "Open a shell in a role's room and look around",
		Long: `Enter opens a shell in the very room that the role would get: the same files,
the same walls. What you cannot reach there, the agent cannot either.`,
		Example: "  conclave room enter dragon README.md",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !env.StdinIsTerminal {
				return usageError("enter needs a terminal; for scripts: conclave room run %s -- COMMAND", args[0])
			}
			of.Role, of.Work = args[0], args[1:]
			return env.runInRoom(cmd.Context(), of, []string{"/bin/sh", "-i"}, true)
		},
	}
	addGrantFlag(cmd, &of.Grants)
	return cmd
}

func newRoomRunCommand(env *environment) *cobra.Command {
	var of app.RoomOf
	cmd := &cobra.Command{
		Use:     "run ROLE [--work PATH…] -- COMMAND…",
		Short:   "Run a command in a role's room",
		Example: "  conclave room run dragon --work report.md -- ls -R\n  conclave room run dragon -- cat /etc/shadow",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			of.Role = args[0]
			return env.runInRoom(cmd.Context(), of, args[1:], false)
		},
	}
	cmd.Flags().StringArrayVar(&of.Work, "work", nil, "work to put into the room (may be repeated)")
	addGrantFlag(cmd, &of.Grants)
	return cmd
}

func (env *environment) runInRoom(ctx context.Context, of app.RoomOf, command []string, shell bool) error {
	return env.app().RunInRoom(ctx, of, command, func(run func(app.Streams) error) error {
		// Who only listens to a terminal needs one on both sides.
		both := env.StdinIsTerminal && env.Stdout.Terminal() && app.HasTerminals && fileOf(env.Stdin) != nil
		if shell || both {
			return env.attach(run, shell)
		}
		return env.relay(run)
	})
}

// relay runs a command in a room: what it says goes into a pipe or a file as it
// is, and to a person through the screen. What it is told comes from a pipe or
// a file as it is; what is typed comes through a pipe.
func (env *environment) relay(run func(app.Streams) error) error {
	out, shownOut, err := handedOn(env.Stdout)
	if err != nil {
		return environmentError("%w", err)
	}
	defer shownOut()
	errs, shownErrs, err := handedOn(env.Stderr)
	if err != nil {
		return environmentError("%w", err)
	}
	defer shownErrs()
	in := fileOf(env.Stdin)
	if env.StdinIsTerminal {
		typed, to, err := os.Pipe()
		if err != nil {
			return environmentError("%w", err)
		}
		defer typed.Close()
		go func() { // ends with the program: a read of a terminal cannot be waited for
			defer to.Close()
			_, _ = io.Copy(to, env.Stdin)
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
func (env *environment) attach(run func(app.Streams) error, edit bool) error {
	in := fileOf(env.Stdin)
	outer, inner, err := app.NewTerminal()
	if err != nil {
		return err
	}
	defer outer.Close()
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return environmentError("%w", err)
	}
	defer func() { _ = term.Restore(int(in.Fd()), state) }()
	go func() { _, _ = io.Copy(outer, in) }() // ends with the program: a read of a terminal cannot be waited for
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		to := env.Stdout.Session(edit)
		_, _ = io.Copy(to, outer)
		_ = to.Flush()
	}()
	streams := app.Streams{In: inner, Out: inner, Err: inner, Terminal: true}
	if f := env.Stderr.File(); f != nil {
		streams.Err = f
	}
	err = run(streams)
	inner.Close()
	<-shown
	return err
}
