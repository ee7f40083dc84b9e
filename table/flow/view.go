package flow

import (
	"fmt"
	"strings"

	"conclave/policy"
	"conclave/table"
)

// SeatTable is the seat of a person without a character: it sees what the
// whole party sees, like a spectator.
const SeatTable = "table"

// TextOf is what a seat sees of blocks: "gm" all of them, a character the
// party's and its own, everybody else the party's.
func TextOf(blocks []table.Block, seat string) string {
	if seat != string(policy.GM) {
		return table.TextFor(blocks, seat)
	}
	var parts []string
	for _, b := range blocks {
		if b.Audience.Party {
			parts = append(parts, b.Text)
		} else {
			parts = append(parts, fmt.Sprintf("[for %s] %s", b.Audience, b.Text))
		}
	}
	return strings.Join(parts, "\n\n")
}

// Text is what a seat sees of a notice; "" for nothing.
func (n Notice) For(seat string) string {
	switch n.Kind {
	case "narrative":
		return TextOf(n.Blocks, seat)
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
	since, away := t.snapshot().away[character]
	if !away {
		return "", nil
	}
	var parts []string
	err := eachEvent(t.opts.Workspace, t.opts.Campaign, func(e Event) error {
		if e.Kind != EventCommit || e.Cycle <= since {
			return nil
		}
		for _, a := range e.Asked {
			if a.Character == character && a.Outcome == OutcomeAnswer {
				parts = append(parts, "Your character, on its own: "+strings.TrimSpace(a.Response))
			}
		}
		if text := table.TextFor(e.Blocks, character); text != "" {
			parts = append(parts, text)
		}
		return nil
	})
	if err != nil || len(parts) == 0 {
		return "", err
	}
	return "While you were away:\n\n" + strings.Join(parts, "\n\n"), nil
}
