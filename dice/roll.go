package dice

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Request asks for a roll.
type Request struct {
	// ID makes a roll happen once: a request whose ID is in the log gets the
	// roll that is there. Empty = always a new roll.
	ID string
	// Fallen: it has fallen before, and was told. Is it not in the log, then its
	// line was lost: no other is made, and a void one says so.
	Fallen       bool
	Cycle        string
	Who          string
	Purpose      string
	Visibility   Visibility // empty = Open
	Expr         string
	DC           *int64 // compared with the first result
	HideDC       bool   // players see the total, not the target
	Advantage    bool   // as adv after the leading 1d20; both = a normal roll
	Disadvantage bool
}

// VoidError says that roll N could not be finished. Its number is spent.
type VoidError struct {
	N   uint64
	Err error
}

func (e *VoidError) Error() string { return fmt.Sprintf("roll %d is void: %v", e.N, e.Err) }

func (e *VoidError) Unwrap() error { return e.Err }

// ErrLost says that a roll had fallen, and that the log has it no more.
var ErrLost = errors.New("it had fallen, and its line was lost before the log was sealed: it is not made again")

// Roll makes a roll. When it returns, the line is on the disk.
func (l *Log) Roll(req Request) (Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := l.st.ids[req.ID]; ok && req.ID != "" {
		return l.again(n)
	}
	line, roll, err := newLine(req)
	if err != nil {
		return Line{}, err
	}
	if err := l.ready(); err != nil {
		return Line{}, err
	}
	line.Epoch, line.N = l.st.epoch, l.st.n+1
	fault := ErrLost
	if !req.Fallen {
		fault = fill(&line, roll, newStream(l.seed, l.st.client, line.N))
	}
	if fault != nil {
		line.Event, line.Note, line.Results, line.Check = EventVoid, fault.Error(), nil, nil
	}
	if err := l.append(&line); err != nil {
		return Line{}, err
	}
	if fault != nil {
		return Line{}, &VoidError{line.N, fault}
	}
	return line, nil
}

// ready makes sure that an epoch is open and the question of the table seed settled.
func (l *Log) ready() error {
	if !l.st.open {
		if err := l.begin(""); err != nil {
			return err
		}
	}
	if !l.st.seated {
		return l.table("")
	}
	return nil
}

// newLine checks a request before any number is spent on it.
func newLine(req Request) (Line, Roll, error) {
	roll, err := Parse(req.Expr)
	if err != nil {
		return Line{}, Roll{}, err
	}
	if req.Visibility == "" {
		req.Visibility = Open
	}
	if req.Advantage || req.Disadvantage {
		if req.Expr, err = roll.withAdvantage(req.Advantage, req.Disadvantage); err != nil {
			return Line{}, Roll{}, err
		}
		if roll, err = parse(req.Expr); err != nil {
			return Line{}, Roll{}, err
		}
	}
	if _, has := roll.Exprs[0].Compare(); has && req.DC != nil {
		return Line{}, Roll{}, errors.New("two targets: one in the expression and one as DC; leave one out")
	}
	line := Line{
		Event: EventRoll, ID: req.ID, Cycle: req.Cycle, Who: req.Who, Purpose: req.Purpose,
		Visibility: req.Visibility, Input: req.Expr, Canonical: roll.String(), DC: req.DC, HideDC: req.HideDC && req.DC != nil,
	}
	switch req.Visibility {
	case Open, sealed, Private:
	default:
		return Line{}, Roll{}, fmt.Errorf("unknown visibility %q; open, sealed or private", req.Visibility)
	}
	if needsSalt(line) {
		salt := make([]byte, 16)
		rand.Read(salt)
		line.Salt = hex.EncodeToString(salt)
	}
	return line, roll, nil
}

// fill computes the results of a line from a source.
func fill(line *Line, roll Roll, src source) error {
	results, err := roll.Eval(src)
	if err != nil {
		return err
	}
	line.Results = results
	if line.DC != nil {
		line.Check, err = judge(Compare{Op: ">=", Target: *line.DC, VS: true}, results[0].Total)
	}
	return err
}

// withAdvantage spells a roll with adv or dis after its leading 1d20.
func (r Roll) withAdvantage(adv, dis bool) (string, error) {
	rest := strings.TrimPrefix(r.String(), "1d20")
	if rest == r.String() || (rest != "" && digit(rest[0])) {
		return "", errors.New("advantage needs a leading 1d20")
	}
	word := "1d20"
	if adv {
		word += " adv"
	}
	if dis {
		word += " dis"
	}
	return word + rest, nil
}

// again returns the roll that a request already had.
func (l *Log) again(n uint64) (Line, error) {
	line, err := l.read(n)
	if err == nil && line.Event == EventVoid {
		return Line{}, &VoidError{n, errors.New(line.Note)}
	}
	return line, err
}

func (l *Log) read(n uint64) (Line, error) {
	m, ok := l.st.marks[n]
	if !ok && 0 < n && n <= l.st.n {
		return Line{}, fmt.Errorf("roll %d: %w", n, ErrLost)
	}
	if !ok {
		return Line{}, fmt.Errorf("roll %d does not exist; the last one is %d", n, l.st.n)
	}
	raw, err := readLine(io.NewSectionReader(l.f, m.offset, l.size-m.offset))
	if err != nil {
		return Line{}, err
	}
	return decode(raw)
}

// Find returns roll n.
func (l *Log) Find(n uint64) (Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read(n)
}

// Reveal opens a sealed or private roll, or a hidden target, to everyone.
func (l *Log) Reveal(n uint64) (Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, err := l.again(n)
	if err != nil {
		return Line{}, err
	}
	if m := l.st.marks[n]; m.revealed || !m.hidden {
		return line, nil
	}
	if err := l.ready(); err != nil {
		return Line{}, err
	}
	return line, l.append(&Line{Event: EventReveal, Epoch: l.st.epoch, Of: n})
}

// Override records that the GM lets another total stand for roll n. The roll
// itself stays as it fell.
func (l *Log) Override(n uint64, total int64, who, reason string) (Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.again(n); err != nil {
		return Line{}, err
	}
	if l.st.noOverride {
		return Line{}, errors.New("this table plays without overrides: the dice stand")
	}
	if err := l.ready(); err != nil {
		return Line{}, err
	}
	line := Line{Event: eventOverride, Epoch: l.st.epoch, Of: n, Total: &total, Who: who, Note: reason}
	return line, l.append(&line)
}

// Forbid says whether the GM may let another total stand, from here on. The
// setting is in the log, for everybody to see, and outlasts the epoch.
func (l *Log) Forbid(overrides bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.st.noOverride == overrides {
		return nil
	}
	if err := l.ready(); err != nil {
		return err
	}
	return l.append(&Line{Event: eventSetting, Epoch: l.st.epoch, NoOverride: overrides})
}
