package flow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"conclave/agent"
	"conclave/engine"
	"conclave/profile"
	"conclave/seat"
)

// endedError says that a conversation ends before its end. It is recorded, so
// that every replay ends there too.
type endedError struct {
	Reason string `json:"reason"`
}

const codeEnded = "ended"

func (e *endedError) Error() string       { return e.Reason }
func (e *endedError) FailureCode() string { return codeEnded }

// questTurn is one turn of a conversation, as the engine takes it.
type questTurn struct {
	seat.EngineTurn
	h     *House
	face  profile.Face
	aloud bool // spoken to the person
}

// Take implements engine.AgentTurn. What the agent's side refuses today it may
// allow tomorrow, so such an error stops the interaction and leaves it open.
func (t *questTurn) Take(ctx context.Context) (agent.Reply, error) {
	if why := t.h.abandoned(); why != "" {
		return agent.Reply{}, &endedError{why}
	}
	open, err := t.Open(ctx)
	if err != nil {
		var ended *endedError
		if errors.As(err, &ended) {
			return agent.Reply{}, ended
		}
		return agent.Reply{}, engine.Halt(err)
	}
	if why := t.h.broke(); why != "" && !open.Free() {
		return agent.Reply{}, &endedError{why}
	}
	t.h.hush.begin()
	reply, err := t.EngineTurn.Take(ctx)
	t.h.said(t.words(), reply.Text)
	if err != nil {
		if why := t.h.broke(); why != "" { // the program knows less of it
			err = errors.New(why)
		}
		return agent.Reply{}, engine.Halt(fmt.Errorf("%s: %w", t.face.Name(), err))
	}
	if l := t.h.opts.Listener; l != nil && t.aloud {
		t.h.heardHere(t.Run)
		l.Said(t.face, reply.Text)
	}
	return reply, nil
}

// words are the person's in this turn, or an agent's who calls in their place.
func (t *questTurn) words() string {
	var out []string
	for _, p := range t.Turn.Parts {
		if p.Said() {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n\n")
}
