package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
	"conclave/terminal"
)

func newTableRoll(env *environment) *cobra.Command {
	var in app.DiceRoll
	cmd := &cobra.Command{
		Use:   "roll EXPR",
		Short: "Let dice fall",
		Long: `Roll reads an expression and rolls it. With --table the roll is in that table's
log, where it can be checked; without, it is for practice and nobody can.`,
		Example: `  conclave table roll 4d6k3
  conclave table roll --table ashfall --who bram-oatley "1d20+3 vs 15"`,
		Args: oneArg("expression"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Expr = args[0]
			lines, err := env.app().Roll(cmd.Context(), in)
			for _, l := range lines {
				env.Stdout.Printf("%s\n", l)
			}
			return err
		},
	}
	addWaitFlag(cmd, &in.Seating)
	cmd.Flags().StringVar(&in.Table, "table", "", "the campaign whose log takes the roll")
	cmd.Flags().StringVar(&in.Who, "who", "gm", "who rolls: gm, or a character")
	cmd.Flags().StringVar(&in.Purpose, "purpose", "", "what for")
	cmd.Flags().StringVar(&in.Visibility, "visibility", "open", "open, sealed or private")
	return cmd
}

func newTableReveal(env *environment) *cobra.Command {
	var f app.Seating
	return tableVerb(env, &cobra.Command{
		Use: "reveal NAME ROLL", Short: "Open a sealed or private roll to everyone", Args: argsNamed("a campaign", "the number of a roll"),
		Example: "  conclave table reveal ashfall 7",
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		text, err := env.app().RevealRoll(ctx, f, args[1])
		return screen.Sprintf("%s", text), err
	})
}

func newTableSave(env *environment) *cobra.Command {
	var f app.Seating
	return tableVerb(env, &cobra.Command{
		Use: "save NAME POINT", Short: "Keep a save point", Args: argsNamed("a campaign", "a name for the save point"),
		Long: `Save keeps the campaign as it is under a name. The table keeps save points of its
own (auto-…) whenever a scene has begun and a session has ended, the last ten of
them; conclave table status lists all.`,
		Example: "  conclave table save ashfall before-the-lock",
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		save, err := env.app().SaveTable(ctx, f, args[1])
		return screen.Sprintf("saved as %s, at cycle %d", save.Name, save.Cycle), err
	})
}

func newTableRestore(env *environment) *cobra.Command {
	var f app.Seating
	return tableVerb(env, &cobra.Command{
		Use: "restore NAME POINT", Short: "Go back to a save point", Args: argsNamed("a campaign", "a save point"),
		Long: `Restore brings the campaign's files and the table's memory back to a save point.
What is now is kept as a save point of its own. Dice do not go back: their seed is
shown, a new one begins.`,
		Example: "  conclave table restore ashfall before-the-lock",
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		kept, err := env.app().RestoreTable(ctx, f, args[1])
		return screen.Sprintf("back at %s; what was is kept as %s", args[1], kept), err
	})
}

func newTableFork(env *environment) *cobra.Command {
	var f app.Seating
	var from string
	cmd := tableVerb(env, &cobra.Command{
		Use: "fork NAME NEW", Short: "Make another campaign of this one", Args: argsNamed("a campaign", "a name for the new one"),
		Example: "  conclave table fork ashfall ashfall-two --from before-the-lock",
	}, &f, func(ctx context.Context, args []string) (screen.Text, error) {
		return screen.Sprintf("campaigns/%s goes its own way", args[1]), env.app().ForkTable(ctx, f, args[1], from)
	})
	cmd.Flags().StringVar(&from, "from", "", "a save point; otherwise from now")
	return cmd
}

func newTableJournal(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "journal NAME CHARACTER", Short: "Read a character's journal", Args: argsNamed("a campaign", "a character"),
		Example: "  conclave table journal ashfall bram-oatley",
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := env.app().Journal(args[0], args[1])
			if err == nil {
				_, err = io.WriteString(env.Stdout.Raw(), text)
			}
			return err
		},
	}
}

func newTableExport(env *environment) *cobra.Command {
	var in app.StoryExport
	cmd := &cobra.Command{
		Use:   "export NAME",
		Short: "The story as Markdown or HTML, the actual play, a player's edition",
		Example: `  conclave table export ashfall > story.md
  conclave table export ashfall --format html --title "The Lamp" -o story.html
  conclave table export ashfall --format log --as gm
  conclave table export ashfall --player-edition for-bram --as bram-oatley`,
		Args: oneArg("campaign"),
		RunE: func(_ *cobra.Command, args []string) error {
			in.Table = args[0]
			text, files, err := env.app().ExportStory(in)
			if err != nil {
				return err
			}
			if len(files) > 0 {
				env.Stdout.Printf("%s: %s\n", in.Edition, strings.Join(files, ", "))
			}
			_, err = io.WriteString(env.Stdout.Raw(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&in.Format, "format", "md", "md, html or log")
	cmd.Flags().StringVar(&in.As, "as", "table", "whose knowledge: table, a character, or gm")
	cmd.Flags().StringVarP(&in.Output, "output", "o", "", "the file to write")
	cmd.Flags().StringVar(&in.Title, "title", "", "title of the story (default: the campaign's name)")
	cmd.Flags().StringVar(&in.Edition, "player-edition", "", "write story, party knowledge and world into this directory, without secrets")
	return cmd
}

func newTableAudit(env *environment) *cobra.Command {
	var isolation bool
	cmd := answer(env, &cobra.Command{
		Use:   "audit NAME",
		Short: "What fed every call, and did anything reach anyone who must not know it?",
		Long: `Audit lists for every call of the table the sources that fed it (path, digest)
and the tools that were called in it, holds the sources against what the seat
may read, and judges the records as conclave audit does. It looks through the
campaign's files as well: for tags that are not clear, and for tagged secrets that
also stand where others read them, with file and line. It exits with 1 when
anything was found.`,
		Example: "  conclave table audit ashfall\n  conclave table audit ashfall --json",
		Args:    oneArg("campaign"),
	}, func(_ context.Context, args []string) (app.TableAudit, error) {
		return env.app().AuditTable(args[0])
	}, func(w *screen.Writer, v app.TableAudit) error {
		printTableAudit(w, v, isolation)
		return nil
	})
	cmd.Flags().BoolVar(&isolation, "isolation", false, "print the sources only")
	return cmd
}

func printTableAudit(w *screen.Writer, found app.TableAudit, isolation bool) {
	for _, c := range found.Calls {
		w.Printf("%s %s %s\n", c.Run, c.Turn, c.Role)
		for _, s := range c.Sources.Sources {
			note := ""
			if s.Note != "" {
				note = " (" + s.Note + ")"
			}
			w.Printf("    %s %.12s %d bytes%s\n", s.Path, s.SHA256, s.Bytes, note)
		}
		for _, t := range found.Tools(c) {
			if isolation {
				break
			}
			note := ""
			if t.Failed {
				note = ", not taken"
			}
			w.Printf("    called %s %.12s %d bytes%s\n", t.Name, t.SHA256, t.Bytes, note)
		}
		for _, p := range c.Trespasses() {
			w.Printf("found: %s must not read %s\n", c.Character, p)
		}
	}
	for _, f := range found.Files {
		w.Printf("found: %s\n", f.String())
	}
	if !isolation {
		terminal.PrintAudit(w, found.Reports, len(found.Files))
	}
}
