package main

import (
	"crypto/rand"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/audit"
	"conclave/dice"
	"conclave/policy"
	"conclave/table"
	tableflow "conclave/table/flow"
	"conclave/table/story"
)

// chance is dice without a log.
type chance struct{}

func (chance) Face(sides int) (int, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(sides)))
	if err != nil {
		return 0, err
	}
	return int(n.Int64()) + 1, nil
}

func newTableRoll(env *environment) *cobra.Command {
	var campaign, who, purpose, visibility string
	var f tableFlags
	cmd := &cobra.Command{
		Use:   "roll EXPR",
		Short: "Let dice fall",
		Long: `Roll reads an expression and rolls it. With --table the roll is in that table's
log, where it can be checked; without, it is for practice and nobody can.`,
		Example: `  conclave table roll 4d6k3
  conclave table roll --table ashfall --who bram-oatley "1d20+3 vs 15"`,
		Args: oneArg("expression"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			parsed, err := dice.Parse(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			if campaign == "" {
				results, err := parsed.Eval(chance{})
				if err != nil {
					return usageError("%w", err)
				}
				for _, r := range results {
					env.Stdout.Printf("%s\n", r.Text)
				}
				return nil
			}
			if err := env.checkSeat(campaign, who); err != nil {
				return err
			}
			t, _, err := env.openTable(cmd.Context(), cmd, campaign, f)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tableError(campaign, t.Close())) }()
			l, err := t.Roll(dice.Request{Who: who, Expr: args[0], Purpose: purpose, Visibility: dice.Visibility(visibility)})
			if err != nil {
				return usageError("%w", err)
			}
			env.Stdout.Printf("%s\n", l.Told(dice.Viewer{GM: who == string(policy.GM), Name: who}))
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&campaign, "table", "", "the campaign whose log takes the roll")
	cmd.Flags().StringVar(&who, "who", string(policy.GM), "who rolls: gm, or a character")
	cmd.Flags().StringVar(&purpose, "purpose", "", "what for")
	cmd.Flags().StringVar(&visibility, "visibility", "open", "open, sealed or private")
	return cmd
}

func newTableDice(env *environment) *cobra.Command {
	cmd := &cobra.Command{Use: "dice", Short: "The log of a table's dice"}
	var asJSON bool
	verify := &cobra.Command{
		Use: "verify NAME", Short: "Recompute every roll", Args: oneArg("campaign"),
		Long: `Verify recomputes the chain, the commitments and every roll whose seed is shown.
It proves that nothing was changed and nothing chosen later: fair against everyone
but the host of the engine, who can read the seed of an epoch that is open.`,
		Example: "  conclave table dice verify ashfall",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := env.checkSeat(args[0], ""); err != nil {
				return err
			}
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			report, err := dice.VerifyFile(filepath.Join(root, "campaigns", args[0], table.DiceLogFile))
			if errors.Is(err, os.ErrNotExist) {
				return noError("no dice have fallen in %s yet", args[0])
			}
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				if err := env.Stdout.JSON(report); err != nil {
					return err
				}
			} else {
				for _, e := range report.Epochs {
					env.Stdout.Printf("epoch %d: %s, %s, commitment %s\n", e.Epoch, counted(e.Rolls, "roll", "rolls"), e.State, e.Commit)
				}
			}
			if !report.OK() {
				return noError("line %d: %s", report.Bad.Line, report.Bad.Reason)
			}
			return nil
		},
	}
	verify.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.AddCommand(verify)
	return cmd
}

func newTableReveal(env *environment) *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use: "reveal NAME ROLL", Short: "Open a sealed or private roll to everyone", Args: argsNamed("a campaign", "the number of a roll"),
		Example: "  conclave table reveal ashfall 7",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			n, err := strconv.ParseUint(args[1], 10, 64)
			if err != nil {
				return usageError("%q is no number of a roll", args[1])
			}
			t, _, err := env.openTable(cmd.Context(), cmd, args[0], f)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tableError(args[0], t.Close())) }()
			l, err := t.Reveal(n)
			if err != nil {
				return noError("%w", err)
			}
			env.Stdout.Printf("%s\n", l.Told(dice.Viewer{GM: true}))
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func newTableSave(env *environment) *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use: "save NAME POINT", Short: "Keep a save point", Args: argsNamed("a campaign", "a name for the save point"),
		Long: `Save keeps the campaign as it is under a name. The table keeps save points of its
own (auto-…) whenever a scene has begun and a session has ended, the last ten of
them; conclave table status lists all.`,
		Example: "  conclave table save ashfall before-the-lock",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t, _, err := env.openTable(cmd.Context(), cmd, args[0], f)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tableError(args[0], t.Close())) }()
			save, err := t.Save(cmd.Context(), args[1])
			if err != nil {
				return noError("%w", err)
			}
			env.Stdout.Printf("saved as %s, at cycle %d\n", save.Name, save.Cycle)
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func newTableRestore(env *environment) *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use: "restore NAME POINT", Short: "Go back to a save point", Args: argsNamed("a campaign", "a save point"),
		Long: `Restore brings the campaign's files and the table's memory back to a save point.
What is now is kept as a save point of its own. Dice do not go back: their seed is
shown, a new one begins.`,
		Example: "  conclave table restore ashfall before-the-lock",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t, _, err := env.openTable(cmd.Context(), cmd, args[0], f)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tableError(args[0], t.Close())) }()
			kept, err := t.Restore(cmd.Context(), args[1])
			if err != nil {
				return noError("%w", err)
			}
			env.Stdout.Printf("back at %s; what was is kept as %s\n", args[1], kept)
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func newTableFork(env *environment) *cobra.Command {
	var f tableFlags
	var from string
	cmd := &cobra.Command{
		Use: "fork NAME NEW", Short: "Make another campaign of this one", Args: argsNamed("a campaign", "a name for the new one"),
		Example: "  conclave table fork ashfall ashfall-two --from before-the-lock",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t, _, err := env.openTable(cmd.Context(), cmd, args[0], f)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tableError(args[0], t.Close())) }()
			if err := t.Fork(cmd.Context(), args[1], from); err != nil {
				return noError("%w", err)
			}
			env.Stdout.Printf("campaigns/%s goes its own way\n", args[1])
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&from, "from", "", "a save point; otherwise from now")
	return cmd
}

func newTableJournal(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "journal NAME CHARACTER", Short: "Read a character's journal", Args: argsNamed("a campaign", "a character"),
		Example: "  conclave table journal ashfall bram-oatley",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := env.checkSeat(args[0], args[1]); err != nil {
				return err
			}
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			c, err := table.OpenCampaign(root, args[0])
			if err != nil {
				return environmentError("%w", err)
			}
			defer c.Close()
			data, err := c.Party.Read(table.JournalFile(args[1]), 0)
			if errors.Is(err, os.ErrNotExist) {
				return noError("%s has no journal yet", args[1])
			}
			if err != nil {
				return environmentError("%w", err)
			}
			_, err = io.WriteString(env.Stdout.Raw(), table.RemoveGM(string(data)))
			return err
		},
	}
}

func newTableExport(env *environment) *cobra.Command {
	var format, as, out, edition, title string
	cmd := &cobra.Command{
		Use:   "export NAME",
		Short: "The story as Markdown or HTML, the actual play, a player's edition",
		Example: `  conclave table export ashfall > story.md
  conclave table export ashfall --format html --title "The Lamp" -o story.html
  conclave table export ashfall --format log --as gm
  conclave table export ashfall --player-edition for-bram --as bram-oatley`,
		Args: oneArg("campaign"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := env.checkSeat(args[0], as); err != nil {
				return err
			}
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			name := args[0]
			if title == "" {
				title = strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")
			}
			if edition != "" {
				if as == string(policy.GM) {
					return usageError("a player's edition is no game master's")
				}
				files, err := story.PlayerEdition(root, name, title, as, inDir(env, edition))
				if err != nil {
					return environmentError("%w", err)
				}
				env.Stdout.Printf("%s: %s\n", edition, strings.Join(files, ", "))
				return nil
			}
			text, err := story.Story(root, name, title, as)
			switch format {
			case "md":
			case "html":
				text = story.HTML(title, text)
			case "log":
				text, err = story.PlayLog(root, name, title, as)
			default:
				return usageError("no format is called %q: md, html, log", format)
			}
			if err != nil {
				return environmentError("%w", err)
			}
			if out == "" {
				_, err = io.WriteString(env.Stdout.Raw(), text)
				return err
			}
			if err := os.WriteFile(inDir(env, out), []byte(text), 0o644); err != nil {
				return environmentError("%w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "md", "md, html or log")
	cmd.Flags().StringVar(&as, "as", table.SeatTable, "whose knowledge: table, a character, or gm")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write")
	cmd.Flags().StringVar(&title, "title", "", "title of the story (default: the campaign's name)")
	cmd.Flags().StringVar(&edition, "player-edition", "", "write story, party knowledge and world into this directory, without secrets")
	return cmd
}

func newTableAudit(env *environment) *cobra.Command {
	var asJSON, isolation bool
	cmd := &cobra.Command{
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
		RunE: func(_ *cobra.Command, args []string) error {
			root, err := env.findRoot()
			if err != nil {
				return err
			}
			calls, err := tableflow.Calls(root, args[0])
			if err != nil {
				return environmentError("%w", err)
			}
			if len(calls) == 0 {
				if err := env.checkSeat(args[0], ""); err != nil {
					return err
				}
				return noError("no call of %s is on record", args[0])
			}
			files, err := tableflow.Records(root, args[0])
			if err != nil {
				return environmentError("%w", err)
			}
			var reports []*audit.Report
			for _, file := range files {
				r, err := app.AuditFile(file, true)
				if err != nil {
					return environmentError("%s: %w", file, err)
				}
				reports = append(reports, r)
			}
			found, err := tableflow.Findings(root, args[0], tableCaps())
			if err != nil {
				return environmentError("%w", err)
			}
			return env.printTableAudit(calls, reports, found, asJSON, isolation)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&isolation, "isolation", false, "print the sources only")
	return cmd
}

func (env *environment) printTableAudit(calls []tableflow.Call, reports []*audit.Report, found []table.Finding, asJSON, isolation bool) error {
	bad := len(found)
	for _, c := range calls {
		bad += len(c.Trespasses())
	}
	for _, r := range reports {
		bad += len(r.Findings)
	}
	tools := map[string][]audit.Tool{} // by run and turn
	for _, r := range reports {
		for _, t := range r.Turns {
			tools[r.Run+" "+t.ID] = t.Tools
		}
	}
	if asJSON {
		if err := env.Stdout.JSON(map[string]any{"calls": calls, "reports": reports, "files": found, "findings": bad}); err != nil {
			return err
		}
	} else {
		for _, c := range calls {
			env.Stdout.Printf("%s %s %s\n", c.Run, c.Turn, c.Role)
			for _, s := range c.Sources.Sources {
				note := ""
				if s.Note != "" {
					note = " (" + s.Note + ")"
				}
				env.Stdout.Printf("    %s %.12s %d bytes%s\n", s.Path, s.SHA256, s.Bytes, note)
			}
			if !isolation {
				env.printTools(tools[c.Run+" "+c.Turn])
			}
			for _, p := range c.Trespasses() {
				env.Stdout.Printf("found: %s must not read %s\n", c.Character, p)
			}
		}
		for _, f := range found {
			env.Stdout.Printf("found: %s\n", f.String())
		}
		if !isolation {
			printAudit(env.Stdout, reports, len(found))
		}
	}
	if bad > 0 {
		return saidNo()
	}
	return nil
}

// printTools lists the calls of a turn.
func (env *environment) printTools(calls []audit.Tool) {
	for _, c := range calls {
		note := ""
		if c.Failed {
			note = ", not taken"
		}
		env.Stdout.Printf("    called %s %.12s %d bytes%s\n", c.Name, c.SHA256, c.Bytes, note)
	}
}
