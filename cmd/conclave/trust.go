package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newTrustCommand(env *environment) *cobra.Command {
	var yes, revoke, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust [PACK|CRITERIA.md…]",
		Short: "Let this workspace name agents and commands, and tell them things",
		Long: `A project can name agents and commands and hold texts that go into prompts: in
its conclave.yaml, in the checks of its criteria, in its packs, profiles,
instructions and scripts. None is used until you have looked at it and said yes.
Your yes holds for each of them by itself, for exactly this content: a command
asks for what it uses and names what is new or has changed. It is kept outside
the project, in your data directory. A link or anything else that is no plain
file is shown as refused: it is never used.

Packs that lie elsewhere are looked at when you name them, and so are the checks
of criteria in a file of the project, for a gate.`,
		Example: `  conclave trust                   look, and say yes or no
  conclave trust --yes             for scripts
  conclave trust ./lighthouse.zip  a pack, too
  conclave trust docs/done.md      the checks of a gate's criteria, too
  conclave trust --revoke          take it back`,
		RunE: func(_ *cobra.Command, args []string) error {
			a := env.app()
			if revoke {
				return a.Distrust()
			}
			t, err := a.Trust(args...)
			if err != nil {
				return err
			}
			if asJSON {
				return env.Stdout.JSON(t)
			}
			return env.askTrust(t, yes)
		},
	}
	cmd.AddCommand(newTrustLoginCommand(env))
	cmd.Flags().BoolVar(&yes, "yes", false, "say yes without being asked")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take your yes back")
	env.addJSON(cmd, &asJSON, "print what there is to trust as JSON", (*app.App).Trust)
	return cmd
}

func newTrustLoginCommand(env *environment) *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:   "login claude|codex",
		Short: "Read what lending your login to a program means, and answer",
		Long: `A seat can be played with your own login at the program's vendor, in place of a
key, where your own configuration says so (agents: cat: {agent: claude, model: …,
login: true}). Before the first time you read what the vendor says of it and
what is lent, and answer at a terminal; nothing answers for you. Your yes holds
on this machine, for exactly that text. docs/logins.md has all of it.`,
		Example: `  conclave trust login claude
  conclave trust login claude --revoke   take it back`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := env.app().TrustLogin(args[0])
			if err != nil {
				return err
			}
			if revoke {
				return t.Revoke()
			}
			return env.askLogin(t, args[0])
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take your yes back")
	return cmd
}

func (env *environment) askLogin(t *app.Trust, name string) error {
	env.Stdout.Printf("%s\n\n%s\n", screen.Bold("To lend your login to "+t.Items[0].Name),
		screen.Prose("", screen.Indent("", strings.ReplaceAll(t.Items[0].Text, "\n", "\n\n"))))
	if t.Trusted {
		env.Stdout.Printf("\nYou have said yes to exactly this already.\n")
		return nil
	}
	if !env.confirm(screen.Sprintf("\nLend it where your own configuration says so? [y/N] ")) {
		return environmentError("not lent; nothing was changed (only a person at a terminal can say yes to this)")
	}
	if err := t.Grant(); err != nil {
		return err
	}
	env.Stdout.Printf("\nSo be it. Take it back with: conclave trust login %s --revoke\n", name)
	return nil
}

func (env *environment) askTrust(t *app.Trust, yes bool) error {
	for _, text := range t.Refused {
		env.Stdout.Printf("%s: %s\n", screen.Red("refused"), text)
	}
	if len(t.Items) == 0 {
		env.Stdout.Printf("%s asks for nothing: there is nothing to trust\n", t.Workspace)
		return nil
	}
	env.Stdout.Printf("%s wants to use:\n", t.Workspace)
	for _, i := range t.Items {
		known := ""
		if i.Trusted {
			known = " (trusted)"
		}
		env.Stdout.Printf("\n  %s%s\n", screen.Bold(i.Name), known)
		env.Stdout.Printf("    %s\n", screen.Indent("    ", strings.TrimSpace(i.Text)))
	}
	if t.Trusted {
		env.Stdout.Printf("\nYou trust exactly this already.\n")
		return nil
	}
	if !yes && !env.confirm(screen.Sprintf("\nTrust this? [y/N] ")) {
		return environmentError("not trusted; nothing was changed (without a terminal say --yes)")
	}
	if err := t.Grant(); err != nil {
		return err
	}
	env.Stdout.Printf("\nTrusted, as it is now.\n")
	return nil
}

// confirm asks a person; without one the answer is no.
func (env *environment) confirm(question screen.Text) bool {
	if !env.StdinIsTerminal {
		return false
	}
	answer := strings.ToLower(env.Word(context.Background(), "%s", question))
	return answer == "y" || answer == "yes"
}
