package seat

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"conclave/agent"
	"conclave/engine"
	"conclave/record"
)

// leaveTimeout bounds how long an agent may take to go.
const leaveTimeout = 10 * time.Second

// Set holds the open seats of a workspace's flows, each by its run, and knows
// the records of those that are not open. It is safe for concurrent use, one
// run being one caller's at a time.
type Set struct {
	workspace string

	mu   sync.Mutex
	open map[string]*Seat
}

// NewSet returns a set without seats.
func NewSet(workspace string) *Set { return &Set{workspace: workspace, open: map[string]*Seat{}} }

// Open returns the seat of a run. When it is not open yet, plan says how to
// open it; the workspace and the run are filled in.
func (s *Set) Open(ctx context.Context, run string, plan func(context.Context) (Plan, error)) (*Seat, error) {
	if open := s.opened(run); open != nil {
		return open, nil
	}
	p, err := plan(ctx)
	if err != nil {
		return nil, err
	}
	p.Workspace, p.Run = s.workspace, run
	open, err := Open(ctx, p)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[run] = open
	return open, nil
}

func (s *Set) opened(run string) *Seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[run]
}

// Runs are those whose seats are open.
func (s *Set) Runs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open))
}

// remove takes a seat out of the set; nil when it is not open.
func (s *Set) remove(run string) *Seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.open[run]
	delete(s.open, run)
	return open
}

// History is that of a run: of its open seat, or from its record.
func (s *Set) History(run string) (*History, error) {
	if open := s.opened(run); open != nil {
		return open.history, nil
	}
	path, err := record.Path(s.workspace, run)
	if err != nil {
		return nil, err
	}
	return ReadHistory(path, nil)
}

// Begun reports whether a run came as far as a record.
func (s *Set) Begun(run string) bool {
	if s.opened(run) != nil {
		return true
	}
	path, err := record.Path(s.workspace, run)
	if err != nil {
		return false
	}
	r, err := record.Open(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer r.Close()
	// What is wrong with a record is found when it is read.
	return r.Next() || r.Err() != nil
}

// Leave closes the seat of a run without ending the run.
func (s *Set) Leave(run string) error {
	open := s.remove(run)
	if open == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	return open.Leave(ctx)
}

// LeaveAll leaves every seat that is open.
func (s *Set) LeaveAll() error {
	var errs []error
	for _, run := range s.Runs() {
		errs = append(errs, s.Leave(run))
	}
	return errors.Join(errs...)
}

// Seal ends a run and seals its record, after what last puts there, if
// anything. The seat need not be open: sealing furnishes no room. A run that
// is over stays as it is, and one that never began leaves no trace.
func (s *Set) Seal(run, reason string, last func(*Seat) error) error {
	seat := s.remove(run)
	if seat == nil {
		var err error
		seat, err = reopen(s.workspace, run)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if last != nil && !seat.history.Sealed() {
		if err := last(seat); err != nil {
			return errors.Join(err, seat.Leave(ctx))
		}
	}
	_, err := seat.Close(ctx, reason)
	return err
}

// EngineTurn is one turn at a seat of a set, as the engine takes it. The seat
// is opened by the first turn that needs it: a replay that finds every reply
// opens nothing.
type EngineTurn struct {
	Set  *Set
	Run  string
	Plan func(context.Context) (Plan, error) // see Set.Open
	Turn Turn
}

// ID implements engine.AgentTurn.
func (t *EngineTurn) ID() string { return t.Turn.ID }

// Find implements engine.AgentTurn.
func (t *EngineTurn) Find(context.Context) (engine.Found, error) {
	h, err := t.Set.History(t.Run)
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Found{}, nil
	}
	if err != nil {
		return engine.Found{}, err
	}
	past := h.Turn(t.Turn.ID)
	return engine.Found{Attempts: past.Attempts, Finished: past.Finished, Reply: past.Reply}, nil
}

// Open opens the seat, if it is not open.
func (t *EngineTurn) Open(ctx context.Context) (*Seat, error) { return t.Set.Open(ctx, t.Run, t.Plan) }

// Take implements engine.AgentTurn. The session of a turn that failed is of no
// use any more: its seat is left, and the next attempt gets another one.
func (t *EngineTurn) Take(ctx context.Context) (agent.Reply, error) {
	open, err := t.Open(ctx)
	if err != nil {
		return agent.Reply{}, err
	}
	reply, err := open.Take(ctx, t.Turn)
	if err != nil {
		return agent.Reply{}, errors.Join(err, t.Set.Leave(t.Run))
	}
	return reply, nil
}
