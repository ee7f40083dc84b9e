package story

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"conclave/table"
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
	Statuses  map[string]table.Status
	Away      map[string]int // character to the cycle in which its person left
	Scene     Scene
	Context   string // the GM's notes
	Recap     []Exchange
	Rounds    [][]table.Block // since the last round of journals
	Secrets   []Secret        // of the cycles so far, the newest that fit
	LastJob   map[string]int  // character to the cycle of its newest journal job
}

func newState() State {
	return State{Statuses: map[string]table.Status{}, Away: map[string]int{}, LastJob: map[string]int{}}
}

// maxRecap bounds the recap in bytes: the GM's memory of what was said lately.
const maxRecap = 24 << 10

// Apply adds the next event.
func (s *State) Apply(e Event) {
	s.Seq = max(s.Seq, e.Seq)
	s.Cycle = max(s.Cycle, e.Cycle)
	s.Session = max(s.Session, e.Session)
	maps.Copy(s.Statuses, e.Statuses)
	for who, gone := range e.Away {
		if gone {
			s.Away[who] = e.Cycle
		} else {
			delete(s.Away, who)
		}
	}
	if e.Scene != nil {
		s.Scene = *e.Scene
	}
	switch e.Kind {
	case EventSession:
		s.InSession = true
	case EventEnd:
		s.InSession = false
	case EventCommit:
		s.Context = e.Context
		s.Secrets = hold(s.Secrets, secretsOf(e.Asked))
		s.remember(Exchange{e.Cycle, e.Input, e.Blocks})
		if len(e.Blocks) > 0 {
			s.Rounds = append(s.Rounds, e.Blocks)
		}
	case EventRename:
		s.rename(e.Name)
	}
	if e.Flushed {
		s.Rounds = nil
		for _, c := range e.Journals {
			s.LastJob[c] = e.Cycle
		}
	}
}

func (s *State) rename(pair string) {
	from, to, _ := strings.Cut(pair, " ")
	if v, ok := s.Statuses[from]; ok {
		s.Statuses[to] = v
		delete(s.Statuses, from)
	}
	if v, ok := s.Away[from]; ok {
		s.Away[to] = v
		delete(s.Away, from)
	}
	if v, ok := s.LastJob[from]; ok {
		s.LastJob[to] = v
		delete(s.LastJob, from)
	}
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
	return stateAt(root, campaign, 1<<62)
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// stateAt adds the log up to an event. A restore goes back to the state of the
// event that it names; numbers go on.
func stateAt(root, campaign string, last int) (State, error) {
	s := newState()
	err := eachEvent(root, campaign, func(e Event) error {
		if e.Seq > last {
			return errEnough
		}
		if e.Kind == EventRestore {
			back, err := stateAt(root, campaign, min(e.To, e.Seq-1))
			if err != nil {
				return err
			}
			back.Seq, back.Cycle, back.Session = s.Seq, s.Cycle, s.Session
			back.LastJob, back.InSession = s.LastJob, s.InSession
			s = back
		}
		s.Apply(e)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
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
		if a.Private && a.Outcome != OutcomeError {
			out = append(out, Secret{a.Character, a.Response + "\n" + a.Discarded})
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
