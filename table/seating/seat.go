package seating

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
	"conclave/toolbox"
)

// Seat is a seat at the table, whose turns the engine takes.
type Seat struct {
	seat.EngineTurn // the one that is taken
	seats           *Seats
	role            policy.Role
	who             string // the character
	timeout         time.Duration
	// furnish completes the plan when the seat must be opened.
	furnish func(p *seat.Plan) error
	actor   func() (Actor, error)
	// about is what the next message is made of, for the audit.
	about []table.Source

	Private bool // nobody else learns of it
	Tools   []toolbox.Tool
	System  string // what the agent is told before anything else
	Said    string // what a person has said already, and is not asked for
	// Before is called when a turn really begins.
	Before func(turn string)
}

// Ask takes a turn, once: what is on the record is not asked for again.
func (s *Seat) Ask(ctx context.Context, id, text string) (engine.TurnResult, error) {
	s.Turn = seat.Turn{ID: id, Parts: []audit.Part{{Origin: audit.FromEngine, Text: text}}}
	return engine.TakeTurn(ctx, s)
}

// plan plans the seat for whoever plays it now.
func (s *Seat) plan(context.Context) (seat.Plan, error) {
	actor, err := s.actor()
	if err != nil {
		return seat.Plan{}, err
	}
	p := seat.Plan{
		Role: string(s.role), PromptName: s.promptName(), Program: s.seats.Program,
		Attributes: map[string]string{"campaign": s.seats.Campaign, "character": s.who},
		Agent:      actor.Agent, InProcess: actor.InProcess, Account: s.seats.Account,
		Room: room.Plan{
			Level: room.Level(policy.Required(s.role)), Fallback: room.Level(policy.Fallback(s.role)),
			Base: s.seats.RoomBase, Outside: []string{s.seats.Workspace},
		},
	}
	if actor.Person {
		p.Agent, p.InProcess = s.seats.People.Person(people.Sitter{Seat: s.Name(), Run: s.Run, Private: s.Private,
			Said: s.Said, Voice: s.voice}), true
	}
	if actor.Dress != nil {
		actor.Dress(&p)
	}
	p.System, p.Tools = s.System, s.Tools
	err = s.furnish(&p)
	return p, err
}

func (s *Seat) promptName() string {
	if s.who == "" {
		return "table." + string(s.role)
	}
	return "table." + string(s.role) + "." + s.who
}

// Name is how people call the seat.
func (s *Seat) Name() string {
	if s.who == "" {
		return string(s.role)
	}
	return s.who
}

// Take implements engine.AgentTurn.
func (s *Seat) Take(ctx context.Context) (agent.Reply, error) {
	open, err := s.Open(ctx)
	if err != nil {
		return agent.Reply{}, engine.Halt(fmt.Errorf("seat %s: %w", s.Name(), err))
	}
	patient := people.Is(open.Agent())
	if err := s.seats.Afford(); err != nil && !patient && !open.Free() {
		return agent.Reply{}, err
	}
	if s.Before != nil {
		s.Before(s.ID())
	}
	if err := s.Note(open, s.ID()); err != nil {
		return agent.Reply{}, engine.Halt(err)
	}
	turn, cancel := ctx, context.CancelFunc(func() {})
	if !patient && s.timeout > 0 {
		turn, cancel = context.WithTimeoutCause(ctx, s.timeout, errTimeout)
	}
	defer cancel()
	s.seats.crash("asking " + s.Run)
	if !patient && s.role == policy.GM && s.seats.Thinks != nil {
		defer s.seats.Thinks()()
	}
	reply, err := s.EngineTurn.Take(turn)
	if err == nil {
		s.seats.crash("answered " + s.Run)
		return reply, nil
	}
	if broke := s.seats.Afford(); broke != nil && ctx.Err() == nil { // the program knows less of it
		return agent.Reply{}, broke
	}
	switch {
	case errors.As(err, new(*people.AwayError)):
		return agent.Reply{}, engine.Halt(err)
	case errors.Is(context.Cause(turn), errTimeout):
		return agent.Reply{}, &TurnError{Reason: table.ReasonTimeout, Text: fmt.Sprintf("no answer within %s", s.timeout)}
	case ctx.Err() != nil:
		return agent.Reply{}, err
	case errors.Is(err, room.ErrLevel) || errors.Is(err, room.ErrRefused):
		return agent.Reply{}, engine.Halt(err)
	}
	return agent.Reply{}, &TurnError{Reason: table.ReasonCrashed, Text: err.Error(),
		Unanswered: errors.As(err, new(*seat.UnansweredError))}
}

// Note puts on the record what feeds a turn.
func (s *Seat) Note(open *seat.Seat, turn string) error {
	return calls.Sources{Turn: turn, Role: string(s.role), Character: s.who, Sources: s.about}.Note(open)
}

var errTimeout = errors.New("the time is up")

// TurnError is how a turn failed; it keeps its reason on the engine's record.
type TurnError struct {
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Unanswered: the model gave no answer, however often its agent asked.
	Unanswered bool `json:"unanswered,omitempty"`
}

func (e *TurnError) Error() string {
	if e.Unanswered {
		return "the model gave no answer: " + e.Text
	}
	return e.Reason + ": " + e.Text
}

// FailureCode tells the engine the reason.
func (e *TurnError) FailureCode() string { return e.Reason }

// Again says whether a table may ask a seat again whose turn failed. It may where
// a program died, took too long or gave an answer that cannot stand. Where the
// model gave none, its agent has asked again already: the table says so and waits
// for somebody to mend it.
func Again(err error) bool {
	var failed *TurnError
	return !errors.As(err, &failed) || !failed.Unanswered
}
