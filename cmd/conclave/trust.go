package main

import (
	"bufio"
	"conclave/internal/screen"
	"strings"

	"github.com/spf13/cobra"
)

func newTrustCommand(env *environment) *cobra.Command {
	var yes, revoke, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Let this workspace name agents, commands and packs",
		Long: `A project can name programs and commands: in its conclave.yaml, in the checks
of its criteria, in its packs. None is used until you have looked at them and
said yes. Your yes holds for exactly this content and is asked for again when
it changes. It is kept outside the project, in your data directory.`,
		Example: "  conclave trust             look, and say yes or no\n  conclave trust --yes       for scripts\n  conclave trust --revoke    take it back",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			root := env.findRoot()
			store := env.trustStore()
			if revoke {
				return store.Revoke(root)
			}
			items, err := trustItems(root)
			if err != nil {
				return environmentError("%w", err)
			}
			if asJSON {
				return env.Stdout.JSON(map[string]any{"workspace": root, "items": items, "trusted": store.Check(root, items) == nil})
			}
			if len(items) == 0 {
				env.Stdout.Printf("%s asks for nothing: there is nothing to trust\n", root)
				return nil
			}
			env.Stdout.Printf("%s wants to use:\n", root)
			for _, i := range items {
				env.Stdout.Printf("\n  %s\n", screen.Bold(i.Name))
				env.Stdout.Printf("    %s\n", screen.Indent("    ", strings.TrimSpace(string(i.Text))))
			}
			if store.Check(root, items) == nil {
				env.Stdout.Printf("\nYou trust exactly this already.\n")
				return nil
			}
			if !yes && !env.confirm(screen.Sprintf("\nTrust this? [y/N] ")) {
				return environmentError("not trusted; nothing was changed (without a terminal say --yes)")
			}
			if err := store.Grant(root, items); err != nil {
				return environmentError("%w", err)
			}
			env.Stdout.Printf("\nTrusted, as it is now.\n")
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "say yes without being asked")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take your yes back")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what there is to trust as JSON")
	return cmd
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
