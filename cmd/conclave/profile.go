package main

import (
	"github.com/spf13/cobra"

	"conclave/internal/screen"
	"conclave/profile"
	door "conclave/workspace"
)

func newProfileCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "The profiles this campaign wears",
		Example: `  conclave profile list
  conclave profile set cat --from fantasy
  conclave profile set cat --name "The Locksmith" --emoji 🔑
  conclave profile remove cat`,
	}
	cmd.AddCommand(
		newProfileListCommand(env),
		newProfileShowCommand(env),
		newProfileSetCommand(env),
		newProfileRemoveCommand(env),
	)
	return cmd
}

func newProfileListCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Who is who in this campaign",
		Long: `Lists the ten of the cast as they appear in this campaign, with the status of
each profile: installed, edited (after it was installed), own (written by hand)
or none. Exit code 1 if a profile is faulty; a faulty one is not worn.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return env.listProfiles(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (env *environment) listProfiles(asJSON bool) error {
	project, err := env.profileProject()
	if err != nil {
		return err
	}
	party, faults, err := recoveredParty(project)
	if err != nil {
		return environmentError("%w", err)
	}
	var views []profileView
	for _, a := range profile.Cast() {
		face, _ := party.Face(a.ID)
		v := profileView{Archetype: a.ID, Emoji: face.Emoji(), Tag: face.Tag(), MenuName: face.MenuName()}
		if p := party[a.ID]; p != nil {
			v = viewProfile(p)
		}
		if v.Status, err = project.Status(a.ID); err != nil {
			return environmentError("%w", err)
		}
		views = append(views, v)
	}
	if asJSON {
		err = env.Stdout.JSON(struct {
			Profiles []profileView   `json:"profiles"`
			Faults   []profile.Fault `json:"faults"`
		}{views, append([]profile.Fault{}, faults...)})
	} else {
		w := env.Stdout.Table(false)
		for _, v := range views {
			w.Printf("%s\t%s\t%s\t%s\t%s %s\n", v.Archetype, v.Status, v.Depth, v.Theme, v.Emoji, v.MenuName)
		}
		err = w.Flush()
		printFaults(env, faults)
	}
	if err == nil && len(faults) > 0 {
		return saidNo()
	}
	return err
}

func newProfileShowCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ARCHETYPE",
		Short: "Print one profile",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a, err := archetypeArg(args[0])
			if err != nil {
				return err
			}
			project, err := env.profileProject()
			if err != nil {
				return err
			}
			party, faults, err := recoveredParty(project)
			if err != nil {
				return environmentError("%w", err)
			}
			p := party[a.ID]
			if p == nil {
				for _, f := range faults {
					if f.File == ".campaign/profiles/"+a.ID+".md" {
						printFaults(env, []profile.Fault{f})
					}
				}
				return noError("the %s wears no profile; its core: %s", a.ID, a.Core)
			}
			if asJSON {
				v := viewProfile(p)
				v.Text = string(p.Bytes())
				return env.Stdout.JSON(v)
			}
			env.Stdout.Printf("%s   in menus: %s\n%s, %s; core: %s\n\n%s\n", screen.Bold(p.Face().Tag()), p.Face().MenuName(), p.Theme, p.Depth, a.Core, screen.Indent("  ", profileText(p)))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// recoveredParty reads the profiles after finishing what a kill interrupted.
func recoveredParty(project profile.Project) (profile.Party, []profile.Fault, error) {
	if err := project.Recover(); err != nil {
		return nil, nil, err
	}
	return project.Party()
}

func archetypeArg(id string) (profile.Archetype, error) {
	a, ok := profile.Lookup(id)
	if !ok {
		return a, usageError("%q is not of the cast; conclave profile list names it", id)
	}
	return a, nil
}

// profileChoice is what profile set is told.
type profileChoice struct {
	name, emoji, theme, from, file string
	force                          bool
}

func newProfileSetCommand(env *environment) *cobra.Command {
	var c profileChoice
	cmd := &cobra.Command{
		Use:   "set ARCHETYPE",
		Short: "Give one member of the cast a profile, a name or an emoji",
		Long: `Takes a profile from a pack (--from) or a file (--file), or starts from the one
that is there, and changes its name or emoji. Without any it makes a plain one
with the archetype's core and your name. The former profile is kept; conclave
pack undo brings it back.`,
		Example: `  conclave profile set cat --from hundred-acre-wood
  conclave profile set cat --name "The Locksmith" --emoji 🔑
  conclave profile set simon --file simon.md`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a, err := archetypeArg(args[0])
			if err != nil {
				return err
			}
			if c == (profileChoice{force: c.force, theme: c.theme}) {
				return usageError("say what to set: --name, --emoji, --from or --file")
			}
			return env.setProfile(a, c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.name, "name", "", "the skin name")
	f.StringVar(&c.emoji, "emoji", "", "one emoji")
	f.StringVar(&c.theme, "theme", "", "the theme of a plain profile (default Custom)")
	f.StringVar(&c.from, "from", "", "take the profile from this pack")
	f.StringVar(&c.file, "file", "", "take the profile from this file")
	f.BoolVar(&c.force, "force", false, "replace a profile that was edited by hand; it is kept")
	cmd.MarkFlagsMutuallyExclusive("from", "file")
	return cmd
}

func (env *environment) setProfile(a profile.Archetype, c profileChoice) error {
	w, err := env.enter()
	if err != nil {
		return err
	}
	project := profile.Project{Dir: w.Root}
	base, carriesOn, err := env.baseProfile(w, project, a, c)
	if err != nil {
		return err
	}
	data := base.Bytes()
	if c.name != "" || c.emoji != "" {
		if data, err = base.Rename(c.name, c.emoji); err != nil {
			return usageError("%w", err)
		}
	}
	if _, err := project.Set(a.ID, data, c.force || carriesOn); err != nil {
		return changeError(err)
	}
	if !carriesOn || w.WornTrusted(base) {
		if err := w.GrantProfile(a.ID, data); err != nil {
			return err
		}
	}
	party, _, err := project.Party()
	if err != nil {
		return environmentError("%w", err)
	}
	face, _ := party.Face(a.ID)
	env.Stdout.Printf("%s   in menus: %s\n", face.Tag(), face.MenuName())
	return nil
}

// baseProfile is what a name or an emoji is put on. It reports whether that is
// the worn profile itself, whose edits are carried on.
func (env *environment) baseProfile(w *workspace, project profile.Project, a profile.Archetype, c profileChoice) (*profile.Profile, bool, error) {
	switch {
	case c.from != "":
		pack, err := env.openPack(c.from)
		if err != nil {
			return nil, false, err
		}
		if p := pack.Profile(a.ID); p != nil && len(pack.Faults) == 0 {
			return p, false, w.VouchForPack(pack, c.from)
		}
		printFaults(env, pack.Faults)
		return nil, false, noError("pack %s has no faultless profile for the %s", pack.Name, a.ID)
	case c.file != "":
		data, err := door.ReadNamed(env.absPath(c.file), door.MaxText)
		if err != nil {
			return nil, false, environmentError("%w", err)
		}
		// The file may have any name; it is to become the archetype's.
		return parseProfile(env, a, data, c.file)
	}
	party, faults, err := project.Party()
	if err != nil {
		return nil, false, environmentError("%w", err)
	}
	if p := party[a.ID]; p != nil {
		return p, true, nil
	}
	for _, f := range faults {
		if f.File == ".campaign/profiles/"+a.ID+".md" {
			return nil, false, noError("the profile that is there is faulty: %s", f)
		}
	}
	if c.name == "" {
		return nil, false, usageError("the %s wears no profile yet: say --name, --from or --file", a.ID)
	}
	if err := profile.CheckSkinName(c.name); err != nil {
		return nil, false, usageError("%w", err)
	}
	theme := c.theme
	if theme == "" {
		theme = "Custom"
	}
	return parseProfile(env, a, profile.Plain(a, c.name, theme, c.emoji), "the plain profile")
}

func parseProfile(env *environment, a profile.Archetype, data []byte, name string) (*profile.Profile, bool, error) {
	p, faults := profile.Parse(a.ID+".md", data)
	if len(faults) > 0 {
		printFaults(env, faults)
		return nil, false, noError("%s has %s and was not set", name, countOf(len(faults), "fault"))
	}
	return p, false, nil
}

func newProfileRemoveCommand(env *environment) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "remove ARCHETYPE",
		Short: "Take a profile off; the archetype appears as itself again",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a, err := archetypeArg(args[0])
			if err != nil {
				return err
			}
			project, err := env.profileProject()
			if err != nil {
				return err
			}
			change, err := project.Remove(a.ID, force)
			if err != nil {
				return changeError(err)
			}
			if len(change.Removed) == 0 {
				return noError("the %s wears no profile", a.ID)
			}
			env.Stdout.Printf("the %s is itself again; conclave pack undo brings the profile back\n", a.ID)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "even if it was edited by hand; it is kept")
	return cmd
}
