package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"conclave/agent"
	"conclave/internal/screen"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/room"
)

func newRoomCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "room",
		Short: "Look into a role's locked room, or run something in it",
		Long: `A role's room holds copies of exactly what the role may know. These commands
let you see what the Dragon would see, walk around in it, and try its walls.
What runs there has at most 4 GiB of memory and of disk, 1 GiB in a file,
1024 processes and 8192 descriptors (docs/levels.md).`,
		Example: `  conclave room show dragon README.md src/
  conclave room enter guardian
  conclave room run dragon --work report.md -- cat work/report.md`,
	}
	cmd.AddCommand(newRoomShowCommand(env), newRoomEnterCommand(env), newRoomRunCommand(env))
	return cmd
}

// roomFlags are those of every look into a room.
type roomFlags struct{ grants []string }

func (f *roomFlags) add(cmd *cobra.Command) { addGrantFlag(cmd, &f.grants) }

// furnish plans the room of a role of this workspace's quest, as the flows do.
func (env *environment) furnish(ctx context.Context, name string, paths []string, flags roomFlags) (flow.Furnishing, error) {
	role := policy.Role(strings.ToLower(name))
	if !role.Known() {
		return flow.Furnishing{}, usageError("no role is called %q (there are %s)", name, roleNames())
	}
	w, err := env.enter()
	if err != nil {
		return flow.Furnishing{}, err
	}
	if err := w.VouchForProfiles(); err != nil {
		return flow.Furnishing{}, err
	}
	granted, err := grantedPaths(w.Root, flags.grants)
	if err != nil {
		return flow.Furnishing{}, err
	}
	f, err := flow.New(flow.Options{Root: w.Root, Trust: w, Granted: granted}).Room(ctx, role, paths)
	var work *quest.WorkError
	switch {
	case errors.As(err, &work), errors.Is(err, flow.ErrNoWork):
		return f, usageError("%w", err)
	case err != nil:
		return f, environmentError("%w", err)
	}
	return f, nil
}

// lowered is furnish with the level that the person's own configuration gives
// to whoever is a program in that role.
func (env *environment) lowered(ctx context.Context, name string, paths []string, flags roomFlags) (flow.Furnishing, error) {
	f, err := env.furnish(ctx, name, paths, flags)
	if err != nil {
		return f, err
	}
	own, err := env.app().OwnConfig()
	if err != nil {
		return f, err
	}
	if lower := own.Lower[f.Plan.Role]; lower != "" {
		f.Plan.Lower = room.Level(lower)
	}
	return f, nil
}

func newRoomShowCommand(env *environment) *cobra.Command {
	var asJSON bool
	var flags roomFlags
	cmd := &cobra.Command{
		Use:   "show ROLE [PATH…]",
		Short: "List what a role would see, and what not, with reasons; starts nobody",
		Long: `Show lists the very room that the role would get: what is in it, what of the
quest is kept from it, and which files of the project or of the named work are
held back, each with its kind and the reason. Keys and logins (.env, .ssh,
id_rsa, a *.pem that holds a private key …) are in nobody's room; --grant lets
one in by name, for this command alone.`,
		Example: "  conclave room show dragon src/ README.md\n  conclave room show cat --grant .env.test\n  conclave room show gandalf --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := env.lowered(cmd.Context(), args[0], args[1:], flags)
			if err != nil {
				return err
			}
			r, err := room.OpenDesk(cmd.Context(), f.Plan)
			if err != nil {
				return environmentError("%w", err)
			}
			m := r.Manifest()
			if err := r.Close(); err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				return env.Stdout.JSON(shownRoom(f, m))
			}
			env.printRoom(f, m)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	flags.add(cmd)
	return cmd
}

func newRoomEnterCommand(env *environment) *cobra.Command {
	var flags roomFlags
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
			return env.runInRoom(cmd.Context(), args[0], args[1:], []string{"/bin/sh", "-i"}, flags, true)
		},
	}
	flags.add(cmd)
	return cmd
}

func newRoomRunCommand(env *environment) *cobra.Command {
	var work []string
	var flags roomFlags
	cmd := &cobra.Command{
		Use:     "run ROLE [--work PATH…] -- COMMAND…",
		Short:   "Run a command in a role's room",
		Example: "  conclave room run dragon --work report.md -- ls -R\n  conclave room run dragon -- cat /etc/shadow",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.runInRoom(cmd.Context(), args[0], work, args[1:], flags, false)
		},
	}
	cmd.Flags().StringArrayVar(&work, "work", nil, "work to put into the room (may be repeated)")
	flags.add(cmd)
	return cmd
}

func (env *environment) runInRoom(ctx context.Context, role string, work, command []string, flags roomFlags, terminal bool) error {
	f, err := env.lowered(ctx, role, work, flags)
	if err != nil {
		return err
	}
	path := command[0]
	if !strings.HasPrefix(path, "/") {
		found, err := exec.LookPath(path)
		if err != nil {
			return usageError("no program is called %q", path)
		}
		path = found
	}
	r, err := room.Open(ctx, f.Plan)
	if err != nil {
		return environmentError("%w", err)
	}
	defer r.Close()
	if weaker := r.Weaker(); weaker != "" {
		env.app().Tell(role + ": " + weaker)
	}
	run := agent.Command{Path: path, Args: command[1:], Dir: r.Place().InGuest(agent.WorkDir), Env: []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + r.Place().InGuest(agent.HomeDir), "TMPDIR=" + r.Place().InGuest(agent.TempDir),
		"TERM=dumb", "LANG=C.UTF-8", "PS1=" + role + "$ ",
	}}
	// Who only listens to a terminal needs one on both sides.
	if terminal || env.StdinIsTerminal && env.Stdout.Terminal() && room.HasTerminals && fileOf(env.Stdin) != nil {
		err = env.attach(ctx, r, run, terminal)
	} else {
		err = env.relay(ctx, r, run)
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, room.ErrExposed):
		return environmentError("%w", err)
	case errors.As(err, &exit):
		return noError("the command ended: %w", err)
	case errors.Is(err, room.ErrLevel):
		return environmentError("%w", err)
	}
	return err
}

// relay runs a command in a room: what it says goes into a pipe or a file as it
// is, and to a person through the screen. What it is told comes from a pipe or
// a file as it is; what is typed comes through a pipe.
func (env *environment) relay(ctx context.Context, r *room.Room, run agent.Command) error {
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
	return r.Run(ctx, run, room.Stdio{In: in, Out: out, Err: errs})
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
func (env *environment) attach(ctx context.Context, r *room.Room, run agent.Command, edit bool) error {
	in := fileOf(env.Stdin)
	outer, inner, err := room.NewTerminal()
	if err != nil {
		return environmentError("%w", err)
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
	streams := room.Stdio{In: inner, Out: inner, Err: inner, Terminal: true}
	if f := env.Stderr.File(); f != nil {
		streams.Err = f
	}
	err = r.Run(ctx, run, streams)
	inner.Close()
	<-shown
	return err
}
