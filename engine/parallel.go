package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Result is what one of several parallel parts came to.
type Result[T any] struct {
	Value T
	Err   error
}

// DoEach runs n steps at once and waits for all of them: Do for each number
// from 0 to n-1. It costs no more than n steps.
func DoEach[T any](r *Run, name string, n int, fn func(ctx context.Context, i int) (T, error)) ([]Result[T], error) {
	return doEach(r, name, n, false, fn)
}

// DoInTurn is DoEach with one step after the other; an error of one does not
// keep the next from being taken.
func DoInTurn[T any](r *Run, name string, n int, fn func(ctx context.Context, i int) (T, error)) ([]Result[T], error) {
	return doEach(r, name, n, true, fn)
}

func doEach[T any](r *Run, name string, n int, inTurn bool, fn func(ctx context.Context, i int) (T, error)) ([]Result[T], error) {
	if r.busy.Swap(true) {
		return nil, fmt.Errorf("steps %q within a step, or from two goroutines", name)
	}
	defer r.busy.Store(false)
	ran := make([]bool, n)
	running := make([]<-chan dbos.StepOutcome[outcome], n)
	done := make([]dbos.StepOutcome[outcome], n)
	for i := range n {
		ch, err := dbos.Go(r.ctx, func(ctx context.Context) (outcome, error) {
			ran[i] = true
			return r.attempt(ctx, label(name, i), func(ctx context.Context) (any, error) { return fn(ctx, i) })
		}, dbos.WithStepName(label(name, i)))
		if err != nil {
			r.live.cut(stepError(name, err))
			r.park()
			return nil, ErrClosed
		}
		if running[i] = ch; inTurn {
			done[i] = <-ch
		}
	}
	results := make([]Result[T], n)
	for i, ch := range running {
		if !inTurn {
			done[i] = <-ch
		}
		o, err := r.stepped(label(name, i), done[i].Result, done[i].Err, ran[i])
		if err != nil {
			return nil, err
		}
		results[i].Value, results[i].Err = decode[T](o)
	}
	return results, nil
}

func label(name string, i int) string { return fmt.Sprintf("%s %d", name, i+1) }

// Parallel runs n branches at once and waits for all of them. Each branch has
// a Run of its own, so it may take many steps; they are numbered per branch,
// so that their order among the branches does not matter. An error of one
// branch does not end the others. A branch costs about two steps more than
// what it does; for single steps there is DoEach.
func Parallel[T any](r *Run, name string, n int, fn func(b *Run, i int) (T, error)) ([]Result[T], error) {
	offers := make([]*offer, n)
	for i := range n {
		o, err := r.branch(label(name, i), func(b *Run) (any, error) { return fn(b, i) })
		if err != nil {
			return nil, err
		}
		offers[i] = o
	}
	results := make([]Result[T], n)
	for i, o := range offers {
		got, err := r.join(o)
		if err != nil {
			return nil, err
		}
		results[i].Value, results[i].Err = decode[T](got)
	}
	return results, nil
}

// branchName is recorded for every branch: the functions of branches are
// closures of a flow that runs, so there is nothing else to name.
const branchName = "branch/v1"

// offer is a branch that its parent is ready to run.
type offer struct {
	id    string
	live  *live
	run   func(*Run) (any, error)
	ended chan struct{} // the function has returned
}

// branch starts a branch, or meets one that was started before the process died.
func (r *Run) branch(name string, fn func(*Run) (any, error)) (*offer, error) {
	s, err := r.e.current()
	if err != nil {
		return nil, err
	}
	h, err := dbos.RunWorkflow(r.ctx, s.branch.run, name, dbos.WithRunInstance(s.branch))
	if err != nil {
		if r.ctx.Err() == nil {
			r.live.cut(stepError(name, err))
			r.park()
		}
		return nil, ErrClosed
	}
	o := &offer{id: h.GetWorkflowID(), live: r.live, run: fn, ended: make(chan struct{})}
	r.e.offer(o)
	return o, nil
}

// join waits for the outcome of a branch to be recorded.
func (r *Run) join(o *offer) (outcome, error) {
	defer r.e.withdraw(o.id)
	s, err := r.e.current()
	if err != nil {
		return outcome{}, err
	}
	if !r.endedBefore(s, o) {
		select {
		case <-o.ended:
		case <-r.ctx.Done():
			return outcome{}, errShut
		}
	}
	h, err := dbos.RetrieveWorkflow[outcome](s.ctx, o.id)
	if err == nil {
		var got outcome
		if got, err = h.GetResult(dbos.WithHandlePollingInterval(resultInterval)); err == nil {
			return got, nil
		}
	}
	if r.ctx.Err() == nil {
		r.live.cut(fmt.Errorf("read branch %s: %w", o.id, err))
		r.park()
	}
	return outcome{}, errShut
}

// endedBefore says whether a branch had ended when the process died: then
// nobody will take up the offer.
func (r *Run) endedBefore(s *session, o *offer) bool {
	if !r.live.resumed {
		return false
	}
	row, err := s.row(r.live.ctx, o.id)
	return err == nil && row.ended()
}

func (e *Engine) offer(o *offer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	pending := e.offers[o.id]
	e.offers[o.id] = o
	if pending != nil && pending.run == nil {
		close(pending.ended) // a branch waits for it: see claim
	}
}

func (e *Engine) withdraw(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.offers, id)
}

// claim returns the offer of a branch, waiting until its parent makes it.
func (e *Engine) claim(ctx context.Context, id string) *offer {
	for {
		e.mu.Lock()
		o := e.offers[id]
		if o == nil {
			o = &offer{id: id, ended: make(chan struct{})}
			e.offers[id] = o
		}
		e.mu.Unlock()
		if o.run != nil {
			return o
		}
		select {
		case <-o.ended:
		case <-ctx.Done():
			return nil
		}
	}
}

// branchInstance makes branches known to the library.
type branchInstance struct{ e *Engine }

// ConfigName tells registrations apart.
func (b *branchInstance) ConfigName() string { return branchName }

func (b *branchInstance) run(ctx dbos.Context, name string) (outcome, error) {
	id, err := dbos.GetWorkflowID(ctx)
	if err != nil {
		return outcome{}, err
	}
	o := b.e.claim(ctx, id)
	if o == nil {
		return outcome{}, errShut
	}
	r := &Run{e: b.e, ctx: ctx, id: id, live: o.live}
	v, err := o.run(r)
	if ctx.Err() != nil {
		return outcome{}, errShut
	}
	if isHalt(err) {
		o.live.cut(err)
	}
	if o.live.cutReason() != nil {
		r.park()
		return outcome{}, errShut
	}
	got, err := outcomeOf(v, err)
	if err != nil {
		o.live.cut(fmt.Errorf("branch %q: %w", name, err))
		r.park()
		return outcome{}, errShut
	}
	b.e.crash("returned " + name)
	close(o.ended)
	return got, nil
}

// Child is a background interaction to be: an id of its own, and its input.
type Child struct {
	ID    string
	Input any
}

// Spawn starts background interactions of another flow, each once, in one step.
// They may outlive their parent; Engine.Drain waits for them. When the process
// dies, resuming the parent resumes them; when the parent had ended, they are
// listed by Pending and resumed by their own ids.
func Spawn(r *Run, flow string, children ...Child) error {
	if len(children) == 0 {
		return nil
	}
	_, err := Do(r, "spawn "+children[0].ID, func(ctx context.Context) (struct{}, error) {
		for _, c := range children {
			if _, err := r.e.begin(ctx, flow, c.ID, r.id, c.Input); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	return err
}

// Wait returns the result of a background interaction that this one spawned.
// When the child is cut, so is its parent.
func Wait(r *Run, id string) (json.RawMessage, error) {
	l := r.e.find(id)
	if l == nil {
		s, err := r.e.current()
		if err != nil {
			return nil, err
		}
		row, err := s.row(r.live.ctx, id)
		if err == nil {
			l, err = r.e.takeUp(r.live.ctx, s, row)
		}
		if err != nil {
			return nil, fmt.Errorf("wait for %s: %w", id, err)
		}
	}
	select {
	case <-l.stopped:
	case <-r.ctx.Done():
		return nil, ErrClosed
	case <-r.live.ctx.Done():
		r.park()
		return nil, ErrClosed
	}
	if err := l.cutReason(); err != nil {
		r.live.cut(&CutError{ID: id, Err: err})
		r.park()
		return nil, ErrClosed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.result.Value, l.result.Failure.restore()
}
