package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"conclave/internal/newer"
)

// Start runs a new interaction of the newest version of a flow to its end and
// returns its result. The id must never have been used in this scope. When ctx
// ends, or a step halts, the interaction is cut: the error is a *CutError and
// the interaction stays open for Resume.
func (e *Engine) Start(ctx context.Context, flow, id string, input any) (json.RawMessage, error) {
	l, err := e.begin(ctx, flow, id, "", input)
	if err != nil {
		return nil, err
	}
	return e.wait(ctx, l)
}

// begin starts an interaction and lets it run. One that exists already is
// taken up when it is a child of the same parent, and refused otherwise.
func (e *Engine) begin(ctx context.Context, flow, id, parent string, input any) (*live, error) {
	f, ok := e.newest[flow]
	if !ok {
		return nil, fmt.Errorf("start %s: flow %q: %w", id, flow, ErrNoFlow)
	}
	if id == "" {
		return nil, fmt.Errorf("start %s: no id given", flow)
	}
	data, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("start %s: encode input: %w", id, err)
	}
	s, err := e.current()
	if err != nil {
		return nil, err
	}
	if row, err := s.row(ctx, id); err == nil {
		if parent == "" || row.Parent != parent {
			return nil, fmt.Errorf("start %s: %w (%s, %s)", id, ErrUsed, row.Flow, row.Started.Format(time.RFC3339))
		}
		return e.takeUp(ctx, s, row)
	} else if !errors.Is(err, ErrUnknown) {
		return nil, err
	}
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("launch engine: %w", err)
	}
	l := newLive(id, f.registered(), parent)
	if err := e.enlist(s, l); err != nil {
		return nil, err
	}
	inst := s.flows[l.flow]
	h, err := dbos.RunWorkflow(s.ctx, inst.run, json.RawMessage(data), dbos.WithRunInstance(inst),
		dbos.WithWorkflowID(id), dbos.WithWorkflowAttributes(map[string]any{"parent": parent}))
	if err != nil {
		e.forget(l)
		return nil, fmt.Errorf("start %s: %w", id, err)
	}
	e.following.Go(func() { e.follow(l, h) })
	return l, nil
}

// Resume continues an interaction that was cut, and what it had spawned, and
// returns its result. It runs nothing else. For one that has ended it returns
// the recorded result, for one that runs in this process it waits.
func (e *Engine) Resume(ctx context.Context, id string) (json.RawMessage, error) {
	s, err := e.current()
	if err != nil {
		return nil, err
	}
	if l := e.find(id); l != nil {
		if !l.parked() {
			return e.wait(ctx, l)
		}
		if s, err = e.renew(ctx, s); err != nil {
			return nil, err
		}
	}
	row, err := s.row(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("resume %s: %w", id, err)
	}
	l, err := e.takeUp(ctx, s, row)
	if err != nil {
		return nil, err
	}
	return e.wait(ctx, l)
}

// takeUp lets an interaction of the database run on, with its open children.
func (e *Engine) takeUp(ctx context.Context, s *session, row row) (*live, error) {
	if l := e.find(row.ID); l != nil {
		return l, nil
	}
	if row.ended() {
		return e.ended(s, row)
	}
	rows, err := s.openTree(ctx, row)
	if err != nil {
		return nil, err
	}
	ids, taken, err := e.enlistTree(s, rows)
	if err == nil {
		if _, err = dbos.ResumeWorkflows[outcome](s.ctx, ids, dbos.WithResumeQueue(s.queue)); err == nil {
			err = s.start()
		}
	}
	if err != nil {
		for _, l := range taken {
			e.forget(l)
		}
		return nil, fmt.Errorf("resume %s: %w", row.ID, err)
	}
	for _, l := range taken {
		e.following.Go(func() { e.followResumed(s, l) })
	}
	return taken[0], nil
}

// enlistTree notes that a tree was asked for, its top first. Branches are
// resumed with it and wait for their parents to offer them.
func (e *Engine) enlistTree(s *session, rows []row) (ids []string, taken []*live, err error) {
	for _, row := range rows {
		if row.branch() {
			ids = append(ids, row.ID)
			continue
		}
		if e.find(row.ID) != nil {
			continue // a child that was resumed on its own
		}
		if _, ok := e.flows[row.Flow]; !ok {
			return nil, taken, e.noFlow(row)
		}
		l := newLive(row.ID, row.Flow, row.Parent)
		l.resumed = true
		if err := e.enlist(s, l); err != nil {
			return nil, taken, err
		}
		ids, taken = append(ids, row.ID), append(taken, l)
	}
	return ids, taken, nil
}

// noFlow says of an interaction that this program cannot run whether a newer one
// can.
func (e *Engine) noFlow(r row) error {
	name, v, _ := strings.Cut(r.Flow, "/v")
	if version, err := strconv.Atoi(v); err == nil {
		if err := newer.Check(version, e.newest[name].Version); err != nil {
			return fmt.Errorf("flow %s: %w: %s in %s: %w", r.Flow, ErrNoFlow, r.ID, e.opts.database(), err)
		}
	}
	return fmt.Errorf("flow %s: %w: %s was started by another version of this program", r.Flow, ErrNoFlow, r.ID)
}

// ended is an interaction with a recorded result.
func (e *Engine) ended(s *session, row row) (*live, error) {
	h, err := dbos.RetrieveWorkflow[outcome](s.ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", row.ID, err)
	}
	l := newLive(row.ID, row.Flow, row.Parent)
	l.finish(h.GetResult(dbos.WithHandlePollingInterval(resultInterval)))
	return l, nil
}

// enlist notes that an interaction was asked for.
func (e *Engine) enlist(s *session, l *live) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.session != s {
		return ErrClosed
	}
	if e.live[l.id] != nil {
		return fmt.Errorf("start %s: %w: it is running", l.id, ErrUsed)
	}
	e.live[l.id] = l
	return nil
}

func (e *Engine) current() (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.session == nil {
		return nil, ErrClosed
	}
	return e.session, nil
}

// renew ends a session in which interactions are parked and opens another, so
// that they can be resumed. It refuses while others run. Between the two there
// is none, and whoever asks for one is told that the engine is closed: the lock
// must be free for what is parked to go.
func (e *Engine) renew(ctx context.Context, old *session) (*session, error) {
	if err := e.retire(old); err != nil {
		return nil, err
	}
	if err := old.close(); err != nil {
		return nil, err
	}
	s, err := e.newSession(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed { // meanwhile
		return nil, errors.Join(ErrClosed, s.close())
	}
	clear(e.live)
	clear(e.offers)
	e.session = s
	return s, nil
}

// retire takes the session away from everyone, if nothing runs in it.
func (e *Engine) retire(old *session) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, l := range e.live {
		if !l.parked() {
			return fmt.Errorf("resume: %s is still running: wait for it first", id)
		}
	}
	if e.closed || e.session != old {
		return ErrClosed
	}
	e.session = nil
	return nil
}

// resultInterval is how often a result is looked for that is just being written.
const resultInterval = time.Millisecond

// follow waits for the result of an interaction that was started here.
func (e *Engine) follow(l *live, h handle) {
	l.finish(h.GetResult())
	if !l.parked() {
		e.forget(l)
	}
}

// followResumed waits for the flow to return before it looks for the result:
// looking costs a query each time.
func (e *Engine) followResumed(s *session, l *live) {
	select {
	case <-l.returned:
	case <-s.ctx.Done():
		l.finish(outcome{}, ErrClosed)
		return
	}
	h, err := dbos.RetrieveWorkflow[outcome](s.ctx, l.id)
	if err != nil {
		l.finish(outcome{}, err)
		return
	}
	l.finish(h.GetResult(dbos.WithHandlePollingInterval(resultInterval)))
	if !l.parked() {
		e.forget(l)
	}
}

// wait returns the result of an interaction, and cuts it when ctx ends.
func (e *Engine) wait(ctx context.Context, l *live) (json.RawMessage, error) {
	stop := context.AfterFunc(ctx, func() { l.cut(context.Cause(ctx)) })
	defer stop()
	<-l.stopped
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cutErr != nil {
		return nil, &CutError{ID: l.id, Err: l.cutErr}
	}
	if l.original != nil {
		return l.result.Value, l.original
	}
	return l.result.Value, l.result.Failure.restore()
}
