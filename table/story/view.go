package story

import (
	"fmt"
	"strings"

	"conclave/policy"
	"conclave/table"
)

// TextOf is what a seat sees of blocks: "gm" all of them, a character the
// party's and its own, everybody else the party's. called says how people call
// who sits in a seat.
func TextOf(blocks []table.Block, seat string, called func(seat string) string) string {
	if seat != string(policy.GM) {
		return table.TextFor(blocks, seat)
	}
	var parts []string
	for _, b := range blocks {
		switch who := names(b.Audience, called); {
		case b.Audience.Party:
			parts = append(parts, b.Text)
		case who == "":
			parts = append(parts, "[for you] "+b.Text)
		default:
			parts = append(parts, fmt.Sprintf("[for %s] %s", who, b.Text))
		}
	}
	return strings.Join(parts, "\n\n")
}

// names are those who read a block, as people call them.
func names(a table.Audience, called func(string) string) string {
	var out []string
	for _, slug := range a.Names {
		out = append(out, called(slug))
	}
	return strings.Join(out, " and ")
}

// calledIn is how people call who sits in a seat of a campaign; by its slug where
// the party cannot be read.
func calledIn(root, campaign string) func(seat string) string {
	c, err := table.OpenCampaign(root, campaign)
	if err != nil {
		return table.Roster{}.Called
	}
	defer c.Close()
	roster, err := table.LoadRoster(c.Party, nil, table.Caps{})
	if err != nil {
		return table.Roster{}.Called
	}
	return roster.Called
}

// Missed is what a character heard after a cycle, and what it did on its own;
// "" for nothing.
func Missed(root, campaign, character string, since int) (string, error) {
	var parts []string
	err := each(root, campaign, func(e Event) {
		if e.Kind != EventCommit || e.Cycle <= since {
			return
		}
		for _, a := range e.Asked {
			if a.Character == character && a.Outcome == OutcomeAnswer {
				parts = append(parts, "Your character, on its own: "+strings.TrimSpace(a.Response))
			}
		}
		if text := table.TextFor(e.Blocks, character); text != "" {
			parts = append(parts, text)
		}
	})
	if err != nil || len(parts) == 0 {
		return "", err
	}
	return "While you were away:\n\n" + strings.Join(parts, "\n\n"), nil
}
