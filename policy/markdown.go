package policy

import (
	"fmt"
	"slices"
	"strings"
)

const intro = `# Who may know what

This page is rendered from the table in package ` + "`policy`" + `; a test keeps the two equal.
To render it again: ` + "`conclave policy --markdown > docs/ISOLATION.md`" + `.

A role that is not named is denied. A kind that is not named is denied. Knowledge that fits no kind is *unknown*, and denied.

What this table does not do: it does not follow what a seat later repeats in its own words. The party shares everything of a
quest, so an animal may say in a conversation what it read in a verdict; that conversation then counts as the animal's.
`

const sources = `## Where the rules come from

| source | meaning |
|---|---|
| SPEC-CM-003-A | the context isolation protocol of Campaign Mode |
| SPEC-CM-012-A | the conversation transcript protocol of Campaign Mode |
| table file formats | the file formats between GM and AI players |
| ruling: profiles | the lists that the isolation protocol leaves open, decided here |
| ruling: by section | quest.md holds narrative, criteria and verdicts in one file, so isolation is by section, not by file |
| ruling: the person is a channel | until its verdict stands an evaluator gets no free text but the stage's expectation |
| ruling: checks | a criterion's own check runs over the final work alone, so its result tells nothing else |
| ruling: the gate | a gate over a change shows it as text: which lines of the work came and went, never messages, authors or names of branches |
| ruling: blind council | six seats look alone, or six voices would be one |
| ruling: party seats | animals, council and Gandalf look at the project, without engine files, settings and ` + "`.git`" + ` |
| ruling: table secrets | players have an allow-list; everything else of a campaign is the GM's |
| ruling: table journals | a journal and its notes belong to their character |
| ruling: table dice | sealed rolls stay sealed, the seed reaches nobody |
| ruling: engine files | ` + "`.conclave/`, `.git`" + ` and settings enter no room |
| ruling: the key stays outside | keys are added by the gateway, outside every room |
| deny by default | no rule grants it |
`

// Markdown renders the whole table as the page docs/ISOLATION.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(intro)
	writeLevels(&b)
	b.WriteString("\n## The table\n\n● whole or section · ◐ reduced · – denied\n")
	writeMatrix(&b, "Quests", questRows(), workRows(), spokenRows())
	writeMatrix(&b, "Tables", worldRows(), seatRows())
	b.WriteString("\n### Neither\n\n| kind | what it is | everybody |\n|---|---|---|\n")
	for _, r := range ownRows() {
		fmt.Fprintf(&b, "| %s | %s | – |\n", r.kind, r.what)
	}
	b.WriteString("\n## Reasons\n")
	for _, r := range rows() {
		writeReasons(&b, r)
	}
	b.WriteString("\n" + sources)
	return b.String()
}

func writeLevels(b *strings.Builder) {
	b.WriteString("\n## The room each role needs\n\n| level | roles |\n|---|---|\n")
	for _, level := range []Level{sealed, forwarded, fenced, advisory} {
		var names []string
		for _, role := range Roles() {
			if Required(role) == level {
				names = append(names, string(role))
			}
		}
		if len(names) == 0 {
			names = []string{"nobody; only by the person's explicit word, stamped on everything that follows" + fallsBackTo(level)}
			if level == forwarded {
				names[0] += "; for everybody but " + whoMayNotLogIn() + " ([logins](logins.md))"
			}
		}
		fmt.Fprintf(b, "| %s | %s |\n", level, strings.Join(names, ", "))
	}
}

// column is a set of roles that the table shows as one.
type column struct {
	name string
	role Role
}

func columns(title string) []column {
	var out []column
	if title == "Quests" {
		out = []column{{"animals", Bear}}
		for _, role := range questRoles()[len(Animals()):] {
			out = append(out, column{string(role), role})
		}
		return out
	}
	for _, role := range tableRoles() {
		out = append(out, column{string(role), role})
	}
	return out
}

func writeMatrix(b *strings.Builder, title string, groups ...[]row) {
	fmt.Fprintf(b, "\n### %s\n\n| kind | what it is |", title)
	cols := columns(title)
	for _, c := range cols {
		fmt.Fprintf(b, " %s |", c.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat(":-:|", len(cols)) + "\n")
	for _, r := range slices.Concat(groups...) {
		fmt.Fprintf(b, "| %s | %s |", r.kind, r.what)
		for _, c := range cols {
			fmt.Fprintf(b, " %s |", Decide(c.role, r.kind).Mark())
		}
		b.WriteString("\n")
	}
}

// Mark is the decision as one character.
func (d Decision) Mark() string {
	switch {
	case !d.Allow:
		return "–"
	case d.Form == reduced:
		return "◐"
	}
	return "●"
}

// writeReasons groups the roles that one rule speaks of.
func writeReasons(b *strings.Builder, r row) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n", r.kind, r.what)
	var order []Decision
	who := map[Decision][]string{}
	for _, role := range Roles() {
		d := Decide(role, r.kind)
		if _, there := who[d]; !there {
			order = append(order, d)
		}
		who[d] = append(who[d], string(role))
	}
	for _, d := range order {
		word := "denied"
		if d.Allow {
			word = "**allowed** (" + string(d.Form) + ")"
		}
		fmt.Fprintf(b, "- %s: %s – %s. *%s*\n", strings.Join(who[d], ", "), word, d.Reason, d.Source)
	}
}

func whoMayNotLogIn() string {
	var names []string
	for _, role := range Roles() {
		if !role.MayLogIn() {
			names = append(names, string(role))
		}
	}
	return strings.Join(names, ", ")
}

// fallsBackTo says who goes on in a room of a level that nobody requires.
func fallsBackTo(level Level) string {
	for _, role := range Roles() {
		if Fallback(role) == level {
			return ", or for the party and the game master where the system cannot seal ([levels](levels.md))"
		}
	}
	return ""
}
