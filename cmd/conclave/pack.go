package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
	"conclave/terminal"
)

func newPackCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Character packs: nine profiles of one theme",
		Long: `A profile gives a member of the party another name, emoji and voice; a pack
dresses all nine. Packs are looked for in profile-packs/ of the project, in the
user's data directory, and among the built-in ones. If several have the name,
say which: project:fantasy, user:fantasy, builtin:fantasy.`,
		Example: `  conclave pack list
  conclave pack preview fantasy
  conclave pack install fantasy
  conclave pack undo`,
	}
	cmd.AddCommand(newPackListCommand(env), newPackShowCommand(env), newPackPreviewCommand(env),
		newPackValidateCommand(env), newPackInstallCommand(env), newPackUndoCommand(env), newPackNewCommand(env), newPackExportCommand(env))
	return cmd
}

// castTable shows who plays whom.
func castTable(w *screen.Writer, profiles []app.Profile) error {
	table := w.Table(false)
	for _, p := range profiles {
		table.Printf("  %s\t%s\t%s %s\n", p.Archetype, p.Depth, p.Emoji, p.SkinName)
	}
	return table.Flush()
}

func newPackListCommand(env *environment) *cobra.Command {
	return printJSON(answer(env, &cobra.Command{
		Use:   "list",
		Short: "Name every pack with its origin",
		Args:  cobra.NoArgs,
	}, func(context.Context, []string) ([]*app.Pack, error) { return env.app().Packs() }, listPacks), "print JSON")
}

func listPacks(w *screen.Writer, packs []*app.Pack) error {
	count := map[string]int{}
	for _, p := range packs {
		count[p.Name]++
	}
	table := w.Table(false)
	for _, p := range packs {
		name, note := p.Name, ""
		if count[p.Name] > 1 {
			name = string(p.Origin) + ":" + p.Name // what install needs to be told
		}
		if n := len(p.Faults); n > 0 {
			note = fmt.Sprintf("%d faults: conclave pack validate %s:%s", n, p.Origin, p.Name)
		} else {
			var skins []string
			for _, q := range p.Profiles {
				skins = append(skins, q.SkinName)
			}
			note = strings.Join(skins, ", ")
		}
		table.Printf("%s\t%s\t%s\t%s\n", name, p.Origin, p.Theme, note)
	}
	return table.Flush()
}

func newPackShowCommand(env *environment) *cobra.Command {
	return printJSON(answer(env, &cobra.Command{
		Use:   "show NAME|PATH",
		Short: "Print a pack: who plays whom, and every text",
		Args:  cobra.ExactArgs(1),
	}, func(_ context.Context, args []string) (*app.Pack, error) {
		return env.app().Pack(args[0])
	}, func(w *screen.Writer, p *app.Pack) error {
		packHead(w, p)
		castTable(w, p.Profiles)
		for _, q := range p.Profiles {
			w.Printf("\n%s\n\n%s\n", screen.Bold(q.Emoji+" "+q.MenuName), screen.Indent("  ", q.Words))
		}
		return nil
	}), "print JSON")
}

func packHead(w *screen.Writer, p *app.Pack) {
	w.Printf("%s: %s (%s, %s)\n", screen.Bold(p.Name), p.Theme, p.Origin, p.Where)
	if len(p.Faults) > 0 {
		w.Printf("%d faults; conclave pack validate tells them\n", len(p.Faults))
	}
}

func newPackPreviewCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "preview NAME|PATH",
		Short: "Show how the nine would appear, and what installing would change",
		Long: `Shows the speaker tag, the menu name and the first words of each profile, and
what an installation would do to the profiles of this project. Nothing is
installed.`,
		Example: `  conclave pack preview hundred-acre-wood
  conclave pack preview ./lighthouse.zip`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := env.app().PreviewPack(args[0])
			if err != nil {
				return err
			}
			packHead(env.Stdout, p)
			for _, q := range p.Profiles {
				did := "stays as it is unless --force: edited by hand"
				switch q.Status {
				case "none":
					did = "new"
				case "installed":
					did = "replaces the installed one"
				}
				env.Stdout.Printf("\n%s   in menus: %s\n    %s\n    .campaign/profiles/%s.md: %s\n",
					screen.Bold(q.Tag), q.MenuName, firstSentence(q.Concept), q.Archetype, did)
			}
			return nil
		},
	}
}

// firstSentence is the first sentence or so of a text.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i > 0 && i < 200 {
		return text[:i+1]
	}
	if r := []rune(text); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return text
}

func newPackValidateCommand(env *environment) *cobra.Command {
	var asJSON, github, review bool
	cmd := &cobra.Command{
		Use:   "validate PATH|NAME...",
		Short: "Check packs or single profiles, and say what to do about each fault",
		Long: `Checks a pack (a directory, a .zip, a .tar.gz, or the name of one) or a single
profile (a .md file). What rules can find is a fault; what needs a reader is a
checklist. With --review the mentor reads a pack without faults, in a room that
holds nothing else, and judges it: whoever is gandalf in conclave.yaml is asked,
and the embedded party, which has no model, leaves it "not judged". His sitting is
on the record and counts on the budget. Exit code 1 if there are faults; what the
mentor thinks is an opinion.`,
		Example: `  conclave pack validate profile-packs/lighthouse
  conclave pack validate lighthouse.zip --json
  conclave pack validate lighthouse --review
  conclave pack validate profile-packs/* --github`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && github {
				return usageError("say --json or --github, not both")
			}
			results, err := env.app().ValidatePacks(cmd.Context(), args, review)
			if err != nil && !app.Said(err) {
				return err
			}
			if asJSON {
				if err := env.Stdout.JSON(results); err != nil {
					return err
				}
			} else {
				printValidations(env.Stdout, results, github, review)
			}
			return err
		},
	}
	env.addJSON(cmd, &asJSON, "print JSON", (*app.App).ValidatePacks)
	cmd.Flags().BoolVar(&review, "review", false, "have the mentor judge what rules cannot find")
	cmd.Flags().BoolVar(&github, "github", false, "print annotations for GitHub Actions")
	return cmd
}

func printValidations(w *screen.Writer, results []app.Validation, github, review bool) {
	for _, v := range results {
		if github {
			for _, f := range v.Faults {
				w.Printf("%s\n", f.Annotation())
			}
			continue
		}
		terminal.PrintFaults(w, v.Faults)
		if n := len(v.Faults); n > 0 {
			w.Printf("%s: %s\n", v.Path, screen.Red(screen.Counted(n, "fault", "faults")))
		} else {
			w.Printf("%s: %s\n", v.Path, screen.Green("no faults"))
		}
		if len(v.Checklist) > 0 {
			w.Printf("what rules cannot find%s:\n", map[bool]string{false: " (--review asks the mentor)"}[review])
		}
		for _, item := range v.Checklist {
			w.Printf("  %s: %s\n", item.Text, item.Answer)
		}
	}
}

func newPackNewCommand(env *environment) *cobra.Command {
	var theme string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write nine documented templates for a pack of your own",
		Long: `Makes profile-packs/NAME with a template for each of the nine. Every template
says what its archetype is for and what to write; validate leads you from one
gap to the next.`,
		Example: `  conclave pack new deep-sea
  conclave pack new rock-roll --theme "Rock & Roll"`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := env.app().NewPack(args[0], theme)
			if err != nil {
				return err
			}
			return env.Stdout.Printf("%s: nine templates\nFill them in, then: conclave pack validate %[1]s\n", dir)
		},
	}
	cmd.Flags().StringVar(&theme, "theme", "", "the theme in its natural form (default: from the name)")
	return cmd
}

func newPackExportCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "export NAME|PATH DIR",
		Short: "Write a pack's files to a new directory, .zip or .tar.gz",
		Example: `  conclave pack export fantasy my-fantasy
  conclave pack export lighthouse lighthouse.zip`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := env.app().ExportPack(args[0], args[1])
			if err != nil {
				return err
			}
			return env.Stdout.Printf("%s: %s\n", args[1], screen.Counted(n, "profile", "profiles"))
		},
	}
}
