package main

import (
	"io"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
)

func newPolicyCommand(env *environment) *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "policy [ROLE]",
		Short: "Show which role may know what, and why",
		Long: `Policy prints the one table that decides who may know what, in quests and at
tables. With a role it prints every kind of knowledge, whether that role
receives it, the reason, and where the rule comes from.

The roles: ` + app.RoleNames() + `.`,
		Example: `  conclave policy                  the whole table
  conclave policy dragon           what the Dragon receives and what not
  conclave policy player --json    the same, for programs
  conclave policy --markdown       the page docs/ISOLATION.md`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("policy takes one role, not %d", len(args))
			}
			return nil
		},
		ValidArgs: app.Roles(),
		RunE: func(_ *cobra.Command, args []string) error {
			table, err := env.app().Policy(first(args))
			switch {
			case err != nil:
				return err
			case asMarkdown && (asJSON || len(args) == 1):
				return usageError("--markdown prints the whole page; leave the role and --json out")
			case asMarkdown:
				_, err := io.WriteString(env.Stdout.Raw(), env.app().PolicyPage())
				return err
			case asJSON:
				return env.Stdout.JSON(table)
			case len(args) == 1:
				printRolePolicy(env.Stdout, table[0])
			default:
				printPolicyMatrix(env.Stdout, table)
			}
			return nil
		},
	}
	env.addJSON(cmd, &asJSON, "print as JSON", (*app.App).Policy)
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the page docs/ISOLATION.md")
	return cmd
}

func printRolePolicy(w *screen.Writer, p app.RolePolicy) {
	w.Printf("%s needs a %s room.\n", screen.Bold(string(p.Role)), p.Level)
	for _, allowed := range []bool{true, false} {
		heading := "receives"
		if !allowed {
			heading = "does not receive"
		}
		w.Printf("\n%s\n", screen.Bold(heading))
		for _, d := range p.Decisions {
			if d.Allow != allowed {
				continue
			}
			name := screen.Sprintf("%-24s", d.Kind)
			if allowed {
				name = screen.Green(name)
			}
			form := ""
			if d.Form == "reduced" {
				form = "reduced: "
			}
			w.Printf("  %s %s%s %s\n", name, form, d.Reason, screen.Dim("("+d.Source+")"))
		}
	}
}

// printPolicyMatrix shows the six animals as one column: the table gives them
// one line.
func printPolicyMatrix(w *screen.Writer, table []app.RolePolicy) {
	w.Printf("%-24s %-8.8s", "", "animals")
	columns := []app.RolePolicy{table[0]}
	for _, p := range table {
		if !p.Animal {
			w.Printf(" %-8.8s", p.Role)
			columns = append(columns, p)
		}
	}
	w.Printf("\n")
	for i, d := range table[0].Decisions {
		w.Printf("%-24s", d.Kind)
		for _, p := range columns {
			mark := p.Decisions[i].Mark()
			cell := screen.Sprintf("%-8s", mark)
			if mark == "–" {
				cell = screen.Dim(cell)
			}
			w.Printf(" %s", cell)
		}
		w.Printf("\n")
	}
	w.Printf("\n● whole or section   ◐ reduced   – denied   (reasons: conclave policy ROLE)\n")
}
