package flow

import (
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/story"
)

// pack is what a GM is told at the beginning of a cycle; digests are those of
// the files that it is given.
func (t *Table) pack(b begun, s story.State, in story.Input) (text string, about []table.Source,
	digests map[string]string) {
	p := gm.Pack{Roster: b.Roster, Played: b.Played, State: s, Warnings: b.Warnings, Input: in, Delimiter: b.Delimiter}
	p.Files, p.Skipped = t.seats.GMFiles()
	digests = map[string]string{"": ""} // never empty: that is a cycle of an older version
	for _, f := range p.Files {
		digests[f.Path] = table.Hash(f.Data)
	}
	text, about = p.Text()
	return text, about, digests
}
