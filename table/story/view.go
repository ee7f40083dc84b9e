package story

import (
	"fmt"
	"strings"

	"conclave/policy"
	"conclave/table"
)

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
