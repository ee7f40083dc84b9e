package flow

import (
	"strings"

	"conclave/table"
	"conclave/table/gm"
)

// gmWords turns what a person typed in the game master's seat into the forms
// that the table reads. The error is for that person, who can type it again.
func (t *Table) gmWords(text string) (string, error) {
	roster, err := t.roster()
	if err != nil {
		return "", err
	}
	s := t.snapshot()
	return gm.Typist{Roster: roster, Scene: s.Scene, Lately: func(who string) string {
		if len(s.Recap) == 0 {
			return ""
		}
		return strings.TrimSpace(table.TextFor(s.Recap[len(s.Recap)-1].Blocks, who))
	}}.Forms(text)
}
