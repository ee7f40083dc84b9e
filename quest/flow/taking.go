package flow

import (
	"context"
	"errors"
	"fmt"
	"os"

	"conclave/agent"
	"conclave/engine"
	"conclave/profile"
	"conclave/record"
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

// taking is one turn at one seat, as the engine sees it. The seat is opened by
// the first turn that needs it: a replay that finds every reply opens nothing.
type taking struct {
	h    *House
	run  string
	turn seat.Turn
	plan func(context.Context) (seat.Plan, error)
	face profile.Face
	// aloud turns are spoken to the person; live ones are heard as they come.
	aloud, live bool
}

// Find implements engine.Seat.
func (t *taking) Find(_ context.Context, id string) (engine.Found, error) {
	if s := t.h.opened(t.run); s != nil {
		reply, ok := s.Finished(id)
		return engine.Found{Attempts: s.Attempts(id), Finished: ok, Reply: reply}, nil
	}
	path, err := record.Path(t.h.opts.Root, t.run)
	if err != nil {
		return engine.Found{}, err
	}
	rec, err := readRecord(path)
	if errors.Is(err, os.ErrNotExist) {
		return engine.Found{}, nil
	}
	if err != nil {
		return engine.Found{}, err
	}
	reply, ok := rec.replies[id]
	return engine.Found{Attempts: rec.attempts[id], Finished: ok, Reply: reply}, nil
}

// Take implements engine.Seat. What the agent's side refuses today it may
// allow tomorrow, so such an error stops the interaction and leaves it open.
func (t *taking) Take(ctx context.Context, _ string, _ int, _ agent.Message) (agent.Reply, error) {
	if why := t.h.abandoned(); why != "" {
		return agent.Reply{}, &endedError{why}
	}
	if why := t.h.overBudget(); why != "" {
		return agent.Reply{}, &endedError{why}
	}
	s, err := t.h.open(ctx, t)
	var ended *endedError
	if errors.As(err, &ended) {
		return agent.Reply{}, ended
	}
	if err != nil {
		return agent.Reply{}, engine.Halt(err)
	}
	t.h.hush(t.run, !t.aloud || !t.live)
	reply, err := s.Take(ctx, t.turn)
	if err != nil {
		err = fmt.Errorf("%s: %w", t.face.Name(), err)
		return agent.Reply{}, engine.Halt(errors.Join(err, t.h.leave(t.run)))
	}
	t.h.spend(reply.Usage)
	if l := t.h.opts.Listener; l != nil && t.aloud {
		l.Said(t.face, reply.Text)
	}
	return reply, nil
}

func (h *House) opened(run string) *seat.Seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seats[run]
}

// open returns the seat of a run, opening it if need be.
func (h *House) open(ctx context.Context, t *taking) (*seat.Seat, error) {
	if s := h.opened(t.run); s != nil {
		return s, nil
	}
	p, err := t.plan(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.opts.Dress(&p); err != nil {
		return nil, err
	}
	if l := h.opts.Listener; l != nil {
		p.Watch = func(e agent.Event) {
			if !h.hushed(t.run) {
				l.Hear(t.face, e)
			}
		}
	}
	// One door at a time: a room that opens looks after dead ones, and takes
	// the lock of one that is just being made for theirs.
	h.door.Lock()
	defer h.door.Unlock()
	s, err := seat.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seats[t.run] = s
	return s, nil
}

// leave ends a seat of this process without ending its run.
func (h *House) leave(run string) error {
	h.mu.Lock()
	s := h.seats[run]
	delete(h.seats, run)
	h.mu.Unlock()
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	return s.Leave(ctx)
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
