package flow

import (
	"strings"

	"conclave/policy"
	"conclave/table/story"
)

// For is what a seat sees of a notice; "" for nothing.
func (n Notice) For(seat string) string {
	switch n.Kind {
	case "narrative":
		return story.TextOf(n.Blocks, seat)
	case "waiting":
		return "Waiting for " + strings.Join(n.Names, ", ") + "."
	case "note":
		// Remarks of the engine may name what only the GM knows.
		if seat != string(policy.GM) {
			return ""
		}
	}
	return n.Text
}

// Digest is what a character's person missed while away: what was narrated to
// it since, and nothing else.
func (t *Table) Digest(character string) (string, error) {
	since, away := t.snapshot().Away[character]
	if !away {
		return "", nil
	}
	return story.Missed(t.opts.Workspace, t.opts.Campaign, character, since)
}
