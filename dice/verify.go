package dice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"conclave/internal/newer"
	"conclave/workspace"
)

// Report is what Verify found.
type Report struct {
	Lines     int           `json:"lines"`
	Rolls     int           `json:"rolls"`
	Voids     int           `json:"voids"`
	Overrides int           `json:"overrides"`
	Epochs    []epochReport `json:"epochs"`
	Torn      int           `json:"torn,omitempty"` // bytes of an unfinished last line
	Head      string        `json:"head"`           // hash of the last good line
	Bad       *badLine      `json:"bad,omitempty"`
	Breaks    []breakReport `json:"breaks,omitempty"`
}

// breakReport is a place where lines were lost and the log was sealed.
type breakReport struct {
	Line int    `json:"line"`
	From uint64 `json:"from"` // the first roll that nobody can check any more
	To   uint64 `json:"to"`   // and the last; less than From when none was lost
	Note string `json:"note,omitempty"`
	Break
}

// String tells the break in a sentence.
func (b breakReport) String() string {
	lost := "no roll was lost"
	switch {
	case b.To == b.From:
		lost = fmt.Sprintf("roll %d can never be checked", b.From)
	case b.To > b.From:
		lost = fmt.Sprintf("rolls %d to %d can never be checked", b.From, b.To)
	}
	said := ""
	if b.Note != "" {
		said = "; the reason given: " + b.Note
	}
	return fmt.Sprintf("line %d: a sealed break: %s (%s)%s", b.Line, lost, b.Why, said)
}

// epochReport is one epoch. State is "verified" (the seed is shown and every
// roll was recomputed), "open" (the seed is still secret: chain, order and sums
// were checked), "lost", or "broken" (a break ended it, and its seed is not known).
type epochReport struct {
	Epoch  int    `json:"epoch"`
	Commit string `json:"commit"`
	Client string `json:"client"`
	Test   bool   `json:"test,omitempty"`
	Rolls  int    `json:"rolls"`
	State  string `json:"state"`
}

// badLine is the first line that does not hold.
type badLine struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	damage *DamageError
}

func (b *badLine) Error() string { return b.damage.Error() }

func (b *badLine) Unwrap() error { return b.damage }

// OK reports whether every line holds. A log with a sealed break can be OK, and
// is not whole.
func (r Report) OK() bool { return r.Bad == nil }

// CheckVersion refuses a log that a newer conclave wrote. One that is not there
// or cannot be read is for others to speak of.
func CheckVersion(path string) error {
	data, err := workspace.ReadOwn(path, workspace.MaxFile)
	if err != nil {
		return nil
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		var l Line
		if !bytes.Contains(line, []byte(`"v":`)) || json.Unmarshal(line, &l) != nil {
			continue // only an epoch tells
		}
		if err := newer.Check(l.V, logVersion); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, n, err)
		}
	}
	return nil
}

// VerifyFile checks a log file.
func VerifyFile(path string) (Report, error) {
	data, err := workspace.ReadOwn(path, workspace.MaxFile)
	if err != nil {
		return Report{}, err
	}
	return verify(path, data), nil
}

// verify recomputes the chain, the commitments and every roll.
func verify(path string, data []byte) Report {
	whole := bytes.LastIndexByte(data, '\n') + 1
	v := &verifier{seeds: seedsOf(data[:whole]), st: newState()}
	v.rep.Torn = len(data) - whole
	err := replay(path, data[:whole], v.st, v.line)
	var bad *DamageError
	if errors.As(err, &bad) {
		v.rep.Bad = &badLine{bad.Line, bad.Err.Error(), bad}
	}
	v.rep.Head = v.st.head
	return v.rep
}

type verifier struct {
	rep   Report
	st    *state
	seeds map[int]Seed
}

// seedsOf collects the seeds that are shown, by epoch, without judging them:
// a seed that does not fit its commitment is found at its own line.
func seedsOf(data []byte) map[int]Seed {
	out := map[int]Seed{}
	commits := map[int]string{}
	open := 0
	for raw := range bytes.Lines(data) {
		l, err := decode(bytes.TrimSuffix(raw, []byte("\n")))
		if err != nil {
			continue
		}
		if l.Event == eventEpoch {
			commits[l.Epoch], open = l.Commit, l.Epoch
		}
		if l.Event == eventBreak && checkSeed(l.Seed, commits[open]) == nil {
			out[open], _ = parseSeed(l.Seed)
		}
		if l.Event == eventSeed && checkSeed(l.Seed, commits[l.Epoch]) == nil {
			out[l.Epoch], _ = parseSeed(l.Seed)
		}
	}
	return out
}

func (v *verifier) line(no int, l Line) error {
	v.rep.Lines++
	last := len(v.rep.Epochs) - 1
	switch l.Event {
	case eventEpoch:
		v.rep.Epochs = append(v.rep.Epochs, epochReport{Epoch: l.Epoch, Commit: l.Commit, Test: l.Test, State: "open"})
	case eventTable:
		v.rep.Epochs[last].Client = l.Client
	case eventSeed:
		v.rep.Epochs[last].State = "verified"
	case eventLost:
		v.rep.Epochs[last].State = "lost"
	case eventBreak:
		if last >= 0 && v.rep.Epochs[last].State == "open" {
			v.rep.Epochs[last].State = "broken"
			if _, known := v.seeds[v.rep.Epochs[last].Epoch]; known {
				v.rep.Epochs[last].State = "verified"
			}
		}
		v.rep.Breaks = append(v.rep.Breaks,
			breakReport{Line: no, From: l.Break.Good + 1, To: l.N, Note: l.Note, Break: *l.Break})
	case eventOverride:
		v.rep.Overrides++
	case EventVoid:
		v.rep.Voids++
		return v.void(l)
	case EventRoll:
		v.rep.Rolls++
		v.rep.Epochs[last].Rolls++
		return v.roll(l)
	}
	return nil
}

// roll computes the line again: from the seed if it is shown, else from the
// faces that the line itself gives.
func (v *verifier) roll(l Line) error {
	roll, err := parse(l.Input)
	if err != nil {
		return err
	}
	if roll.String() != l.Canonical {
		return fmt.Errorf("canonical form of %q is %q, the line says %q", l.Input, roll, l.Canonical)
	}
	var src source = &shown{results: l.Results}
	seed, known := v.seeds[l.Epoch]
	if known {
		src = newStream(seed, v.st.client, l.N)
	}
	want := Line{DC: l.DC}
	if err := fill(&want, roll, src); err != nil {
		return err
	}
	if reflect.DeepEqual(want.Results, l.Results) && reflect.DeepEqual(want.Check, l.Check) {
		return nil
	}
	if known {
		return fmt.Errorf("roll %d: the seed gives %q, the line says %q", l.N, want.Text(), l.Text())
	}
	return fmt.Errorf("roll %d: the faces give %q, the line says %q", l.N, want.Text(), l.Text())
}

// void checks that a void roll really could not be finished.
func (v *verifier) void(l Line) error {
	seed, known := v.seeds[l.Epoch]
	if !known {
		return nil
	}
	roll, err := parse(l.Input)
	if err != nil {
		return err
	}
	if err := fill(&Line{DC: l.DC}, roll, newStream(seed, v.st.client, l.N)); err == nil {
		return fmt.Errorf("roll %d is called void, but it can be rolled", l.N)
	}
	return nil
}

// shown plays back the faces of a stored roll. Faces fall in the order of the
// stream, which differs from the order of the record when dice are rerolled:
// then all first faces of a term come before the replacements.
type shown struct {
	results []Result
	queue   []int
	loaded  bool
}

func (s *shown) Face(sides int) (int, error) {
	if !s.loaded {
		s.load()
	}
	if len(s.queue) == 0 {
		return 0, errors.New("the line has fewer faces than the roll needs")
	}
	f := s.queue[0]
	s.queue = s.queue[1:]
	if f < 1 || f > sides {
		return 0, fmt.Errorf("the line shows a face %d on a die of %d sides", f, sides)
	}
	return f, nil
}

func (s *shown) load() {
	s.loaded = true
	for _, r := range s.results {
		roll, err := parse(r.Expr)
		if err != nil || len(roll.Exprs) != 1 {
			return
		}
		for i, d := range termsOf(roll.Exprs[0].root) {
			s.queue = append(s.queue, inOrder(d, r.Dice, i+1)...)
		}
	}
}

func termsOf(n node) []*diceNode {
	switch n := n.(type) {
	case *diceNode:
		return []*diceNode{n}
	case *negNode:
		return termsOf(n.x)
	case *groupNode:
		return termsOf(n.x)
	case *binNode:
		return append(termsOf(n.l), termsOf(n.r)...)
	}
	return nil
}

// inOrder gives the faces of one term in the order in which they fell.
func inOrder(d *diceNode, dice []Die, term int) []int {
	var first, later []int
	shift := 0
	if d.fate {
		shift = 2
	}
	for _, die := range dice {
		if die.Term != term {
			continue
		}
		faces := make([]int, len(die.Faces))
		for i, f := range die.Faces {
			faces[i] = f + shift
		}
		n := firstRun(d, die)
		if die.Added {
			n = 0
		}
		n = min(n, len(faces))
		first, later = append(first, faces[:n]...), append(later, faces[n:]...)
	}
	return append(first, later...)
}

// firstRun counts the faces of a die that fell before any reroll: a compound
// explosion goes on as long as its condition holds, every other die has one.
func firstRun(d *diceNode, die Die) int {
	if d.explode.kind != "!!" {
		return 1
	}
	on := d.explode.on
	if !on.given() {
		on = cond{"=", d.sides}
	}
	for i, f := range die.Faces {
		if !on.match(f) {
			return i + 1
		}
	}
	return len(die.Faces)
}
