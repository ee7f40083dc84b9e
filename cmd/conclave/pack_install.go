package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/profile"
)

func newPackInstallCommand(env *environment) *cobra.Command {
	var only []string
	var force bool
	cmd := &cobra.Command{
		Use:   "install NAME|PATH",
		Short: "Dress the campaign in a pack",
		Long: `Copies a pack's profiles to .campaign/profiles, all of them or none. A profile
that you edited is not replaced unless you agree or say --force, and then the
old one is kept. conclave pack undo takes the installation back. A pack out of the
project's own profile-packs/, or one named by its path, is used once you have said
conclave trust (conclave trust PATH).`,
		Example: `  conclave pack install fantasy
  conclave pack install builtin:fantasy --only cat,owl
  conclave pack install ./lighthouse.zip`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, id := range only {
				if a, ok := profile.Lookup(id); !ok || a.Kind == profile.Educator {
					return usageError("--only: %q is in no pack", id)
				}
			}
			p, err := env.openPack(args[0])
			if err != nil {
				return err
			}
			if len(p.Faults) > 0 {
				printFaults(env, p.Faults)
				return noError("pack %s has %s and was not installed", p.Name, countOf(len(p.Faults), "fault"))
			}
			w, err := env.enter()
			if err != nil {
				return err
			}
			if err := w.VouchForPack(p, args[0]); err != nil {
				return err
			}
			return env.installPack(w, p, only, force)
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "install only these archetypes, separated by commas")
	cmd.Flags().BoolVar(&force, "force", false, "replace profiles that were edited by hand; the old ones are kept")
	return cmd
}

func (env *environment) installPack(w *workspace, p *profile.Pack, only []string, force bool) error {
	project := profile.Project{Dir: w.Root}
	in := bufio.NewReader(env.Stdin)
	change, err := project.Install(p, only, force)
	if edited := (*profile.EditedError)(nil); errors.As(err, &edited) && env.StdinIsTerminal {
		if env.askPerson(in, fmt.Sprintf("You edited %s. Replace, and keep the old? [y/N] ", strings.Join(edited.Files, ", "))) != "y" {
			return noError("nothing was changed")
		}
		change, err = project.Install(p, only, true)
	}
	if err != nil {
		return changeError(err)
	}
	for _, q := range p.Profiles {
		if len(only) > 0 && !slices.Contains(only, q.Archetype) {
			continue
		}
		if err := w.GrantProfile(q.Archetype, q.Bytes()); err != nil {
			return err
		}
	}
	env.Stdout.Printf("%s (%s), %s written:\n", p.Theme, p.Origin, countOf(len(change.Written), "profile"))
	var worn []*profile.Profile
	for _, q := range p.Profiles {
		if len(only) == 0 || slices.Contains(only, q.Archetype) {
			worn = append(worn, q)
		}
	}
	castTable(env, worn)
	if change.Kept != "" {
		env.Stdout.Printf("The former profiles are kept in %s; conclave pack undo brings them back.\n", change.Kept)
	}
	if !env.StdinIsTerminal {
		env.Stdout.Printf("To customise one: conclave profile set cat --name \"…\" --emoji …, or edit .campaign/profiles/cat.md.\n")
		return nil
	}
	return env.customise(in, w, project)
}

// changeError gives an error of a change its exit code.
func changeError(err error) error {
	edited, faults := (*profile.EditedError)(nil), (*profile.FaultsError)(nil)
	if errors.As(err, &edited) || errors.As(err, &faults) || errors.Is(err, profile.ErrNothingToUndo) {
		return noError("%w", err)
	}
	return environmentError("%w", err)
}

// askPerson puts a question to the person and returns the answer in lower case.
func (env *environment) askPerson(in *bufio.Reader, question string) string {
	env.Stdout.Printf("%s", question)
	line, _ := in.ReadString('\n')
	return strings.ToLower(strings.TrimSpace(line))
}

// askPersonText is askPerson for a text of the person's own, letter case included.
func (env *environment) askPersonText(in *bufio.Reader, question string) string {
	env.Stdout.Printf("%s", question)
	line, _ := in.ReadString('\n')
	return strings.TrimSpace(line)
}

// customise offers to rename single profiles, one by one, until the person has
// enough. A wrong answer costs a message, never the installation.
func (env *environment) customise(in *bufio.Reader, w *workspace, project profile.Project) error {
	for {
		id := env.askPerson(in, "Customise a character? (cat, owl, …; Enter to finish) ")
		if id == "" || id == "n" || id == "no" {
			return nil
		}
		party, _, err := project.Party()
		if err != nil {
			return environmentError("%w", err)
		}
		p := party[id]
		if p == nil {
			env.Stdout.Printf("There is no profile for %q.\n", id)
			continue
		}
		skin := env.askPersonText(in, fmt.Sprintf("Name [%s]: ", p.SkinName))
		emoji := env.askPersonText(in, fmt.Sprintf("Emoji [%s]: ", p.Face().Emoji()))
		if err := renameProfile(w, project, p, skin, emoji); err != nil {
			env.Stdout.Printf("%v\n", err)
			continue
		}
		party, _, _ = project.Party()
		if face, ok := party.Face(id); ok {
			env.Stdout.Printf("%s\n", face.Tag())
		}
	}
}

// renameProfile changes the name or the emoji of a profile that is worn. The person
// asked for just this, so an earlier edit of theirs is carried on, not in the way.
func renameProfile(w *workspace, project profile.Project, p *profile.Profile, skin, emoji string) error {
	data, err := p.Rename(skin, emoji)
	if err != nil {
		return err
	}
	if _, err = project.Set(p.Archetype, data, true); err != nil {
		return err
	}
	if !w.WornTrusted(p) {
		return nil
	}
	return w.GrantProfile(p.Archetype, data)
}

func newPackUndoCommand(env *environment) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Take the last change of profiles back",
		Long: `Takes the last installation (or profile set, or profile remove) back: the
profiles it wrote become what they were before. A profile that you have edited
since is in the way unless you say --force; it is kept.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			project, err := env.profileProject()
			if err != nil {
				return err
			}
			change, err := project.Undo(force)
			if err != nil {
				return changeError(err)
			}
			env.Stdout.Printf("%s: %d restored, %d removed\n", change.What, len(change.Written), len(change.Removed))
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "even if a profile was edited since; it is kept")
	return cmd
}
