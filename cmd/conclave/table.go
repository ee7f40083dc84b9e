package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
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
		newTablePlay(env), newTableResume(env), newTableSay(env), newTableSignal(env),
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

func newTableList(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "The campaigns of this workspace", Args: cobra.NoArgs,
		Example: "  conclave table list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := env.app().Tables(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return env.Stdout.JSON(list)
			}
			if len(list) == 0 {
				env.Stdout.Printf("no campaigns here; begin one: conclave table new NAME --adventure\n")
				return nil
			}
			tw := env.Stdout.Table(false)
			tw.Printf("CAMPAIGN\tSESSION\tCYCLE\tPARTY\tSTATE\n")
			for _, st := range list {
				tw.Printf("%s\t%d\t%d\t%d\t%s\n", st.Campaign, st.Session, st.Cycle, len(st.Characters), app.TableState(st))
			}
			return tw.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func newTableStatus(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status NAME", Short: "How a table stands", Args: oneArg("campaign"),
		Example: "  conclave table status ashfall",
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := env.app().TableStatus(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return env.Stdout.JSON(st)
			}
			env.Stdout.Printf("%s: session %d, cycle %d, %s\n", st.Campaign, st.Session, st.Cycle, app.TableState(st))
			if st.Scene != nil {
				env.Stdout.Printf("scene %d: %s\n", st.Scene.Number, st.Scene.Title)
			}
			for _, c := range st.Characters {
				away := ""
				if c.Away {
					away = ", its person is away"
				}
				env.Stdout.Printf("  %s (%s): %s%s\n", c.Slug, c.Name, c.Status, away)
			}
			for _, part := range []struct {
				what string
				list []string
			}{{"open", st.Open}, {"journal", st.Journals}, {"draft", st.Drafts}, {"problem", st.Problems}} {
				for _, l := range part.list {
					env.Stdout.Printf("%s: %s\n", part.what, l)
				}
			}
			for _, sv := range st.Saves {
				scene := ""
				if sv.Scene != "" {
					scene = ", " + sv.Scene
				}
				env.Stdout.Printf("save point: %s (cycle %d%s)\n", sv.Name, sv.Cycle, scene)
			}
			env.Stdout.Printf("dice: %s\n", counted(st.Rolls, "roll", "rolls"))
			if st.Holder != nil {
				env.Stdout.Printf("held by process %d: %s\n", st.Holder.PID, st.Holder.Purpose)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func newTableValidate(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "validate NAME", Short: "Can this campaign be played?", Args: oneArg("campaign"),
		Example: "  conclave table validate ashfall",
		RunE: func(_ *cobra.Command, args []string) error {
			v, err := env.app().ValidateTable(args[0])
			switch {
			case err != nil && !app.Said(err):
			case asJSON:
				return errors.Join(env.Stdout.JSON(v), err)
			default:
				for _, p := range v.Problems {
					env.Stdout.Printf("problem: %s\n", p)
				}
				for _, w := range v.Warnings {
					env.Stdout.Printf("warning: %s\n", w)
				}
				if err == nil {
					env.Stdout.Printf("%s can be played\n", args[0])
				}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
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
