package main

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
	"conclave/terminal"
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
	cmd.AddCommand(newProfileListCommand(env), newProfileShowCommand(env),
		newProfileSetCommand(env), newProfileRemoveCommand(env))
	return cmd
}

func newProfileListCommand(env *environment) *cobra.Command {
	return printJSON(answer(env, &cobra.Command{
		Use:   "list",
		Short: "Who is who in this campaign",
		Long: `Lists the ten of the cast as they appear in this campaign, with the status of
each profile: installed, edited (after it was installed), own (written by hand)
or none. Exit code 1 if a profile is faulty; a faulty one is not worn.`,
		Args: cobra.NoArgs,
	}, func(context.Context, []string) (app.ProfileList, error) {
		return env.app().Profiles()
	}, func(w *screen.Writer, list app.ProfileList) error {
		table := w.Table(false)
		for _, p := range list.Profiles {
			table.Printf("%s\t%s\t%s\t%s\t%s %s\n", p.Archetype, p.Status, p.Depth, p.Theme, p.Emoji, p.MenuName)
		}
		err := table.Flush()
		terminal.PrintFaults(w, list.Faults)
		return err
	}), "print JSON")
}

func newProfileShowCommand(env *environment) *cobra.Command {
	return printJSON(answer(env, &cobra.Command{
		Use:   "show ARCHETYPE",
		Short: "Print one profile",
		Args:  cobra.ExactArgs(1),
	}, func(_ context.Context, args []string) (app.Profile, error) {
		return env.app().Profile(args[0])
	}, func(w *screen.Writer, p app.Profile) error {
		return w.Printf("%s   in menus: %s\n%s, %s; core: %s\n\n%s\n",
			screen.Bold(p.Tag), p.MenuName, p.Theme, p.Depth, p.Core, screen.Indent("  ", p.Words))
	}), "print JSON")
}

func newProfileSetCommand(env *environment) *cobra.Command {
	var c app.ProfileChoice
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
			p, err := env.app().SetProfile(args[0], c)
			if err != nil {
				return err
			}
			return env.Stdout.Printf("%s   in menus: %s\n", p.Tag, p.MenuName)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Name, "name", "", "the skin name")
	f.StringVar(&c.Emoji, "emoji", "", "one emoji")
	f.StringVar(&c.Theme, "theme", "", "the theme of a plain profile (default Custom)")
	f.StringVar(&c.From, "from", "", "take the profile from this pack")
	f.StringVar(&c.File, "file", "", "take the profile from this file")
	f.BoolVar(&c.Force, "force", false, "replace a profile that was edited by hand; it is kept")
	cmd.MarkFlagsMutuallyExclusive("from", "file")
	return cmd
}

func newProfileRemoveCommand(env *environment) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "remove ARCHETYPE",
		Short: "Take a profile off; the archetype appears as itself again",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := env.app().RemoveProfile(args[0], force); err != nil {
				return err
			}
			return env.Stdout.Printf("the %s is itself again; conclave pack undo brings the profile back\n", args[0])
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "even if it was edited by hand; it is kept")
	return cmd
}
