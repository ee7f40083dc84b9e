package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
	"conclave/profile"
)

func newPackListCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Name every pack with its origin",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			library, err := env.packLibrary()
			if err != nil {
				return err
			}
			packs, err := library.List()
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				views := []packView{}
				for _, p := range packs {
					views = append(views, viewPack(p))
				}
				return env.Stdout.JSON(views)
			}
			listPacks(env, packs)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func listPacks(env *environment, packs []*profile.Pack) {
	count := map[string]int{}
	for _, p := range packs {
		count[p.Name]++
	}
	w := env.Stdout.Table(false)
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
		w.Printf("%s\t%s\t%s\t%s\n", name, p.Origin, p.Theme, note)
	}
	w.Flush()
}

func newPackShowCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show NAME|PATH",
		Short: "Print a pack: who plays whom, and every text",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := env.openPack(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				v := viewPack(p)
				for i, q := range p.Profiles {
					v.Profiles[i].Text = string(q.Bytes())
				}
				return env.Stdout.JSON(v)
			}
			packHead(env, p)
			castTable(env, p.Profiles)
			for _, q := range p.Profiles {
				env.Stdout.Printf("\n%s\n\n%s\n", screen.Bold(q.Face().Emoji()+" "+q.Face().MenuName()), screen.Indent("  ", profileText(q)))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func packHead(env *environment, p *profile.Pack) {
	env.Stdout.Printf("%s: %s (%s, %s)\n", screen.Bold(p.Name), p.Theme, p.Origin, p.Where)
	if len(p.Faults) > 0 {
		env.Stdout.Printf("%d faults; conclave pack validate tells them\n", len(p.Faults))
	}
}

// profileText is what a profile says, section by section.
func profileText(p *profile.Profile) string {
	text := p.Concept + "\n\n" + p.Voice
	if p.Modifiers != "" {
		text += "\n\n" + p.Modifiers
	}
	return text
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
			p, err := env.openPack(args[0])
			if err != nil {
				return err
			}
			packHead(env, p)
			for _, q := range p.Profiles {
				f := q.Face()
				env.Stdout.Printf("\n%s   in menus: %s\n    %s\n", screen.Bold(f.Tag()), f.MenuName(), firstSentence(q.Concept))
				project, err := env.profileProject()
				if err != nil {
					return err
				}
				did, err := whatInstallDoes(project, q)
				if err != nil {
					return environmentError("%w", err)
				}
				env.Stdout.Printf("    .campaign/profiles/%s.md: %s\n", q.Archetype, did)
			}
			return nil
		},
	}
}

func whatInstallDoes(project profile.Project, q *profile.Profile) (string, error) {
	status, err := project.Status(q.Archetype)
	switch status {
	case profile.StatusNone:
		return "new", err
	case profile.StatusInstalled:
		return "replaces the installed one", err
	}
	return "stays as it is unless --force: edited by hand", err
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
