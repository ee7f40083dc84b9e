package gm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/policy"
	"conclave/table"
	"conclave/table/story"
)

// Telling is what is told in a cycle, and to whom. What is secret in a cycle is
// decided here and nowhere else: whose words are whose, who has heard what, and
// who may therefore be told a text, wherever it comes from – narrative, prompts,
// files, titles, the purpose of a roll.
type Telling struct {
	before  Before
	readers []string // everybody
	remarks *Remarks

	blocks []table.Block
	open   []openBlock // those with rolls to come

	acting  map[string]bool // characters whose part of this cycle is private
	openly  bool            // somebody was asked openly
	secrets []story.Secret  // words that were given to the GM alone
	since   int             // how many blocks there were before the first of them
	spoken  []string        // the public answers
	answers map[string]string
	asks    map[string]string // the prompts that each was sent
	sent    map[string]string // what readers were told beside the narrative
}

// openBlock is a block whose rolls have not fallen.
type openBlock struct {
	at      int
	passage Passage
}

// Before is what was told before the cycle.
type Before struct {
	Common  string // what everybody can read
	Recap   []story.Exchange
	Rounds  [][]table.Block // since the last journals
	Secrets []story.Secret  // of earlier cycles
}

// Remarks are what the table says about a turn: for the log and the GM's screen,
// and for the GM's next message.
type Remarks struct {
	Warn []string
	Tell []string
}

// Remark is for both.
func (r *Remarks) Remark(note string) {
	r.Warn, r.Tell = append(r.Warn, note), append(r.Tell, note)
}

// NewTelling begins a cycle.
func NewTelling(roster table.Roster, b Before, r *Remarks) *Telling {
	return &Telling{before: b, readers: append(roster.Slugs(), table.SeatTable), remarks: r, acting: map[string]bool{},
		answers: map[string]string{}, asks: map[string]string{}, sent: map[string]string{}}
}

// Blocks are what was told so far, without rolls that have not fallen.
func (t *Telling) Blocks() []table.Block { return t.blocks }

// End drops what was never told. It returns the blocks as they are committed.
func (t *Telling) End() []table.Block {
	for i := range t.blocks {
		t.blocks[i].Text = strings.TrimSpace(t.blocks[i].Text)
	}
	t.blocks = slices.DeleteFunc(t.blocks, func(b table.Block) bool { return b.Text == "" })
	return t.blocks
}

// Heard is what a character heard since its last journal entry: in the rounds
// that wait for one, and in this cycle.
func (t *Telling) Heard(who string) []string {
	var out []string
	for _, blocks := range append(slices.Clone(t.before.Rounds), t.blocks) {
		if text := table.TextFor(blocks, who); strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	return out
}

// Opening is what a person said at the beginning of the cycle, as those heard it
// who were there: it stands before the narrative in journals. Where nothing was
// narrated to the party, or where it repeats a secret, it is the speaker's alone.
func (t *Telling) Opening(in story.Input, roster table.Roster) []table.Block {
	text := strings.TrimSpace(in.Text)
	if in.Kind != story.InputSaid || text == "" || len(t.blocks) == 0 || in.Who == string(policy.GM) {
		return nil
	}
	ch, plays := roster.Get(in.Who)
	if table.PartyText(t.blocks) != "" && len(t.Owners(text, t.readers)) == 0 {
		name := "At the table"
		if plays {
			name = ch.Name
		}
		return []table.Block{{Audience: table.Audience{Party: true}, Text: name + ": " + text}}
	}
	if !plays {
		return nil
	}
	return []table.Block{{Audience: table.Audience{Names: []string{ch.Slug}}, Text: ch.Name + ": " + text}}
}

// Private says of a request whether it is between a character and the GM: it
// asks for a secret, or follows one that did.
func (t *Telling) Private(who string, kind table.RequestType) bool {
	return t.acting[who] || kind == table.SecretAction
}

// Ask notes a request. The prompt is "" if it was withheld.
func (t *Telling) Ask(who string, kind table.RequestType, prompt string) {
	if kind == table.SecretAction {
		t.acting[who] = true
	}
	if prompt != "" {
		t.asks[who] += "\n" + prompt
	}
}

// Answer is what a request came to.
type Answer struct {
	Who     string
	Private bool
	Text    string
	Beside  []string // what was said to the GM with it
}

// Learn notes the secrets among the answers, before anything is made of them.
func (t *Telling) Learn(answers []Answer) {
	for _, a := range answers {
		t.answers[a.Who] = a.Text
		if !a.Private {
			t.openly, t.spoken = true, append(t.spoken, a.Text)
			continue
		}
		if t.secrets == nil {
			t.since = len(t.blocks)
		}
		for _, p := range append([]string{a.Text}, a.Beside...) {
			if strings.TrimSpace(p) != "" {
				t.secrets = append(t.secrets, story.Secret{Who: a.Who, Text: p})
			}
		}
	}
}

// had is what a reader knows before a secret was told: the public words of this
// cycle and what it heard lately.
func (t *Telling) had(reader string) []string {
	out := append([]string{t.before.Common}, t.spoken...)
	for _, x := range t.before.Recap {
		if x.Input != nil {
			out = append(out, x.Input.Text)
		}
		out = append(out, table.TextFor(x.Blocks, reader))
	}
	for _, blocks := range append(slices.Clone(t.before.Rounds), t.blocks[:min(t.since, len(t.blocks))]) {
		out = append(out, table.TextFor(blocks, reader))
	}
	return append(out, t.asks[reader], t.answers[reader])
}

// Owners are the characters whose secrets a text would tell to these readers. It
// is held together with what they were told since: a secret in two halves is one.
func (t *Telling) Owners(text string, readers []string) []string {
	found := map[string]bool{}
	for _, r := range readers {
		since := table.TextFor(t.blocks[min(t.since, len(t.blocks)):], r)
		all := strings.Join([]string{since, t.sent[r], text}, "\n")
		var had []string
		check := func(s story.Secret, text string, older bool) {
			if s.Who == r || found[s.Who] {
				return
			}
			if had == nil {
				had = t.had(r)
			}
			found[s.Who] = table.Repeats(s.Text, text, older, had...) != ""
		}
		for _, s := range t.secrets {
			check(s, all, false)
		}
		for _, s := range t.before.Secrets {
			check(s, text, true)
		}
	}
	maps.DeleteFunc(found, func(_ string, yes bool) bool { return !yes })
	return slices.Sorted(maps.Keys(found))
}

func (t *Telling) withheld(what string, owners []string, fate string) {
	t.remarks.Remark(fmt.Sprintf("%s repeats what %s said in secret, and %s; say it in other words",
		what, strings.Join(owners, " and "), fate))
}

// public says of a text for everybody whether it can be told; if not, the GM is.
func (t *Telling) public(what, text string) bool {
	owners := t.Owners(text, t.readers)
	if len(owners) > 0 {
		t.withheld(what, owners, "was told to nobody")
	}
	return len(owners) == 0
}

// Guard takes out of an intent what would be told beside the narrative.
func (t *Telling) Guard(o *Intent) {
	for _, r := range o.Rolls {
		if r.Purpose != "" && !t.public("the purpose of a roll", r.Purpose) {
			r.Purpose = ""
		}
	}
	if o.Scene != nil && !t.public("the title of the scene", o.Scene.Title+" "+o.Scene.Place) {
		o.Scene.Title, o.Scene.Place = "A new scene", ""
	}
}

// readersOf are those who read a file of the campaign beside the GM.
func (t *Telling) readersOf(f File) []string {
	switch class := table.Classify(f.Path); class.Kind {
	case table.KindPartyKnowledge, table.KindWorldPrimer:
		return t.readers
	case table.KindSheet:
		return []string{class.Character}
	}
	return nil
}

// GuardFile says why a file that others read cannot be written.
func (t *Telling) GuardFile(f File) string {
	if owners := t.Owners(f.Text, t.readersOf(f)); len(owners) > 0 {
		return fmt.Sprintf("%s was not written: others read it, and it repeats what %s said in secret",
			f.Path, strings.Join(owners, " and "))
	}
	return ""
}

// Wrote notes a file that others read: they were told beside the narrative.
func (t *Telling) Wrote(f File) {
	for _, r := range t.readersOf(f) {
		t.sent[r] += "\n" + f.Text
	}
}

// Tell takes every passage for those who may read it. One that repeats the secret
// of one character is that character's alone, if it was for it at all; one that
// repeats several is nobody's but the GM's. In a cycle of nothing but secrets what
// is not marked is the outcome of one: of the only one who acted, or unclear.
func (t *Telling) Tell(list []Passage) (faults []string) {
	if len(t.acting) > 0 {
		list, faults = t.unmarked(list)
	}
	for _, p := range list {
		text := p.Text(nil)
		readers := p.Audience.Names
		if p.Audience.Party {
			readers = t.readers
		}
		owners := t.Owners(text, readers)
		switch {
		case len(owners) == 0:
		case len(owners) == 1 && p.Audience.May(owners[0]):
			p.Audience = table.Audience{Names: owners}
			t.withheld("a passage", owners, "went to "+owners[0]+" alone")
		default:
			p.Audience = table.Audience{}
			t.withheld("a passage", owners, "went to nobody but you")
		}
		if p.hasRolls() {
			t.open = append(t.open, openBlock{len(t.blocks), p})
		}
		// One by one: the next is held together with it.
		t.blocks = append(t.blocks, table.Block{Audience: p.Audience, Text: text})
	}
	return faults
}

// unmarked decides about public passages of a cycle of nothing but secrets, in
// which none is marked for somebody who acted.
func (t *Telling) unmarked(list []Passage) ([]Passage, []string) {
	marked := slices.ContainsFunc(list, func(p Passage) bool {
		return !p.Audience.Party && slices.ContainsFunc(p.Audience.Names, func(n string) bool { return t.acting[n] })
	})
	public := slices.ContainsFunc(list, func(p Passage) bool { return p.Audience.Party })
	if marked || !public || t.openly {
		return list, nil
	}
	names := slices.Sorted(maps.Keys(t.acting))
	if len(names) == 1 {
		t.remarks.Warn = append(t.remarks.Warn,
			"a cycle of secret actions: unmarked narrative went to "+names[0]+" alone")
		return forThese(list, names), nil
	}
	t.remarks.Warn = append(t.remarks.Warn,
		"a cycle of secret actions of several: unmarked narrative went to nobody but the GM")
	return forThese(list, nil), []string{fmt.Sprintf("%s acted in secret, and what you said is marked for none of them: "+
		"it was kept for you alone. Say it again, each part between [TO: …] and [/TO]", strings.Join(names, " and "))}
}

// forThese gives what is the party's to these alone.
func forThese(list []Passage, names []string) []Passage {
	out := slices.Clone(list)
	for i := range out {
		if out[i].Audience.Party {
			out[i].Audience = table.Audience{Names: slices.Clone(names)}
		}
	}
	return out
}

// Fell puts rolls where they were asked for; what stood in no passage is told by
// itself. Each reader sees of them what is theirs to see.
func (t *Telling) Fell(rolls []*Roll, lines []dice.Line) {
	fell := map[*Roll]dice.Line{}
	for i, r := range rolls {
		fell[r] = lines[i]
	}
	alone := maps.Clone(fell)
	for _, o := range t.open {
		t.blocks[o.at].Text = o.passage.Text(func(r *Roll) string {
			delete(alone, r)
			return fell[r].Told(dice.Viewer{})
		})
	}
	t.open = nil
	for _, r := range rolls {
		if line, yes := alone[r]; yes {
			t.Add(table.Block{Audience: table.Audience{Party: true}, Text: line.Told(dice.Viewer{})})
		}
	}
	for _, r := range rolls {
		if _, yes := alone[r]; !yes {
			t.blocks = append(t.blocks, rolledAlone(fell[r])...)
		}
	}
}

// Add tells a block that is known to be for its audience: of dice.
func (t *Telling) Add(b table.Block) { t.blocks = append(t.blocks, b) }

// Rolled tells of a player's roll: everybody if it is open, else the player. A
// purpose that repeats a secret is left out.
func (t *Telling) Rolled(who string, line dice.Line, open bool) {
	if !open {
		t.Add(table.Block{Audience: table.Audience{Names: []string{who}}, Text: line.Told(dice.Viewer{Name: who})})
		return
	}
	text := line.Told(dice.Viewer{Name: who})
	if owners := t.Owners(text, t.readers); len(owners) > 0 {
		line.Purpose = ""
		text = line.Told(dice.Viewer{})
		t.withheld("the purpose of a roll", owners, "was left out")
	}
	t.Add(table.Block{Audience: table.Audience{Party: true}, Text: text})
}
