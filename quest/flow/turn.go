package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"

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
	h    *House
	face profile.Face
	// aloud turns are spoken to the person; live ones are heard as they come.
	aloud, live bool
}

// Take implements engine.AgentTurn. What the agent's side refuses today it may
// allow tomorrow, so such an error stops the interaction and leaves it open.
func (t *questTurn) Take(ctx context.Context) (agent.Reply, error) {
	if why := cmp.Or(t.h.abandoned(), t.h.overBudget()); why != "" {
		return agent.Reply{}, &endedError{why}
	}
	if _, err := t.Open(ctx); err != nil {
		var ended *endedError
		if errors.As(err, &ended) {
			return agent.Reply{}, ended
		}
		return agent.Reply{}, engine.Halt(err)
	}
	t.h.hush(t.Run, !t.aloud || !t.live)
	reply, err := t.EngineTurn.Take(ctx)
	if err != nil {
		return agent.Reply{}, engine.Halt(fmt.Errorf("%s: %w", t.face.Name(), err))
	}
	t.h.spend(reply.Usage)
	if l := t.h.opts.Listener; l != nil && t.aloud {
		l.Said(t.face, reply.Text)
	}
	return reply, nil
}

// dressed completes the plan of a seat with whoever plays it and who listens.
func (h *House) dressed(p seat.Plan, face profile.Face) (seat.Plan, error) {
	if err := h.opts.Dress(&p); err != nil {
		return p, err
	}
	if l := h.opts.Listener; l != nil {
		p.Watch = func(e agent.Event) {
			if !h.hushed(p.Run) {
				l.Hear(face, e)
			}
		}
	}
	return p, nil
}

// hush says whether what a run's agent does now is for the person's ears.
func (h *House) hush(run string, on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quiet[run] = on
}

func (h *House) hushed(run string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.quiet[run]
}
