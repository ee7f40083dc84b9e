package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/story"
)

// Result is what a cycle came to.
type Result struct {
	Cycle    int           `json:"cycle"`
	Blocks   []table.Block `json:"blocks"`
	End      bool          `json:"end"`
	Asked    []story.Asked `json:"asked,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

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
	} `json:"state"`
	Report   table.TmpReport `json:"report"`
	Warnings []string        `json:"warnings"`
	Message  string          `json:"message"`
	Sources  []table.Source  `json:"sources"`
}

func (b begun) stamp() string { return b.Time.Format("20060102T150405.000Z") }

// cycle is one interaction under way. Between its steps it knows only what its
// steps have recorded.
type cycle struct {
	t  *Table
	r  *engine.Run
	in story.Input
	begun
	master
	requests
	papers
	gm.Remarks
	telling *gm.Telling

	rolls  []uint64
	ended  bool
	scene  *story.Scene
	status map[string]table.Status
}

// master is the GM's side of a cycle.
type master struct {
	gmRun    string
	tools    gmTools
	turns    int
	context  string // its notes
	withheld string // words that nobody was told
	repairs  int
	rewrites map[string]bool // characters whose prompt was to be written again
	nudged   bool
	bounded  bool // told to narrate
	rounds   int  // of dice
}

// requests are the players' side of a cycle.
type requests struct {
	sub    int
	calls  int
	asked  []story.Asked
	latest map[string]answer // newest answer of each character
	order  []string          // characters in the order in which they were asked
	vetoes map[string]int
	broken map[string]int  // malformed prompts
	out    map[string]bool // characters that sit out
}

// papers are the files of a cycle.
type papers struct {
	notes  map[string][]byte // for journals, merged
	known  map[string]string // files of tmp/ that are ours: name to hash
	prompt map[string]bool   // written and not sent
}

func (t *Table) runCycle(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	c := &cycle{t: t, r: r, status: map[string]table.Status{}, master: master{rewrites: map[string]bool{}},
		papers: papers{notes: map[string][]byte{}, known: map[string]string{}, prompt: map[string]bool{}},
		requests: requests{latest: map[string]answer{}, vetoes: map[string]int{}, broken: map[string]int{},
			out: map[string]bool{}}}
	if err := json.Unmarshal(raw, &c.in); err != nil {
		return nil, err
	}
	c.gmRun, c.tools.c = t.runID(r.ID(), "gm"), c
	if err := c.begin(); err != nil {
		return nil, err
	}
	if err := c.play(); err != nil {
		return nil, err
	}
	result, err := c.commit()
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// begin looks at the world once, and sets aside what no open cycle knows.
func (c *cycle) begin() error {
	b, err := engine.Do(c.r, "begin", func(context.Context) (begun, error) { return c.t.look(c.in) })
	if err != nil {
		return err
	}
	c.begun, c.context = b, b.State.Context
	c.Warn = slices.Clone(b.Warnings)
	c.telling = gm.NewTelling(b.Roster, gm.Before{Common: b.State.Common, Recap: b.State.Recap, Rounds: b.State.Rounds,
		Secrets: b.State.Secrets}, &c.Remarks)
	_, err = engine.Do(c.r, "set aside", func(context.Context) (struct{}, error) {
		return struct{}{}, c.t.setAside(b.Report.Stale, b.stamp())
	})
	if c.in.Kind == story.InputSaid && c.in.Who != "table" && c.in.Who != string(policy.GM) {
		c.note(c.in.Who, c.in.Text)
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
	s := t.snapshot()
	b.Cycle, b.Session, b.Seq = s.Cycle+1, s.Session, s.Seq+1
	b.Time, b.Delimiter, b.Auto = time.Now().UTC().Round(0), table.NewDelimiter(), t.opts.Auto
	b.Roster = roster
	b.State.Scene, b.State.Context, b.State.Rounds, b.State.LastJob = s.Scene, s.Context, s.Rounds, maps.Clone(s.LastJob)
	b.State.Recap, b.State.Secrets, b.State.Common = s.Recap, s.Secrets, t.common(roster)
	if err := t.seating(&b); err != nil {
		return b, engine.Halt(err)
	}
	if b.Report, err = t.inspect(in, roster); err != nil {
		return b, engine.Halt(err)
	}
	b.Warnings = append(b.Warnings, roster.Problems...)
	b.Warnings = append(b.Warnings, roster.Warnings...)
	for _, n := range b.Report.Stale {
		b.Warnings = append(b.Warnings,
			fmt.Sprintf("tmp/%s belongs to no open cycle: set aside in .conclave/tables/%s/stale", n, t.opts.Campaign))
	}
	for _, n := range b.Report.Foreign {
		b.Warnings = append(b.Warnings, fmt.Sprintf("tmp/%s is no file of the table: left alone", n))
	}
	text, sources := t.pack(b, s, in)
	b.Message, b.Sources = header(in.Kind, t.opts.Campaign, b.Session, b.Cycle, 0)+text, sources
	return b, nil
}

func firstOf(prefix string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return prefix + list[0]
}

// seating says who plays whom.
func (t *Table) seating(b *begun) error {
	b.Played, b.Persons = map[string]string{}, map[string]bool{}
	away := t.snapshot().Away
	for _, ch := range b.Roster.Characters {
		actor, err := t.opts.Cast(policy.Player, ch.Slug, false)
		if err != nil {
			return err
		}
		_, gone := away[ch.Slug]
		switch {
		case actor.Person && gone:
			b.Played[ch.Slug] = "agent, while its person is away"
		case actor.Person:
			b.Played[ch.Slug], b.Persons[ch.Slug] = "person", true
		default:
			b.Played[ch.Slug] = "agent"
		}
	}
	return nil
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

// play is the GM's turns and the players' between them, until the GM narrates
// without a signal. Every way back to the top has its own bound.
func (c *cycle) play() error {
	var o gm.Intent
	var err error
	if c.in.Kind == story.InputSignal {
		o.Signal = gm.Signal{Found: true, Names: c.in.Names}
		c.adopt()
	} else if o, err = c.hear(c.Message, c.Sources); err != nil {
		return err
	}
	for {
		next, about, err := c.next(o)
		if err != nil || next == "" {
			return err
		}
		if o, err = c.hear(next, about); err != nil {
			return err
		}
	}
}

// adopt takes the files of a GM who wrote them by hand.
func (c *cycle) adopt() {
	for _, n := range append([]string{table.GMContextFile}, promptFiles(c.in.Names)...) {
		if slices.Contains(c.Report.Known, n) {
			c.known[n] = "" // whatever it is when it is cleaned away
		}
	}
}

func promptFiles(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, table.PromptFile(n))
	}
	return out
}

// maxRollRounds bounds how often a GM may wait for dice in one cycle.
const maxRollRounds = 12

// next decides what follows an output: the next message to the GM, or "" when
// the cycle can be committed.
func (c *cycle) next(o gm.Intent) (message string, about []table.Source, err error) {
	lines, err := c.roll(o)
	if err != nil {
		return "", nil, err
	}
	faults := o.Faults
	var names []string
	if o.Signal.Found && !c.bounded {
		var bad *gm.SignalError
		if names, bad = c.checkSignal(o.Signal); bad != nil {
			faults = append(faults, strings.Split(strings.TrimSpace(bad.Repair()), "\n")...)
		}
	}
	if len(faults) > 0 {
		if c.repairs < c.t.caps.Repairs {
			c.repairs++
			return c.message("repair", repair(faults, lines)), nil, nil
		}
		for _, f := range faults {
			c.Warn = append(c.Warn, "given up after repairs: "+f)
		}
		if len(names) == 0 && o.Signal.Found {
			return "", nil, nil // treated as no signal
		}
	}
	switch {
	case o.Signal.Found && c.bounded:
		c.Warn = append(c.Warn, "a signal beyond the bound was not run")
		return "", nil, nil
	case o.Signal.Found:
		return c.handOff(names, lines)
	case len(lines) > 0 && c.rounds < maxRollRounds:
		c.rounds++
		return c.message("rolls", strings.Join(lines, "\n")+"\n"), nil, nil
	case len(c.prompt) > 0 && !c.nudged:
		c.nudged = true
		unsent := strings.Join(slices.Sorted(maps.Keys(c.prompt)), ", ")
		return c.message("nudge", "Prompts for "+unsent+
			" are written and nobody was signalled: signal, or say that they are withdrawn.\n"), nil, nil
	}
	return "", nil, nil
}

func repair(faults, rolls []string) string {
	var b strings.Builder
	for _, f := range faults {
		b.WriteString("Fault: " + f + "\n")
	}
	for _, l := range rolls {
		b.WriteString(l + "\n")
	}
	b.WriteString("\nWhat you narrated stands; do not repeat it. Give what is named above again, right, and then go on.\n")
	return b.String()
}

// checkSignal matches names against the roster as it is in this cycle.
func (c *cycle) checkSignal(s gm.Signal) ([]string, *gm.SignalError) {
	names, bad := s.Check(c.Roster)
	if bad != nil {
		return nil, bad
	}
	sitting := &gm.SignalError{Known: c.Roster.Slugs()}
	for _, n := range names {
		if c.out[n] {
			sitting.Names = append(sitting.Names,
				gm.NameFault{Name: n, Reason: "sits out this cycle: its prompts were malformed too often"})
		}
	}
	if len(sitting.Names) > 0 {
		return nil, sitting
	}
	return names, nil
}

// handOff runs a sub-cycle: it freezes the prompts, asks the players, and
// returns the message with their answers.
func (c *cycle) handOff(names []string, rolls []string) (string, []table.Source, error) {
	if c.sub >= c.t.caps.SubCycles || c.calls+len(names) > c.t.caps.Calls {
		c.bounded = true
		return c.message("narrate", fmt.Sprintf("%d rounds and %d calls are spent: narrate now.\n", c.sub, c.calls)), nil, nil
	}
	frozen, err := engine.Do(c.r, fmt.Sprintf("freeze %d", c.turns), func(context.Context) ([]frozen, error) {
		return c.freeze(names)
	})
	if err != nil {
		return "", nil, err
	}
	if msg := c.rewrite(frozen); msg != "" {
		return msg, nil, nil
	}
	if err := c.askPlayers(frozen); err != nil {
		return "", nil, err
	}
	c.sub++
	if err := c.sitOut(); err != nil {
		return "", nil, err
	}
	text, about := c.responses(rolls)
	return c.message("responses", text), about, nil
}

// rewrite gives the GM one turn to take out what a prompt must not say.
func (c *cycle) rewrite(list []frozen) string {
	var faults []string
	for _, f := range list {
		if len(f.Leaks) > 0 && !c.rewrites[f.Character] {
			c.rewrites[f.Character] = true
			for _, l := range f.Leaks {
				faults = append(faults, fmt.Sprintf("the prompt of %s says what the character may not know: %s", f.Character, l))
			}
		}
	}
	if len(faults) == 0 {
		return ""
	}
	return c.message("repair", repair(append(faults, "nobody was started; write the prompt again and signal"), nil))
}

// note keeps words of a character for its journal.
func (c *cycle) note(who, text string) {
	merged, err := table.MergeNotes(c.notes[who], text, c.t.caps)
	var tooBig *table.CapError
	if errors.As(err, &tooBig) {
		c.Warn = append(c.Warn, fmt.Sprintf("notes of %s were not kept: %s", who, tooBig))
		return
	}
	if merged != nil {
		c.notes[who] = merged
	}
}

// message makes a message to the GM, with whatever it is still to be told.
func (c *cycle) message(event, text string) string {
	var b strings.Builder
	b.WriteString(header(event, c.t.opts.Campaign, c.Session, c.Cycle, c.sub))
	for _, n := range c.Tell {
		b.WriteString("Note: " + n + "\n")
	}
	if len(c.Tell) > 0 {
		b.WriteString("\n")
	}
	c.Tell = nil
	b.WriteString(text)
	return b.String()
}

func header(event, campaign string, session, cycle, sub int) string {
	s := fmt.Sprintf("Event: %s\nCampaign: %s\nSession: %d\nCycle: %d\n", event, campaign, session, cycle)
	if sub > 0 {
		s += fmt.Sprintf("Sub-cycle: %d\n", sub)
	}
	return s + "\n"
}
