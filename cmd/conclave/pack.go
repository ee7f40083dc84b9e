package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
	"conclave/profile"
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
	cmd.AddCommand(
		newPackListCommand(env),
		newPackShowCommand(env),
		newPackPreviewCommand(env),
		newPackValidateCommand(env),
		newPackInstallCommand(env),
		newPackUndoCommand(env),
		newPackNewCommand(env),
		newPackExportCommand(env),
	)
	return cmd
}

// profileProject is the workspace that the working directory belongs to.
func (env *environment) profileProject() (profile.Project, error) {
	root, err := env.findRoot()
	return profile.Project{Dir: root}, err
}

// castTable shows who plays whom.
func castTable(env *environment, profiles []*profile.Profile) {
	w := env.Stdout.Table(false)
	for _, p := range profiles {
		face := p.Face()
		w.Printf("  %s\t%s\t%s %s\n", face.Archetype.ID, p.Depth, face.Emoji(), face.Name())
	}
	w.Flush()
}

// printFaults says what is wrong, for people.
func printFaults(env *environment, faults []profile.Fault) {

	for _, f := range faults {
		env.Stdout.Printf("%s: %s: %s\n    %s\n", screen.Bold(fmt.Sprintf("%s:%d", f.File, f.Line)), screen.Red(f.Rule), f.Message, f.Fix)
	}
}

// packView is a pack for machines.
type packView struct {
	Name     string          `json:"name"`
	Origin   profile.Origin  `json:"origin"`
	Where    string          `json:"where"`
	Theme    string          `json:"theme"`
	Profiles []profileView   `json:"profiles"`
	Faults   []profile.Fault `json:"faults"`
}

// profileView is a profile for machines.
type profileView struct {
	Archetype string         `json:"archetype"`
	SkinName  string         `json:"skin-name"`
	Theme     string         `json:"theme"`
	Emoji     string         `json:"emoji"`
	Depth     profile.Depth  `json:"depth"`
	Tag       string         `json:"tag"`
	MenuName  string         `json:"menu-name"`
	FilePart  string         `json:"file-part"`
	Status    profile.Status `json:"status,omitempty"`
	Text      string         `json:"text,omitempty"`
}

func viewPack(p *profile.Pack) packView {
	v := packView{Name: p.Name, Origin: p.Origin, Where: p.Where, Theme: p.Theme, Faults: p.Faults}
	if v.Faults == nil {
		v.Faults = []profile.Fault{}
	}
	for _, q := range p.Profiles {
		v.Profiles = append(v.Profiles, viewProfile(q))
	}
	return v
}

func viewProfile(p *profile.Profile) profileView {
	f := p.Face()
	return profileView{Archetype: p.Archetype, SkinName: p.SkinName, Theme: p.Theme, Emoji: f.Emoji(), Depth: p.Depth,
		Tag: f.Tag(), MenuName: f.MenuName(), FilePart: f.FilePart()}
}
