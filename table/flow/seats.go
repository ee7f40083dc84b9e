package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"conclave/agent"
	"conclave/audit"
	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/policy"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
	"conclave/table"
)

// EventSources is the event of a record that lists what fed a call.
const EventSources = "table.sources"

// Sources are all the things that fed one call.
type Sources struct {
	Turn      string         `json:"turn"`
	Role      string         `json:"role"`
	Character string         `json:"character,omitempty"`
	Sources   []table.Source `json:"sources"`
}

// sitting is a seat as the engine knows it: it is opened by its first turn, and
// its record says what was said before.
type sitting struct {
	t       *Table
	run     string
	role    policy.Role
	who     string // the character
	private bool   // nobody else learns of it
	timeout time.Duration
	// furnish completes the plan when the seat must be opened.
	furnish func(p *seat.Plan) error
	actor   func() (Actor, error)
	// about is what the next message is made of, for the audit.
	about []table.Source
	// before is called when a turn really begins.
	before func(turn string)
}

func (s *sitting) open(ctx context.Context) (*seat.Seat, error) {
	s.t.mu.Lock()
	open := s.t.seats[s.run]
	s.t.mu.Unlock()
	if open != nil {
		return open, nil
	}
	actor, err := s.actor()
	if err != nil {
		return nil, engine.Halt(err)
	}
	p := seat.Plan{
		Workspace: s.t.opts.Workspace, Run: s.run, Role: string(s.role), PromptName: s.promptName(), Program: s.t.opts.Program,
		Attributes: map[string]string{"campaign": s.t.opts.Campaign, "character": s.who},
		Agent:      actor.Agent, InProcess: actor.InProcess,
		Room: room.Plan{Level: room.Level(policy.Required(s.role)), Fallback: room.Level(policy.Fallback(s.role)), Base: s.t.opts.RoomBase, Outside: []string{s.t.opts.Workspace}},
	}
	if actor.Person {
		p.Agent, p.InProcess = &person{t: s.t, who: s.seatName(), run: s.run, private: s.private}, true
		s.timeout = 0
	}
	if actor.Dress != nil {
		actor.Dress(&p)
	}
	if err := s.furnish(&p); err != nil {
		return nil, err
	}
	opened, err := openSeat(ctx, p)
	if err != nil {
		return nil, engine.Halt(fmt.Errorf("seat %s: %w", s.seatName(), err))
	}
	s.t.mu.Lock()
	s.t.seats[s.run] = opened
	s.t.mu.Unlock()
	return opened, nil
}

// openSeat opens a seat. A room that is being made can look like a left-over to
// another process that sweeps at this very moment: that is worth another try.
func openSeat(ctx context.Context, p seat.Plan) (*seat.Seat, error) {
	for try := 1; ; try++ {
		opened, err := seat.Open(ctx, p)
		var held *lockfile.HeldError
		if !errors.As(err, &held) || try == 5 {
			return opened, err
		}
	}
}

func (s *sitting) promptName() string {
	if s.who == "" {
		return "table." + string(s.role)
	}
	return "table." + string(s.role) + "." + s.who
}

// seatName is how people call the seat.
func (s *sitting) seatName() string {
	if s.who == "" {
		return string(s.role)
	}
	return s.who
}

// Find implements engine.Seat.
func (s *sitting) Find(ctx context.Context, id string) (engine.Found, error) {
	open, err := s.open(ctx)
	if err != nil {
		return engine.Found{}, err
	}
	reply, ok := open.Finished(id)
	return engine.Found{Attempts: open.Attempts(id), Finished: ok, Reply: reply}, nil
}

// Take implements engine.Seat.
func (s *sitting) Take(ctx context.Context, id string, _ int, m agent.Message) (agent.Reply, error) {
	open, err := s.open(ctx)
	if err != nil {
		return agent.Reply{}, err
	}
	if s.before != nil {
		s.before(id)
	}
	if err := open.Note(EventSources, "what this call is made of", Sources{Turn: id, Role: string(s.role), Character: s.who, Sources: s.about}); err != nil {
		return agent.Reply{}, engine.Halt(err)
	}
	turn, cancel := ctx, context.CancelFunc(func() {})
	if s.timeout > 0 {
		turn, cancel = context.WithTimeoutCause(ctx, s.timeout, errTimeout)
	}
	defer cancel()
	s.t.crash("asking " + s.run)
	reply, err := open.Take(turn, seat.Turn{ID: id, Parts: []audit.Part{{Origin: audit.FromEngine, Text: m.Text}}})
	if err == nil {
		s.t.crash("answered " + s.run)
		return reply, nil
	}
	// The session is of no use any more: the next attempt gets another one.
	err = errors.Join(err, s.t.leave(s.run))
	switch {
	case errors.Is(err, errAway):
		return agent.Reply{}, engine.Halt(err)
	case errors.Is(context.Cause(turn), errTimeout):
		return agent.Reply{}, &turnError{Reason: table.ReasonTimeout, Text: fmt.Sprintf("no answer within %s", s.timeout)}
	case ctx.Err() != nil:
		return agent.Reply{}, err
	case errors.Is(err, room.ErrLevel) || errors.Is(err, room.ErrRefused):
		return agent.Reply{}, engine.Halt(err)
	}
	return agent.Reply{}, &turnError{Reason: table.ReasonCrashed, Text: err.Error()}
}

var errTimeout = errors.New("the time is up")

// turnError is how a turn failed; it keeps its reason on the engine's record.
type turnError struct {
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

func (e *turnError) Error() string       { return e.Reason + ": " + e.Text }
func (e *turnError) FailureCode() string { return e.Reason }

// leave ends a seat without ending its run.
func (t *Table) leave(run string) error {
	t.mu.Lock()
	open := t.seats[run]
	delete(t.seats, run)
	t.mu.Unlock()
	if open == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return open.Leave(ctx)
}

func (t *Table) leaveSeats() error {
	t.mu.Lock()
	var runs []string
	for run := range t.seats {
		runs = append(runs, run)
	}
	t.mu.Unlock()
	var errs []error
	for _, run := range runs {
		errs = append(errs, t.leave(run))
	}
	return errors.Join(errs...)
}

// closeSeat seals the record of a run that is over. A run that nobody opened in
// this process was closed before, or never began.
func (t *Table) closeSeat(ctx context.Context, run string) error {
	t.mu.Lock()
	open := t.seats[run]
	delete(t.seats, run)
	t.mu.Unlock()
	if open == nil {
		return t.sealRecord(run)
	}
	_, err := open.Close(ctx, "done")
	t.crash("sealed " + run)
	return err
}

// sealRecord ends a record that a process which died had left open.
func (t *Table) sealRecord(run string) error {
	path, err := record.Path(t.opts.Workspace, run)
	if err != nil {
		return err
	}
	w, _, err := record.Resume(path)
	if errors.Is(err, record.ErrSealed) {
		return nil
	}
	if err != nil {
		return nil // it never began
	}
	_, err = w.Seal("done")
	return errors.Join(err, w.Close())
}
