package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newTableCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "table",
		Short: "Play a tabletop campaign: a game master, players, secrets, dice",
		Long: `A table plays a campaign in campaigns/NAME: a game master and players, each an
agent or a person, each in a seat that sees what it may see and nothing else.
Every campaign file is written by the engine; dice fall once, and can be checked;
a session that was cut goes on where it stopped.`,
		Example: `  conclave table new ashfall --adventure
  conclave table play ashfall --as bram-oatley
  conclave table play ashfall --auto --max-turns 5
  conclave table audit ashfall`,
	}
	cmd.AddCommand(
		newTableNew(env), newTableList(env), newTableValidate(env),
		newTablePlay(env), newTableResume(env), newTableSay(env), newTableSignal(env), newTableEnd(env), newTableChat(env),
		newTableStatus(env), newTableSeats(env), newTableRename(env),
		newTableRoll(env), newTableDice(env), newTableReveal(env),
		newTableSave(env), newTableRestore(env), newTableFork(env),
		newTableJournal(env), newTableExport(env), newTableAudit(env),
	)
	return cmd
}

// addWaitFlag is for commands that open a table.
func addWaitFlag(cmd *cobra.Command, in *app.Seating) {
	cmd.Flags().BoolVar(&in.Wait, "wait", false, "wait while another process holds the table")
}

// tableVerb makes a command of what is done at a table, which the first argument
// names. What do returns is said when it was done.
func tableVerb(
	env *environment, cmd *cobra.Command, in *app.Seating,
	do func(ctx context.Context, args []string) (screen.Text, error),
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		in.Table = args[0]
		done, err := do(cmd.Context(), args)
		if err == nil && done != (screen.Text{}) {
			env.Stdout.Printf("%s\n", done)
		}
		return err
	}
	addWaitFlag(cmd, in)
	return cmd
}

func newTableList(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use: "list", Short: "The campaigns of this workspace", Args: cobra.NoArgs,
		Example: "  conclave table list --json",
	}, func(ctx context.Context, _ []string) ([]app.TableInfo, error) {
		return env.app().Tables(ctx)
	}, func(w *screen.Writer, v []app.TableInfo) error {
		if len(v) == 0 {
			w.Printf("no campaigns here; begin one: conclave table new NAME --adventure\n")
			return nil
		}
		tw := w.Table(false)
		tw.Printf("CAMPAIGN\tSESSION\tCYCLE\tPARTY\tSTATE\n")
		for _, st := range v {
			tw.Printf("%s\t%d\t%d\t%d\t%s\n", st.Campaign, st.Session, st.Cycle, len(st.Characters), app.TableState(st))
		}
		return tw.Flush()
	})
}

func newTableStatus(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use: "status NAME", Short: "How a table stands", Args: oneArg("campaign"),
		Example: "  conclave table status ashfall",
	}, func(ctx context.Context, args []string) (app.TableInfo, error) {
		return env.app().TableStatus(ctx, args[0])
	}, func(w *screen.Writer, v app.TableInfo) error {
		w.Printf("%s: session %d, cycle %d, %s\n", v.Campaign, v.Session, v.Cycle, app.TableState(v))
		if v.Scene != nil {
			w.Printf("scene %d: %s\n", v.Scene.Number, v.Scene.Title)
		}
		for _, c := range v.Characters {
			away := ""
			if c.Away {
				away = ", its person is away"
			}
			w.Printf("  %s (%s): %s%s\n", c.Slug, c.Name, c.Status, away)
		}
		if v.Awaited != nil {
			w.Printf("awaited: %s\n", app.AwaitedIn(v))
		}
		for _, part := range []struct {
			what string
			list []string
		}{{"open", v.Open}, {"journal", v.Journals}, {"draft", v.Drafts}} {
			for _, l := range part.list {
				w.Printf("%s: %s\n", part.what, l)
			}
		}
		for _, t := range v.Told {
			w.Printf("note: %s\n", t.Text)
		}
		for _, sv := range v.Saves {
			scene := ""
			if sv.Scene != "" {
				scene = ", " + sv.Scene
			}
			w.Printf("save point: %s (cycle %d%s)\n", sv.Name, sv.Cycle, scene)
		}
		w.Printf("dice: %s\n", screen.Counted(v.Rolls, "roll", "rolls"))
		if v.Holder != nil {
			w.Printf("held by process %d: %s\n", v.Holder.PID, v.Holder.Purpose)
		}
		return nil
	})
}

func newTableValidate(env *environment) *cobra.Command {
	return answer(env, &cobra.Command{
		Use: "validate NAME", Short: "Can this campaign be played?", Args: oneArg("campaign"),
		Example: "  conclave table validate ashfall",
	}, func(_ context.Context, args []string) (app.TableFaults, error) {
		return env.app().ValidateTable(args[0])
	}, func(w *screen.Writer, v app.TableFaults) error {
		for _, p := range v.Problems {
			w.Printf("problem: %s\n", p)
		}
		for _, text := range v.Warnings {
			w.Printf("warning: %s\n", text)
		}
		if len(v.Problems) == 0 {
			w.Printf("%s can be played\n", v.Table)
		}
		return nil
	})
}

// argsNamed wants exactly these arguments.
func argsNamed(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return usageError("%s takes %s\ntry: %[1]s --help", cmd.CommandPath(), strings.Join(names, " and "))
	}
}
