package story

import (
	"maps"
	"slices"

	"conclave/dice"
	"conclave/table"
	"conclave/table/combat"
)

// Exchange is what the recap remembers of a commit.
type Exchange struct {
	Cycle  int
	Input  *Input
	Blocks []table.Block
}

// State is the log added up.
type State struct {
	Seq       int
	Cycle     int
	Session   int
	InSession bool
	Unopened  bool // the session has begun, and no cycle of it is committed
	Statuses  map[string]table.Status
	Away      map[string]int // character to the cycle in which its person left
	Scene     Scene
	Combat    combat.State
	Context   string // the GM's notes that no GM was resumed with yet
	Recap     []Exchange
	Rounds    [][]table.Block // since the last round of journals
	Secrets   []Secret        // of the cycles so far, the newest that fit
	LastJob   map[string]int  // character to the cycle of its newest journal job
	Dice      *dice.Mark      // where the dice log stood
	// Ended: the GM has said that the session is over, and it has not ended yet.
	Ended bool
	// Due: a scene has begun or a session has ended, and the table has kept no
	// save point of its own since.
	Due bool

	numbers map[int]bool // of the events so far
}

func newState() State {
	return State{Statuses: map[string]table.Status{}, Away: map[string]int{}, LastJob: map[string]int{},
		numbers: map[int]bool{}}
}

// maxRecap bounds the recap in bytes: the GM's memory of what was said lately.
const maxRecap = 24 << 10

// Apply adds the next event, which is no restore: that one goes back in the log,
// and Load follows it.
func (s *State) Apply(e Event) {
	s.count(e)
	s.tell(e)
}

// Has says whether the event of a number was added. The numbers of what was done
// while a cycle was open may be higher than that of the cycle.
func (s *State) Has(seq int) bool { return s.numbers[seq] }

// count adds what goes on whatever is undone: numbers, the session, and which
// journals were set off.
func (s *State) count(e Event) {
	s.numbers[e.Seq] = true
	s.Seq = max(s.Seq, e.Seq)
	s.Cycle = max(s.Cycle, e.Cycle)
	s.Session = max(s.Session, e.Session)
	if e.Dice != nil {
		s.Dice = e.Dice
	}
	switch e.Kind {
	case EventSession:
		s.InSession, s.Unopened = true, true
	case EventCommit:
		s.Unopened = false
	case EventEnd:
		s.InSession, s.Unopened = false, false
	case EventRename:
		from, to := e.renamed()
		move(s.LastJob, from, to)
	}
	if e.Flushed {
		for _, c := range e.Journals {
			s.LastJob[c] = e.Cycle
		}
	}
}

// tell adds what has happened in an event that stands.
func (s *State) tell(e Event) {
	maps.Copy(s.Statuses, e.Statuses)
	for who, gone := range e.Away {
		if gone {
			s.Away[who] = e.Cycle
		} else {
			delete(s.Away, who)
		}
	}
	if e.Scene != nil {
		s.Due = s.Due || e.Scene.Number != s.Scene.Number
		s.Scene = *e.Scene
	}
	if e.Combat != nil {
		s.Combat = *e.Combat
	}
	switch e.Kind {
	case EventSession:
		s.Ended = false
	case EventEnd:
		s.Ended, s.Due = false, true
	case EventSave:
		s.Due = s.Due && !isOwn(e.Name)
	case EventCommit:
		s.Ended = e.Ended
		if s.Context = e.Context; e.ContextRead {
			s.Context = ""
		}
		s.Secrets = hold(s.Secrets, secretsOf(e.Asked))
		s.remember(Exchange{e.Cycle, e.Input, e.Blocks})
		if len(e.Blocks) > 0 {
			s.Rounds = append(s.Rounds, e.Blocks)
		}
	case EventRename:
		s.rename(e.renamed())
	}
	if e.Flushed {
		s.Rounds = nil
	}
}

func (s *State) rename(from, to string) {
	move(s.Statuses, from, to)
	move(s.Away, from, to)
	s.Combat = s.Combat.Rename(from, to)
	s.Secrets = slices.Clone(s.Secrets)
	for i := range s.Secrets {
		if s.Secrets[i].Who == from {
			s.Secrets[i].Who = to
		}
	}
	for _, blocks := range s.Rounds {
		for i := range blocks {
			for j, n := range blocks[i].Audience.Names {
				if n == from {
					blocks[i].Audience.Names[j] = to
				}
			}
		}
	}
}

func move[V any](m map[string]V, from, to string) {
	if v, ok := m[from]; ok {
		m[to] = v
		delete(m, from)
	}
}

func (s *State) remember(x Exchange) {
	s.Recap = append(s.Recap, x)
	size := 0
	for i := len(s.Recap) - 1; i >= 0; i-- {
		size += s.Recap[i].size()
		if size > maxRecap && i < len(s.Recap)-1 {
			s.Recap = slices.Clone(s.Recap[i+1:])
			return
		}
	}
}

func (x Exchange) size() int {
	n := 64
	if x.Input != nil {
		n += len(x.Input.Text)
	}
	for _, b := range x.Blocks {
		n += len(b.Text)
	}
	return n
}

// Load adds up the log of a campaign.
func Load(root, campaign string) (State, error) {
	s := newState()
	err := walk(root, campaign, func(e Event, stands bool) error {
		s.count(e)
		if stands {
			s.tell(e)
		}
		return nil
	})
	return s, err
}

// Secret is what a character said to the GM alone.
type Secret struct {
	Who  string `json:"who"`
	Text string `json:"text"`
}

// maxHeld bounds in bytes what is remembered of earlier cycles.
const maxHeld = 32 << 10

// secretsOf are the secrets of a committed cycle.
func secretsOf(asked []Asked) []Secret {
	var out []Secret
	for _, a := range asked {
		switch {
		case !a.Private:
		case a.Outcome != OutcomeError:
			out = append(out, Secret{a.Character, a.Response + "\n" + a.Discarded})
		case a.Discarded != "": // a veto that could not stand
			out = append(out, Secret{a.Character, a.Discarded})
		}
	}
	return out
}

// hold remembers the secrets of a cycle, the newest that fit.
func hold(held, more []Secret) []Secret {
	held = append(slices.Clone(held), more...)
	size := 0
	for i := len(held) - 1; i >= 0; i-- {
		if size += len(held[i].Text); size > maxHeld {
			return held[i+1:]
		}
	}
	return held
}
