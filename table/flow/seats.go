package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"conclave/agent"
	"conclave/audit"
	"conclave/engine"
	"conclave/policy"
	"conclave/room"
	"conclave/seat"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/people"
)

// tableSeat is a seat at the table, whose turns the engine takes.
type tableSeat struct {
	seat.EngineTurn // the one that is taken
	t               *Table
	run             string
	role            policy.Role
	who             string // the character
	private         bool   // nobody else learns of it
	timeout         time.Duration
	// furnish completes the plan when the seat must be opened.
	furnish func(p *seat.Plan) error
	actor   func() (Actor, error)
	// about is what the next message is made of, for the audit.
	about []table.Source
	// before is called when a turn really begins.
	before func(turn string)
}

// take takes a turn, once: what is on the record is not asked for again.
func (s *tableSeat) take(ctx context.Context, id, text string) (engine.TurnResult, error) {
	s.EngineTurn = seat.EngineTurn{
		Set: s.t.seats, Run: s.run, Plan: s.plan,
		Turn: seat.Turn{ID: id, Parts: []audit.Part{{Origin: audit.FromEngine, Text: text}}},
	}
	return engine.TakeTurn(ctx, s)
}

// plan plans the seat for whoever plays it now.
func (s *tableSeat) plan(context.Context) (seat.Plan, error) {
	actor, err := s.actor()
	if err != nil {
		return seat.Plan{}, err
	}
	p := seat.Plan{
		Role: string(s.role), PromptName: s.promptName(), Program: s.t.opts.Program,
		Attributes: map[string]string{"campaign": s.t.opts.Campaign, "character": s.who},
		Agent:      actor.Agent, InProcess: actor.InProcess, Account: s.t.opts.Account,
		Room: room.Plan{
			Level: room.Level(policy.Required(s.role)), Fallback: room.Level(policy.Fallback(s.role)),
			Base: s.t.opts.RoomBase, Outside: []string{s.t.opts.Workspace},
		},
	}
	if actor.Person {
		p.Agent, p.InProcess = s.t.people.Person(s.seatName(), s.run, s.private), true
	}
	if actor.Dress != nil {
		actor.Dress(&p)
	}
	err = s.furnish(&p)
	return p, err
}

func (s *tableSeat) promptName() string {
	if s.who == "" {
		return "table." + string(s.role)
	}
	return "table." + string(s.role) + "." + s.who
}

// seatName is how people call the seat.
func (s *tableSeat) seatName() string {
	if s.who == "" {
		return string(s.role)
	}
	return s.who
}

// Take implements engine.AgentTurn.
func (s *tableSeat) Take(ctx context.Context) (agent.Reply, error) {
	open, err := s.Open(ctx)
	if err != nil {
		return agent.Reply{}, engine.Halt(fmt.Errorf("seat %s: %w", s.seatName(), err))
	}
	patient := people.Is(open.Agent())
	if err := s.t.afford(); err != nil && !patient && !open.Free() {
		return agent.Reply{}, err
	}
	if s.before != nil {
		s.before(s.ID())
	}
	sources := calls.Sources{Turn: s.ID(), Role: string(s.role), Character: s.who, Sources: s.about}
	if err := sources.Note(open); err != nil {
		return agent.Reply{}, engine.Halt(err)
	}
	turn, cancel := ctx, context.CancelFunc(func() {})
	if !patient && s.timeout > 0 {
		turn, cancel = context.WithTimeoutCause(ctx, s.timeout, errTimeout)
	}
	defer cancel()
	s.t.crash("asking " + s.run)
	if !patient && s.role == policy.GM {
		defer s.t.slowly(Notice{Kind: "slow", Text: "The game master thinks."})()
	}
	reply, err := s.EngineTurn.Take(turn)
	if err == nil {
		s.t.crash("answered " + s.run)
		return reply, nil
	}
	if broke := s.t.afford(); broke != nil && ctx.Err() == nil { // the program knows less of it
		return agent.Reply{}, broke
	}
	switch {
	case errors.As(err, new(*people.AwayError)):
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

// afford halts what would spend more than may be spent: it goes on once the
// budget is raised.
func (t *Table) afford() error {
	if t.opts.Account == nil {
		return nil
	}
	return engine.Halt(t.opts.Account.Afford())
}

var errTimeout = errors.New("the time is up")

// turnError is how a turn failed; it keeps its reason on the engine's record.
type turnError struct {
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

func (e *turnError) Error() string       { return e.Reason + ": " + e.Text }
func (e *turnError) FailureCode() string { return e.Reason }

// closeSeat seals the record of a run that is over, also one that a process
// which died had left open.
func (t *Table) closeSeat(run string) error {
	err := t.seats.Seal(run, "done", nil)
	t.crash("sealed " + run)
	return err
}
