package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/table"
	tableflow "conclave/table/flow"
	door "conclave/workspace"
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

// tableFlags are those of commands that open a table.
type tableFlags struct {
	as                   []string // the seats of this screen
	answers              string
	auto, wait, endAfter bool
	maxTurns             int
	asker                *asker // who is here; nil finds out
	screen               *tableScreen
}

func (f *tableFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait while another process holds the table")
}

// openTable opens a campaign for writing.
func (env *environment) openTable(ctx context.Context, cmd *cobra.Command, name string, f tableFlags) (*tableflow.Table, *workspace, error) {
	w, err := env.openWorkspace()
	if err != nil {
		return nil, nil, err
	}
	o := tableflow.Options{
		Workspace: w.Root, Campaign: name, Cast: w.TableCast(name, f.as, f.auto), Auto: f.auto, Wait: f.wait,
		Purpose: cmd.CommandPath() + " " + name, Program: "conclave " + version,
		Here: f.as,
	}
	if f.asker == nil && !f.auto {
		if f.asker, err = env.tableAsker(f.answers); err != nil {
			return nil, nil, err
		}
	}
	if f.screen == nil {
		f.screen = env.newTableScreen(f.as, f.asker)
	}
	o.Show = f.screen.show
	if f.screen.asker = f.asker; f.asker != nil { // an interface of a nil pointer would be somebody
		o.Asker = f.screen
	}
	if err := w.MakePrivate(); err != nil {
		return nil, nil, err
	}
	t, err := tableflow.Open(ctx, o)
	if err != nil {
		return nil, nil, tableError(name, err)
	}
	return t, w, nil
}

// tableAsker is nobody where there is neither a terminal nor a file.
func (env *environment) tableAsker(answers string) (*asker, error) {
	a := &asker{env: env, out: env.Stdout, strict: true}
	if answers == "" {
		if !env.StdinIsTerminal {
			return nil, nil
		}
		return a, nil
	}
	data, err := door.ReadNamed(inDir(env, answers), maxMessage)
	if err != nil {
		return nil, environmentError("read the answers: %w", err)
	}
	a.answers = splitAnswers(string(data))
	return a, nil
}

// tableError gives an error of a table its exit code and the way out.
func tableError(name string, err error) error {
	var held *lockfile.HeldError
	var cut *engine.CutError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return environmentError("the table is in use: %w (--wait waits for it)", err)
	case errors.As(err, &cut):
		return environmentError("the table waits: %w\ncontinue with: conclave table resume %s", err, name)
	case errors.Is(err, tableflow.ErrOpen):
		return noError("%w: conclave table resume %s", err, name)
	}
	return environmentError("%w", err)
}

func newTableList(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "The campaigns of this workspace", Args: cobra.NoArgs,
		Example: "  conclave table list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			names, err := table.Campaigns(root)
			if err != nil {
				return environmentError("%w", err)
			}
			list := []tableflow.Status{}
			for _, name := range names {
				st, err := tableflow.Look(cmd.Context(), root, name)
				if err != nil {
					st = tableflow.Status{Campaign: name, Problems: []string{err.Error()}}
				}
				list = append(list, st)
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
				tw.Printf("%s\t%d\t%d\t%d\t%s\n", st.Campaign, st.Session, st.Cycle, len(st.Characters), tableState(st))
			}
			return tw.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func tableState(st tableflow.Status) string {
	switch {
	case len(st.Characters) == 0 && len(st.Problems) > 0:
		return "cannot be played: " + st.Problems[0]
	case len(st.Open) > 0 && st.Holder == nil:
		return "a cycle is open"
	case st.Holder != nil:
		return "in use"
	case st.InSession:
		return "in session"
	}
	return "at rest"
}

func newTableStatus(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status NAME", Short: "How a table stands", Args: oneArg("campaign"),
		Example: "  conclave table status ashfall",
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			st, err := tableflow.Look(cmd.Context(), root, args[0])
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				return env.Stdout.JSON(st)
			}
			env.Stdout.Printf("%s: session %d, cycle %d, %s\n", st.Campaign, st.Session, st.Cycle, tableState(st))
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
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			problems, warnings, err := tableflow.Validate(root, args[0], tableCaps())
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				if err := env.Stdout.JSON(map[string][]string{"problems": problems, "warnings": warnings}); err != nil {
					return err
				}
			} else {
				for _, p := range problems {
					env.Stdout.Printf("problem: %s\n", p)
				}
				for _, w := range warnings {
					env.Stdout.Printf("warning: %s\n", w)
				}
				if len(problems) == 0 {
					env.Stdout.Printf("%s can be played\n", args[0])
				}
			}
			if len(problems) > 0 {
				return saidNo()
			}
			return nil
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
