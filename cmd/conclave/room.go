package main

import (
	"context"

	"github.com/spf13/cobra"

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
one in by name, for this command alone. Seats at a table have a room for each
turn: conclave table audit shows those.`,
		Example: "  conclave room show dragon src/ README.md\n  conclave room show cat --grant .env.test\n  conclave room show gandalf --json",
		Args:    cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string) (app.RoomView, error) {
		of.Role, of.Work = args[0], args[1:]
		return env.app().ShowRoom(ctx, of)
	}, func(_ *screen.Writer, v app.RoomView) error {
		env.PrintRoom(v)
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
		return env.Lend(run, shell)
	})
}
