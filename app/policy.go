package app

import (
	"slices"
	"strings"

	"conclave/policy"
)

// RolePolicy is what one role may know, and the room it needs.
type RolePolicy struct {
	Role      policy.Role   `json:"role"`
	Level     policy.Level  `json:"level"`
	Decisions []policy.Cell `json:"decisions"`
	AtTable   bool          `json:"at_table,omitempty"` // a table furnishes its room, turn by turn
	Animal    bool          `json:"-"`                  // one of the six, for whom the table has one line
}

// Roles are the names of all roles.
func Roles() []string {
	var names []string
	for _, role := range policy.Roles() {
		names = append(names, string(role))
	}
	return names
}

// RoleNames are the names of all roles, in one line.
func RoleNames() string { return strings.Join(Roles(), ", ") }

// Policy is the one table that decides who may know what: of one role, or of
// all of them.
func (a *App) Policy(role string) ([]RolePolicy, error) {
	roles := policy.Roles()
	if role != "" {
		one, err := a.roleOf(role)
		if err != nil {
			return nil, usageError("no role %q; the roles are %s", role, RoleNames())
		}
		roles = []policy.Role{one}
	}
	var table []RolePolicy
	for _, role := range roles {
		table = append(table, RolePolicy{Role: role, Level: policy.Required(role), Decisions: policy.Of(role),
			AtTable: role.AtTable(), Animal: slices.Contains(policy.Animals(), role)})
	}
	return table, nil
}

// PolicyKind is a kind of knowledge, and what it is in words.
type PolicyKind struct {
	Kind  policy.Kind `json:"kind"`
	About string      `json:"about"`
}

// PolicyKinds are all kinds, in the order of the table.
func (a *App) PolicyKinds() []PolicyKind {
	var list []PolicyKind
	for _, kind := range policy.Kinds() {
		list = append(list, PolicyKind{kind, policy.Describe(kind)})
	}
	return list
}

// PolicyPage is the table as the page docs/ISOLATION.md.
func (a *App) PolicyPage() string { return policy.Markdown() }
