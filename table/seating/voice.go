package seating

import (
	"context"
	"fmt"
	"strings"

	"conclave/audit"
	"conclave/policy"
	"conclave/seat"
	"conclave/table"
	"conclave/table/calls"
	"conclave/table/people"
	"conclave/table/relay"
)

// voice is who finds words for a person in a player's seat (table/relay): an agent
// in a seat beside theirs, with the same view and without tools, on a record of its
// own. It implements people.Voice.
type voice struct {
	*Seat
	intro   string // what an agent in the person's place would be told
	turns   int
	missing error // why there is nobody
}

// voice is who finds words for the person of a seat, who is asked something; nil
// for nobody.
func (s *Seat) voice(asked string) people.Voice {
	if s.seats.Voice == nil || s.role != policy.Player {
		return nil
	}
	actor, missing := s.seats.Voice(s.who)
	if actor == nil && missing == nil {
		return nil
	}
	beside := calls.Run(s.seats.Campaign, strings.TrimPrefix(s.Run, calls.Run(s.seats.Campaign, "")), "voice")
	x := s.seats.seat(beside, s.role, s.who, s.about, func() (Actor, error) { return *actor, nil })
	x.Private, x.timeout, x.furnish, x.System = s.Private, s.timeout, s.furnish, s.System+relay.Instructions
	return &voice{Seat: x, intro: asked, missing: missing}
}

// FreeVoice is who finds words for what a character's person says of their own
// accord; nil for nobody. intro is what an agent in their place would be told.
func (s *Seats) FreeVoice(run, who, intro string, view table.SeatContext) people.Voice {
	return s.Player(run, who, view).voice(intro)
}

// Find implements people.Voice.
func (v *voice) Find(ctx context.Context, asked, typed string) (string, error) {
	if v.missing != nil {
		return "", v.missing
	}
	defer v.seats.Finds(v.who)()
	open, err := v.Open(ctx)
	if err != nil {
		return "", err
	}
	if err := v.seats.Afford(); err != nil && !open.Free() {
		return "", err
	}
	if v.turns == 0 {
		v.turns = len(open.History().Receipts()) // what a process that died had asked
	}
	v.turns++
	turn := seat.Turn{ID: fmt.Sprintf("t%d", v.turns)}
	for _, p := range []audit.Part{
		{Origin: audit.FromEngine, Text: v.intro}, {Origin: audit.FromEngine, Text: asked},
		{Origin: audit.FromPerson, Text: typed},
	} {
		if p.Text != "" {
			turn.Parts = append(turn.Parts, p)
		}
	}
	v.intro = ""
	if err := v.Note(open, turn.ID); err != nil {
		return "", err
	}
	timed, cancel := context.WithTimeoutCause(ctx, v.timeout, errTimeout)
	defer cancel()
	reply, err := open.Take(timed, turn)
	if err != nil && ctx.Err() == nil && timed.Err() != nil {
		err = fmt.Errorf("no answer within %s", v.timeout)
	}
	return reply.Text, err
}

// Close implements people.Voice.
func (v *voice) Close() error { return v.seats.Close(v.Run) }
