package main

import (
	"bufio"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
	"conclave/trust"
)

func newTrustCommand(env *environment) *cobra.Command {
	var yes, revoke, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust [PACK…]",
		Short: "Let this workspace name agents and commands, and tell them things",
		Long: `A project can name agents and commands and hold texts that go into prompts: in
its conclave.yaml, in the checks of its criteria, in its packs, profiles,
instructions and scripts. None is used until you have looked at it and said yes.
Your yes holds for each of them by itself, for exactly this content: a command
asks for what it uses and names what is new or has changed. It is kept outside
the project, in your data directory. A link or anything else that is no plain
file is shown as refused: it is never used.

Packs that lie elsewhere are looked at when you name them.`,
		Example: `  conclave trust                   look, and say yes or no
  conclave trust --yes             for scripts
  conclave trust ./lighthouse.zip  a pack, too
  conclave trust --revoke          take it back`,
		RunE: func(_ *cobra.Command, args []string) error {
			w, err := env.enter()
			if err != nil {
				return err
			}
			if revoke {
				return w.trust.Revoke(w.root)
			}
			items, refused := w.everything()
			for _, name := range args {
				p, err := env.openPack(name)
				if err != nil {
					return err
				}
				items = append(items, w.packItems(p)...)
			}
			view, err := w.trustView(items, refused)
			if err != nil {
				return err
			}
			if asJSON {
				return env.Stdout.JSON(view)
			}
			return env.askTrust(w, items, view, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "say yes without being asked")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take your yes back")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what there is to trust as JSON")
	return cmd
}

type trustItem struct {
	Name    string `json:"name"`
	Trusted bool   `json:"trusted"`
}

type trustView struct {
	Workspace string      `json:"workspace"`
	Items     []trustItem `json:"items"`
	Refused   []string    `json:"refused"`
	Trusted   bool        `json:"trusted"`
}

func (w *workspace) trustView(items []trust.Item, refused []error) (trustView, error) {
	v := trustView{Workspace: w.root, Items: []trustItem{}, Refused: []string{}, Trusted: w.vouchFor(items) == nil}
	held, err := w.trust.Holds(w.root, items)
	if err != nil {
		return v, environmentError("%w", err)
	}
	for n, i := range items {
		v.Items = append(v.Items, trustItem{i.Name, held[n]})
	}
	for _, err := range refused {
		v.Refused = append(v.Refused, err.Error())
	}
	return v, nil
}

func (env *environment) askTrust(w *workspace, items []trust.Item, view trustView, yes bool) error {
	for _, text := range view.Refused {
		env.Stdout.Printf("%s: %s\n", screen.Red("refused"), text)
	}
	if len(items) == 0 {
		env.Stdout.Printf("%s asks for nothing: there is nothing to trust\n", w.root)
		return nil
	}
	env.Stdout.Printf("%s wants to use:\n", w.root)
	for n, i := range items {
		known := ""
		if view.Items[n].Trusted {
			known = " (trusted)"
		}
		env.Stdout.Printf("\n  %s%s\n", screen.Bold(i.Name), known)
		env.Stdout.Printf("    %s\n", screen.Indent("    ", strings.TrimSpace(string(i.Text))))
	}
	if view.Trusted {
		env.Stdout.Printf("\nYou trust exactly this already.\n")
		return nil
	}
	if !yes && !env.confirm(screen.Sprintf("\nTrust this? [y/N] ")) {
		return environmentError("not trusted; nothing was changed (without a terminal say --yes)")
	}
	if err := w.trust.Grant(w.root, items); err != nil {
		return environmentError("%w", err)
	}
	env.Stdout.Printf("\nTrusted, as it is now.\n")
	return nil
}

// confirm asks a person; without one the answer is no.
func (env *environment) confirm(question screen.Text) bool {
	if !env.StdinIsTerminal {
		return false
	}
	env.Stdout.Printf("%s", question)
	answer, _ := bufio.NewReader(env.Stdin).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
