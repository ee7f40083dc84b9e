package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/screen"
	"conclave/policy"
)

// policyView is what --json prints for one role.
type policyView struct {
	Role      policy.Role   `json:"role"`
	Level     policy.Level  `json:"level"`
	Decisions []policy.Cell `json:"decisions"`
}

func newPolicyCommand(env *environment) *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "policy [ROLE]",
		Short: "Show which role may know what, and why",
		Long: `Policy prints the one table that decides who may know what, in quests and at
tables. With a role it prints every kind of knowledge, whether that role
receives it, the reason, and where the rule comes from.

The roles: ` + roleNames() + `.`,
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
		ValidArgs: roleList(),
		RunE: func(_ *cobra.Command, args []string) error {
			roles := policy.Roles()
			if len(args) == 1 {
				role := policy.Role(strings.ToLower(args[0]))
				if !role.Known() {
					return usageError("no role %q; the roles are %s", args[0], roleNames())
				}
				roles = []policy.Role{role}
			}
			switch {
			case asMarkdown && (asJSON || len(args) == 1):
				return usageError("--markdown prints the whole page; leave the role and --json out")
			case asMarkdown:
				_, err := io.WriteString(env.Stdout.Raw(), policy.Markdown())
				return err
			case asJSON:
				return env.Stdout.JSON(policyViews(roles))
			case len(args) == 1:
				printRolePolicy(env, roles[0])
			default:
				printPolicyMatrix(env)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the page docs/ISOLATION.md")
	return cmd
}

func roleList() []string {
	var names []string
	for _, role := range policy.Roles() {
		names = append(names, string(role))
	}
	return names
}

func roleNames() string { return strings.Join(roleList(), ", ") }

func policyViews(roles []policy.Role) []policyView {
	var views []policyView
	for _, role := range roles {
		v := policyView{Role: role, Level: policy.Required(role)}
		for _, kind := range policy.Kinds() {
			v.Decisions = append(v.Decisions, policy.Cell{Role: role, Kind: kind, Decision: policy.Decide(role, kind)})
		}
		views = append(views, v)
	}
	return views
}

func printRolePolicy(env *environment, role policy.Role) {
	env.Stdout.Printf("%s needs a %s room.\n", screen.Bold(string(role)), policy.Required(role))
	for _, allowed := range []bool{true, false} {
		heading := "receives"
		if !allowed {
			heading = "does not receive"
		}
		env.Stdout.Printf("\n%s\n", screen.Bold(heading))
		for _, kind := range policy.Kinds() {
			d := policy.Decide(role, kind)
			if d.Allow != allowed {
				continue
			}
			name := screen.Sprintf("%-24s", kind)
			if allowed {
				name = screen.Green(name)
			}
			form := ""
			if d.Form == policy.Reduced {
				form = "reduced: "
			}
			env.Stdout.Printf("  %s %s%s %s\n", name, form, d.Reason, screen.Dim("("+d.Source+")"))
		}
	}
}

// printPolicyMatrix shows the six animals as one column: the table gives them
// one line.
func printPolicyMatrix(env *environment) {
	roles := append([]policy.Role{policy.Bear}, policy.Roles()[len(policy.Animals()):]...)
	env.Stdout.Printf("%-24s", "")
	for _, role := range roles {
		name := string(role)
		if role == policy.Bear {
			name = "animals"
		}
		env.Stdout.Printf(" %-8.8s", name)
	}
	env.Stdout.Printf("\n")
	for _, kind := range policy.Kinds() {
		env.Stdout.Printf("%-24s", kind)
		for _, role := range roles {
			mark := policy.Decide(role, kind).Mark()
			cell := screen.Sprintf("%-8s", mark)
			if mark == "–" {
				cell = screen.Dim(cell)
			}
			env.Stdout.Printf(" %s", cell)
		}
		env.Stdout.Printf("\n")
	}
	env.Stdout.Printf("\n● whole or section   ◐ reduced   – denied   (reasons: conclave policy ROLE)\n")
}
