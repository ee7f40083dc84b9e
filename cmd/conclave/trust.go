package main

import (
	"bufio"
	"fmt"
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
				return printJSON(env.Stdout, map[string]any{"workspace": root, "items": items, "trusted": store.Check(root, items) == nil})
			}
			if len(items) == 0 {
				fmt.Fprintf(env.Stdout, "%s asks for nothing: there is nothing to trust\n", root)
				return nil
			}
			fmt.Fprintf(env.Stdout, "%s wants to use:\n", root)
			for _, i := range items {
				fmt.Fprintf(env.Stdout, "\n  %s\n", env.style().bold(i.Name))
				for line := range strings.SplitSeq(strings.TrimSpace(string(i.Text)), "\n") {
					fmt.Fprintf(env.Stdout, "    %s\n", visible(line))
				}
			}
			if store.Check(root, items) == nil {
				fmt.Fprintln(env.Stdout, "\nYou trust exactly this already.")
				return nil
			}
			if !yes && !env.confirm("\nTrust this? [y/N] ") {
				return environmentError("not trusted; nothing was changed (without a terminal say --yes)")
			}
			if err := store.Grant(root, items); err != nil {
				return environmentError("%w", err)
			}
			fmt.Fprintln(env.Stdout, "\nTrusted, as it is now.")
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "say yes without being asked")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take your yes back")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what there is to trust as JSON")
	return cmd
}

// visible shows control characters as what they are: a file must not paint
// over what the person is asked to trust.
func visible(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\ufffd'
		}
		return r
	}, line)
}

// confirm asks a person; without one the answer is no.
func (env *environment) confirm(question string) bool {
	if !env.StdinIsTerminal {
		return false
	}
	fmt.Fprint(env.Stdout, question)
	answer, _ := bufio.NewReader(env.Stdin).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
