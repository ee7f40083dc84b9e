package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

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
				_, err := io.WriteString(env.Stdout, policy.Markdown())
				return err
			case asJSON:
				return printJSON(env.Stdout, policyViews(roles))
			case len(args) == 1:
				return printRolePolicy(env, roles[0])
			}
			return printPolicyMatrix(env)
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

func printRolePolicy(env *environment, role policy.Role) error {
	s := env.style()
	var b strings.Builder
	fmt.Fprintf(&b, "%s needs a %s room.\n", s.bold(string(role)), policy.Required(role))
	for _, allowed := range []bool{true, false} {
		heading := "receives"
		if !allowed {
			heading = "does not receive"
		}
		fmt.Fprintf(&b, "\n%s\n", s.bold(heading))
		for _, kind := range policy.Kinds() {
			d := policy.Decide(role, kind)
			if d.Allow != allowed {
				continue
			}
			name := fmt.Sprintf("%-24s", kind)
			if allowed {
				name = s.green(name)
			}
			form := ""
			if d.Form == policy.Reduced {
				form = "reduced: "
			}
			fmt.Fprintf(&b, "  %s %s%s %s\n", name, form, d.Reason, s.dim("("+d.Source+")"))
		}
	}
	_, err := io.WriteString(env.Stdout, b.String())
	return err
}

// printPolicyMatrix shows the six animals as one column: the table gives them
// one line.
func printPolicyMatrix(env *environment) error {
	s := env.style()
	roles := append([]policy.Role{policy.Bear}, policy.Roles()[len(policy.Animals()):]...)
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s", "")
	for _, role := range roles {
		name := string(role)
		if role == policy.Bear {
			name = "animals"
		}
		fmt.Fprintf(&b, " %-8.8s", name)
	}
	b.WriteString("\n")
	for _, kind := range policy.Kinds() {
		fmt.Fprintf(&b, "%-24s", kind)
		for _, role := range roles {
			mark := policy.Decide(role, kind).Mark()
			fmt.Fprintf(&b, " %s", s.dimUnless(mark != "–", fmt.Sprintf("%-8s", mark)))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n● whole or section   ◐ reduced   – denied   (reasons: conclave policy ROLE)\n")
	_, err := io.WriteString(env.Stdout, b.String())
	return err
}

func (s style) dimUnless(keep bool, text string) string {
	if keep {
		return text
	}
	return s.dim(text)
}
