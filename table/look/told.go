package look

import (
	"strconv"
	"strings"

	"conclave/dice"
	"conclave/table"
	"conclave/table/journal"
	"conclave/table/rolls"
	"conclave/table/story"
	"conclave/table/told"
)

// Told is what there is to be told of a table: what is so now, and what has
// happened in its last session. It takes no lock.
func Told(workspace, campaign string) ([]told.Thing, error) {
	c, err := table.OpenCampaign(workspace, campaign)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	roster, err := table.LoadRoster(c.Party, nil, table.Caps{})
	if err != nil {
		return nil, err
	}
	out := told.OfRoster(roster)
	problems, warnings, err := Validate(workspace, campaign, table.Caps{}, false)
	if err != nil {
		return nil, err
	}
	files := told.OfFiles(problems, warnings, roster)
	parked, err := journal.Parked(workspace, campaign)
	if err != nil {
		return nil, err
	}
	out = append(out, told.OfJournals(parked, roster)...)
	log, err := story.ReadLog(workspace, campaign)
	for _, e := range log {
		if e.Session == log[len(log)-1].Session {
			out = append(out, told.OfEvent(e)...)
		}
	}
	return append(out, files...), err
}

// News are the things that a screen was not told yet; from now on it was. What
// is so now is told every time.
func News(workspace, campaign, screen string, things []told.Thing) ([]told.Thing, error) {
	// A table that this program cannot open is left as it is.
	if err := dice.CheckVersion(rolls.File(workspace, campaign)); err != nil {
		return nil, err
	}
	d, err := table.OwnDir(workspace, campaign, "told")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	before := 0
	if data, err := d.Read(screen, 32); err == nil {
		before, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	last := before
	var out []told.Thing
	for _, t := range things {
		if t.Seq == 0 || t.Seq > before {
			out = append(out, t)
		}
		last = max(last, t.Seq)
	}
	if last == before {
		return out, nil
	}
	return out, d.Write(screen, []byte(strconv.Itoa(last)+"\n"))
}
