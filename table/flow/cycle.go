package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"conclave/engine"
	"conclave/table"
	"conclave/table/combat"
	"conclave/table/gm"
	"conclave/table/story"
	"conclave/table/told"
)

// Result is what a cycle came to.
type Result struct {
	Cycle    int           `json:"cycle"`
	Blocks   []table.Block `json:"blocks"`
	End      bool          `json:"end"`
	Asked    []story.Asked `json:"asked,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

// cycle is one interaction under way. Between its steps it knows only what its
// steps have recorded.
type cycle struct {
	t  *Table
	r  *engine.Run
	in story.Input
	// first: it was begun by the first version of the flow, and takes its steps.
	first bool
	begun
	master
	requests
	papers
	gm.Remarks
	telling *gm.Telling

	rolls   []uint64
	ended   bool
	scene   *story.Scene
	combat  combat.State
	fought  bool // it is another than at the beginning
	huddles int  // talks of players among themselves
	entered bool // the scene's title was shown
	status  map[string]table.Status
}

// master is the GM's side of a cycle.
type master struct {
	gmRun    string
	tools    gmTools
	turns    int
	context  string // its notes
	recalled string // the notes that it was resumed with
	withheld string // words that nobody was told
	repairs  int
	rewrites map[string]bool // characters whose prompt was to be written again
	nudged   bool
	bounded  bool // told to narrate
	rounds   int  // of dice
	diced    bool // no more of them
}

// requests are the players' side of a cycle.
type requests struct {
	sub    int
	calls  int          // of players, further attempts included
	spare  atomic.Int64 // further attempts that are left in this sub-cycle, as its steps see it
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
	return t.cycle(r, raw, false)
}

// runFirst ends what the first version of the flow began: it took a signal on a
// line of its own alone, set off no journals where nobody was asked, and wrote
// answers over whatever a hand had laid there.
func (t *Table) runFirst(r *engine.Run, raw json.RawMessage) (json.RawMessage, error) {
	return t.cycle(r, raw, true)
}

func (t *Table) cycle(r *engine.Run, raw json.RawMessage, first bool) (json.RawMessage, error) {
	c := &cycle{t: t, r: r, first: first, status: map[string]table.Status{}, master: master{rewrites: map[string]bool{}},
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

// play is the GM's turns and the players' between them, until the GM narrates
// without a signal. Every way back to the top has its own bound.
func (c *cycle) play() error {
	var o gm.Intent
	var err error
	if c.in.Kind == story.InputSignal {
		o.Signal = gm.Signal{Found: true, Names: c.in.Names}
		if err := c.adopt(); err != nil {
			return err
		}
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
func (c *cycle) adopt() error {
	for _, n := range append([]string{table.GMContextFile}, promptFiles(c.in.Names)...) {
		if slices.Contains(c.Report.Known, n) {
			c.known[n] = "" // whatever it is when it is cleaned away
		}
	}
	if _, ok := c.known[table.GMContextFile]; !ok || c.first {
		return nil
	}
	notes, err := engine.Do(c.r, "adopt", func(context.Context) (gm.Context, error) {
		return gm.ReadContext(c.t.campaign.Tmp, c.t.caps), nil
	})
	if notes.Text != "" {
		c.context = notes.Text
	}
	if notes.Remark != "" {
		c.Remark(notes.Remark)
	}
	return err
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
	fought, err := c.fight(&o)
	if err != nil {
		return "", nil, err
	}
	lines = append(lines, fought...)
	talked, err := c.huddle(&o)
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
			c.Warn = append(c.Warn, told.GivenUp(f))
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
	case talked != "":
		return c.message("huddle", strings.TrimSpace(strings.Join(append(lines, talked), "\n"))+"\n"), nil, nil
	case len(lines) > 0 && c.rounds < maxRollRounds:
		c.rounds++
		return c.message("rolls", strings.Join(lines, "\n")+"\n"), nil, nil
	case len(lines) > 0 && !c.first:
		c.bounded, c.diced = true, true
		c.Warn = append(c.Warn, fmt.Sprintf("the GM waited for dice %d times in one cycle: told to narrate", c.rounds+1))
		return c.message("narrate", strings.Join(lines, "\n")+
			"\n\nThese were the last dice of this cycle: narrate now.\n"), nil, nil
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
	if err := c.leaveSpare(frozen); err != nil {
		return "", nil, err
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
