package flow

import (
	"conclave/policy"
	"conclave/room"
	"conclave/seat"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/story"
)

func (t *Table) gmFiles() (files []gm.CampaignFile, skipped []string) {
	return gm.CampaignFiles(t.campaign, t.caps, t.opts.GMReadsJournals)
}

// pack is what a GM is told at the beginning of a cycle; digests are those of
// the files that it is given.
func (t *Table) pack(b begun, s story.State, in story.Input) (text string, about []table.Source,
	digests map[string]string) {
	p := gm.Pack{Roster: b.Roster, Played: b.Played, State: s, Warnings: b.Warnings, Input: in, Delimiter: b.Delimiter}
	p.Files, p.Skipped = t.gmFiles()
	digests = map[string]string{"": ""} // never empty: that is a cycle of an older version
	for _, f := range p.Files {
		digests[f.Path] = table.Hash(f.Data)
	}
	text, about = p.Text()
	return text, about, digests
}

// furnishGM fills the GM's room: the campaign as the GM may see it, below
// campaign/.
func (t *Table) furnishGM(p *seat.Plan) error {
	p.System = gmInstructions
	files, _ := t.gmFiles()
	for _, f := range files {
		kind := policy.ClassifyTable(f.Path, "")
		if d := policy.Decide(policy.GM, kind); !d.Allow {
			continue
		}
		p.Room.Grants = append(p.Room.Grants, room.Grant{Kind: string(kind), Name: "campaign/" + f.Path, Bytes: f.Data})
	}
	return nil
}
