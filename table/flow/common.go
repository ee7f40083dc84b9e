package flow

import (
	"strings"

	"conclave/internal/markdown"
	"conclave/table"
)

// maxCommon bounds in bytes how much of what everybody can read is remembered.
const maxCommon = 64 << 10

// common is what everybody at the table can read, and the names of the party.
func (t *Table) common(roster table.Roster) string {
	var parts []string
	for _, ch := range roster.Characters {
		parts = append(parts, ch.Name, ch.Slug)
	}
	for _, name := range []string{"party-knowledge.md", "world-primer.md"} {
		if data, err := t.campaign.Root.Read(name, t.caps.PartyKnowledge); err == nil {
			parts = append(parts, table.ForEveryone(markdown.Normalise(string(data))))
		}
	}
	all := strings.ToValidUTF8(strings.Join(parts, "\n"), "")
	return strings.ToValidUTF8(all[:min(len(all), maxCommon)], "")
}
