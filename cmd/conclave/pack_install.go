package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
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
conclave trust (conclave trust PATH). Of a pack that did not come with the program
the mentor says, where he has a model, what he doubts; it is installed all the same.`,
		Example: `  conclave pack install fantasy
  conclave pack install builtin:fantasy --only cat,owl
  conclave pack install ./lighthouse.zip`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.installPack(cmd.Context(), args[0], only, force)
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "install only these archetypes, separated by commas")
	cmd.Flags().BoolVar(&force, "force", false, "replace profiles that were edited by hand; the old ones are kept")
	return cmd
}

func (env *environment) installPack(ctx context.Context, name string, only []string, force bool) error {
	done, err := env.app().InstallPack(ctx, name, only, force)
	if edited := (*app.EditedError)(nil); errors.As(err, &edited) && env.StdinIsTerminal {
		files := strings.Join(edited.Files, ", ")
		if yes := env.Word(ctx, "You edited %s. Replace, and keep the old? [y/N] ", files); strings.ToLower(yes) != "y" {
			return noError("nothing was changed")
		}
		done, err = env.app().InstallPack(ctx, name, only, true)
	}
	if err != nil {
		return err
	}
	if done.Written == 0 {
		env.Stdout.Printf("%s (%s): nothing to write, the profiles are as they should be:\n", done.Pack.Theme, done.Pack.Origin)
	} else {
		env.Stdout.Printf("%s (%s), %s written:\n",
			done.Pack.Theme, done.Pack.Origin, screen.Counted(done.Written, "profile", "profiles"))
	}
	castTable(env.Stdout, done.Worn)
	for _, d := range done.Doubts {
		env.Stdout.Printf("%s %s\n", d.Text, d.Answer)
	}
	if done.Kept != "" {
		env.Stdout.Printf("The former profiles are kept in %s; conclave pack undo brings them back.\n", done.Kept)
	}
	if !env.StdinIsTerminal {
		return env.Stdout.Printf("To customise one: conclave profile set cat --name \"…\" --emoji …, " +
			"or edit .campaign/profiles/cat.md.\n")
	}
	return env.customise(ctx)
}

// customise offers to rename single profiles, one by one, until the person has
// enough. A wrong answer costs a message, never the installation.
func (env *environment) customise(ctx context.Context) error {
	for {
		who := env.Word(ctx, "Customise a character? (cat, owl, or the name they wear; Enter to finish) ")
		if who == "" || strings.EqualFold(who, "n") || strings.EqualFold(who, "no") {
			return nil
		}
		p, err := env.app().Profile(who)
		if err != nil {
			env.Stdout.Printf("There is no profile for %q: %v\n", who, err)
			continue
		}
		name := env.Word(ctx, "Name [%s]: ", p.SkinName)
		emoji := env.Word(ctx, "Emoji [%s]: ", p.Emoji)
		if name != "" || emoji != "" {
			if p, err = env.app().SetProfile(p.Archetype, app.ProfileChoice{Name: name, Emoji: emoji}); err != nil {
				env.Stdout.Printf("%v\n", err)
				continue
			}
		}
		env.Stdout.Printf("%s\n", p.Tag)
	}
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
			change, err := env.app().UndoPack(force)
			if err != nil {
				return err
			}
			return env.Stdout.Printf("%s: %d restored, %d removed\n", change.What, len(change.Written), len(change.Removed))
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "even if a profile was edited since; it is kept")
	return cmd
}
