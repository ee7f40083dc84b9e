package flow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/engine"
	"conclave/internal/markdown"
	"conclave/policy"
	"conclave/table"
	"conclave/table/combat"
	"conclave/table/gm"
	"conclave/table/story"
	"conclave/table/told"
)

// begun is what a cycle takes from the world at its beginning, as it was then.
type begun struct {
	Cycle     int               `json:"cycle"`
	Session   int               `json:"session"`
	Seq       int               `json:"seq"`
	Time      time.Time         `json:"time"`
	Delimiter string            `json:"delimiter"`
	Roster    table.Roster      `json:"roster"`
	Played    map[string]string `json:"played"`
	Persons   map[string]bool   `json:"persons"`
	Auto      bool              `json:"auto"`
	State     struct {
		Scene   story.Scene      `json:"scene"`
		Context string           `json:"context"`
		Rounds  [][]table.Block  `json:"rounds"`
		LastJob map[string]int   `json:"last_job"`
		Recap   []story.Exchange `json:"recap,omitempty"`
		Secrets []story.Secret   `json:"secrets,omitempty"` // of earlier cycles
		Common  string           `json:"common,omitempty"`  // what everybody can read
		Combat  combat.State     `json:"combat,omitzero"`
	} `json:"state"`
	Report   table.TmpReport   `json:"report"`
	Warnings []string          `json:"warnings"`
	Files    map[string]string `json:"files,omitempty"` // of the campaign, as the GM is given them: path to digest
	Message  string            `json:"message"`
	Sources  []table.Source    `json:"sources"`
}

// stampForm is how a time names a directory.
const stampForm = "20060102T150405.000Z"

func (b begun) stamp() string { return b.Time.Format(stampForm) }

// begin looks at the world once, and sets aside what no open cycle knows.
func (c *cycle) begin() error {
	b, err := engine.Do(c.r, "begin", func(context.Context) (begun, error) { return c.t.look(c.in) })
	if err != nil {
		return err
	}
	c.begun, c.context, c.combat = b, b.State.Context, b.State.Combat
	c.Warn = slices.DeleteFunc(slices.Clone(b.Warnings), func(w string) bool {
		return slices.Contains(b.Roster.Problems, w) || slices.Contains(b.Roster.Warnings, w) // told when they were new
	})
	c.telling = gm.NewTelling(b.Roster, gm.Before{Common: b.State.Common, Recap: b.State.Recap, Rounds: b.State.Rounds,
		Secrets: b.State.Secrets}, &c.Remarks)
	_, err = engine.Do(c.r, "set aside", func(context.Context) (struct{}, error) {
		return struct{}{}, c.t.setAside(b.Report.Stale, b.stamp())
	})
	if c.in.Kind == story.InputSaid && c.in.Who != "table" && c.in.Who != string(policy.GM) {
		c.note(c.in.Who, cmp.Or(c.in.Notes, c.in.Text))
	}
	return err
}

// look is the body of the first step.
func (t *Table) look(in story.Input) (begun, error) {
	var b begun
	if err := t.campaign.Tmp.Probe(); err != nil {
		return b, engine.Halt(err)
	}
	roster, err := t.roster()
	if err != nil {
		return b, engine.Halt(err)
	}
	if len(roster.Characters) == 0 {
		return b, engine.Halt(fmt.Errorf("campaign %s has no characters: write a sheet party/{character}.md%s",
			t.opts.Campaign, firstOf(": ", roster.Problems)))
	}
	if _, err := t.dice.Log(); err != nil {
		return b, engine.Halt(err)
	}
	s := t.snapshot()
	closed, err := t.passable(roster, s.Scene)
	if err != nil {
		return b, engine.Halt(err)
	}
	t.tellUnseated(roster)
	b.Cycle, b.Session, b.Seq = s.Cycle+1, s.Session, s.Seq+1
	b.Time, b.Delimiter, b.Auto = time.Now().UTC().Round(0), table.NewDelimiter(), t.opts.Auto
	b.Roster = roster
	b.State.Scene, b.State.Context, b.State.Rounds, b.State.LastJob = s.Scene, s.Context, s.Rounds, maps.Clone(s.LastJob)
	b.State.Recap, b.State.Secrets, b.State.Common = s.Recap, s.Secrets, t.common(roster)
	b.State.Combat = s.Combat
	if b.Played, b.Persons, err = t.seats.Seating(roster); err != nil {
		return b, engine.Halt(err)
	}
	if b.Report, err = t.inspect(in, roster); err != nil {
		return b, engine.Halt(err)
	}
	b.Warnings = append(b.Warnings, closed...)
	b.Warnings = append(b.Warnings, roster.Problems...)
	b.Warnings = append(b.Warnings, roster.Warnings...)
	for _, n := range b.Report.Stale {
		b.Warnings = append(b.Warnings, told.SetAside(n, t.opts.Campaign))
	}
	for _, n := range b.Report.Foreign {
		b.Warnings = append(b.Warnings, fmt.Sprintf("tmp/%s is no file of the table: left alone", n))
	}
	text, sources, files := t.pack(b, s, in)
	b.Files = files
	b.Message, b.Sources = header(in.Kind, t.opts.Campaign, b.Session, b.Cycle, 0)+text, sources
	return b, nil
}

// passable says what would keep a cycle from its end: what cannot be written,
// and what cannot be given to those who may be asked. Afterwards it would cost
// their answers. closed is what a GM must leave alone.
func (t *Table) passable(roster table.Roster, scene story.Scene) (closed []string, err error) {
	blocks, readOnly := scene.Ways(t.campaign, roster)
	if err := table.Blocked(append(blocks, scene.Try(t.campaign)...)); err != nil {
		return nil, err
	}
	for _, slug := range roster.Present() {
		if _, err := t.campaign.PlayerContext(slug, nil, table.ContextOptions{Caps: t.caps}); err != nil {
			return nil, fmt.Errorf("nobody was asked: %w", err)
		}
	}
	for _, o := range readOnly {
		closed = append(closed, o.Error()+"; the game master does not write it")
	}
	return closed, nil
}

func firstOf(prefix string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return prefix + list[0]
}

// inspect sorts tmp/ before a new cycle. Notes that wait for their journal are
// known; so are the prompts of a GM who writes files by hand and signals.
func (t *Table) inspect(in story.Input, roster table.Roster) (table.TmpReport, error) {
	known := t.journals.Notes()
	if in.Kind == story.InputSignal {
		names := []string{table.GMContextFile}
		for _, n := range in.Names {
			if ch, ok := roster.Get(n); ok { // what was typed is never a path
				names = append(names, table.PromptFile(ch.Slug))
			}
		}
		for _, n := range names {
			if hash, err := t.campaign.Tmp.HashOf(n); err == nil {
				known[n] = hash
			}
		}
	}
	return t.campaign.InspectTmp(known)
}

// setAside moves what was found; what is gone already was moved before a kill.
func (t *Table) setAside(names []string, stamp string) error {
	there, err := t.campaign.Tmp.List()
	if err != nil {
		return engine.Halt(err)
	}
	for _, n := range names {
		if !slices.Contains(there, n) {
			continue
		}
		if _, err := t.campaign.SetAside(n, stamp); err != nil {
			return engine.Halt(err)
		}
		t.crash("set aside " + n)
	}
	return nil
}

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
