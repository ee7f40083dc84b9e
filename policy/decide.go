package policy

import (
	"fmt"
	"slices"
	"sync"
)

// Form says how a granted piece is handed over.
type Form string

// The forms. A denied piece has none.
const (
	whole   Form = "whole"   // as it stands
	section Form = "section" // that section alone, never the file around it
	reduced Form = "reduced" // with the parts cut that the reason names
)

// Decision answers whether a role may know something. The zero Decision
// denies.
type Decision struct {
	Allow  bool   `json:"allow"`
	Form   Form   `json:"form,omitempty"`
	Reason string `json:"reason"`
	Source string `json:"source"`
}

// Cell is one decision in its place in the table.
type Cell struct {
	Role Role `json:"role"`
	Kind Kind `json:"kind"`
	Decision
}

// Decide answers whether the role may know that kind of thing.
func Decide(role Role, kind Kind) Decision {
	if d, ok := decisions()[place{role, kind}]; ok {
		return d
	}
	return decide(role, kind)
}

// decisions has every answer of the table: views ask for each of their files.
var decisions = sync.OnceValue(func() map[place]Decision {
	m := map[place]Decision{}
	for _, kind := range Kinds() {
		for _, role := range Roles() {
			m[place{role, kind}] = decide(role, kind)
		}
	}
	return m
})

type place struct {
	role Role
	kind Kind
}

func decide(role Role, kind Kind) Decision {
	if !role.Known() {
		return Decision{Reason: fmt.Sprintf("the role %q is not in the table", role), Source: denyByDefault}
	}
	row, ok := index()[kind]
	if !ok {
		return Decision{Reason: fmt.Sprintf("the kind %q is not in the table", kind), Source: denyByDefault}
	}
	for _, rule := range row.rules {
		if slices.Contains(rule.roles, role) {
			return Decision{Allow: rule.form != "", Form: rule.form, Reason: rule.reason, Source: rule.source}
		}
	}
	return row.otherwise(role)
}

// Describe says in a few words what a kind is; nothing for an unknown one.
func Describe(kind Kind) string { return index()[kind].what }

// Of returns every decision about a role, kinds in order.
func Of(role Role) []Cell {
	var out []Cell
	for _, kind := range Kinds() {
		out = append(out, Cell{Role: role, Kind: kind, Decision: Decide(role, kind)})
	}
	return out
}

// family groups kinds that belong together.
type family string

const (
	familyQuest family = "quest"
	familyTable family = "table"
	familyOwn   family = "own" // the program's and the person's own
)

// row is one kind and what is said about it. The first rule that names a role
// decides; a role that no rule names is denied.
type row struct {
	kind   Kind
	family family
	what   string
	rules  []rule
}

// rule is one line for several roles. A rule without a form denies.
type rule struct {
	roles  []Role
	form   Form
	reason string
	source string
}

func (r row) otherwise(role Role) Decision {
	switch {
	case r.family == familyQuest && slices.Contains(tableRoles(), role):
		return Decision{Reason: "a quest is no part of a table", Source: denyByDefault}
	case r.family == familyTable && slices.Contains(questRoles(), role):
		return Decision{Reason: "a table is no part of a quest", Source: denyByDefault}
	}
	return Decision{Reason: "no rule grants it to this role", Source: denyByDefault}
}

func rows() []row {
	return slices.Concat(questRows(), workRows(), spokenRows(), worldRows(), seatRows(), ownRows())
}

var index = sync.OnceValue(func() map[Kind]row {
	m := map[Kind]row{}
	for _, r := range rows() {
		m[r.kind] = r
	}
	return m
})
