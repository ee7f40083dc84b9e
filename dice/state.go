package dice

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// state is what the lines so far say. Opening a log and verifying one walk
// through the same rules.
type state struct {
	head       string
	epoch      int
	open       bool // the epoch has not ended
	commit     string
	test       bool
	client     string
	seated     bool // the table's text was taken
	noOverride bool
	n          uint64
	ids        map[string]uint64
	turned     map[string]int64 // rotations that have ended their epoch, and where the next one begins; 0 for not yet
	turning    string           // the newest of them
	marks      map[uint64]mark
	want       map[string]uint64 // hashes that must still come, and the rolls before them
}

// mark is what later lines may need to know of a roll.
type mark struct {
	offset   int64
	void     bool
	hidden   bool
	revealed bool
}

func newState() *state {
	return &state{head: zeroHash, ids: map[string]uint64{}, turned: map[string]int64{},
		marks: map[uint64]mark{}, want: map[string]uint64{}}
}

// apply accepts the next line or says which rule it breaks.
func (s *state) apply(l Line, offset int64) error {
	if l.Prev != s.head {
		return fmt.Errorf("the chain is broken: prev is %s…, the line before has %s…", short(l.Prev), short(s.head))
	}
	if err := s.rule(l, offset); err != nil {
		return err
	}
	s.head = l.Hash
	delete(s.want, l.Hash)
	return nil
}

func (s *state) rule(l Line, offset int64) error {
	switch l.Event {
	case eventEpoch:
		if s.turning != "" {
			s.turned[s.turning], s.turning = offset, ""
		}
		return s.begin(l)
	case eventBreak:
		return s.breakOff(l)
	}
	if !s.open || l.Epoch != s.epoch {
		return fmt.Errorf("%s of epoch %d outside of it", l.Event, l.Epoch)
	}
	switch l.Event {
	case eventTable:
		if s.seated {
			return errors.New("a second table seed in one epoch")
		}
		s.seated, s.client = true, l.Client
	case EventRoll, EventVoid:
		return s.roll(l, offset)
	case EventReveal:
		m, ok := s.marks[l.Of]
		if !ok || m.void {
			return fmt.Errorf("reveal of roll %d, which does not exist", l.Of)
		}
		m.revealed = true
		s.marks[l.Of] = m
	case eventOverride:
		return s.override(l)
	case eventSetting:
		s.noOverride = l.NoOverride
	case eventSeed:
		s.open = false
		if l.ID != "" {
			s.turned[l.ID], s.turning = 0, l.ID
		}
		return checkSeed(l.Seed, s.commit)
	case eventLost:
		s.open = false
	default:
		return fmt.Errorf("unknown event %q", l.Event)
	}
	return nil
}

func (s *state) begin(l Line) error {
	switch {
	case s.open:
		return fmt.Errorf("epoch %d begins before epoch %d has ended", l.Epoch, s.epoch)
	case l.Epoch != s.epoch+1:
		return fmt.Errorf("epoch %d follows epoch %d", l.Epoch, s.epoch)
	case l.V != epochVersion:
		return fmt.Errorf("version %d of an epoch, this program reads version %d", l.V, epochVersion)
	}
	s.epoch, s.open, s.seated = l.Epoch, true, false
	s.commit, s.test, s.client, s.noOverride = l.Commit, l.Test, "", l.NoOverride
	return nil
}

func (s *state) roll(l Line, offset int64) error {
	switch {
	case !s.seated:
		return errors.New("a roll before the table seed")
	case l.N != s.n+1:
		return fmt.Errorf("roll %d follows roll %d", l.N, s.n)
	case l.ID != "" && s.ids[l.ID] != 0:
		return fmt.Errorf("request %q was rolled before as roll %d", l.ID, s.ids[l.ID])
	case l.Visibility != Open && l.Visibility != sealed && l.Visibility != Private:
		return fmt.Errorf("unknown visibility %q", l.Visibility)
	}
	if salt, err := hex.DecodeString(l.Salt); l.Event == EventRoll && needsSalt(l) && (err != nil || len(salt) != 16) {
		return errors.New("a hidden roll without its 16 random bytes")
	}
	s.n = l.N
	if l.ID != "" {
		s.ids[l.ID] = l.N
	}
	s.marks[l.N] = mark{offset: offset, void: l.Event == EventVoid, hidden: needsSalt(l)}
	return nil
}

func needsSalt(l Line) bool { return l.Visibility != Open || l.HideDC }

func (s *state) override(l Line) error {
	m, ok := s.marks[l.Of]
	switch {
	case !ok || m.void:
		return fmt.Errorf("override of roll %d, which does not exist", l.Of)
	case s.noOverride:
		return errors.New("an override although this table forbids them")
	case l.Total == nil:
		return errors.New("an override without a total")
	}
	return nil
}

func checkSeed(hexSeed, commit string) error {
	seed, err := parseSeed(hexSeed)
	if err != nil {
		return err
	}
	if seed.commitment() != commit {
		return errors.New("the seed shown is not the one committed to")
	}
	return nil
}

func parseSeed(s string) (Seed, error) {
	var seed Seed
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(seed) {
		return seed, errors.New("not a seed of 32 bytes in hex")
	}
	copy(seed[:], b)
	return seed, nil
}
