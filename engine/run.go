package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Run is an interaction as its flow sees it. It is for the flow's goroutine
// alone; Parallel and DoEach are how a flow does several things at once.
//
// A cut interaction does not return to its flow: the step that was cut waits
// until the engine is closed, as if the process had died there. Flows need no
// code for it.
type Run struct {
	e    *Engine
	ctx  dbos.Context
	id   string
	live *live
	busy atomic.Bool
}

// ID is the id of the interaction; of a branch, one of its own.
func (r *Run) ID() string { return r.id }

// Context ends when the interaction is cut or the engine closed. It is for
// looking, outside of steps; steps have their own.
func (r *Run) Context() context.Context { return r.live.ctx }

// Now is the time of its first call, as it was recorded, in UTC.
func (r *Run) Now() (time.Time, error) {
	return Do(r, "now", func(context.Context) (time.Time, error) { return time.Now().UTC().Round(0), nil })
}

// Do runs fn as a durable step. Its result is stored as JSON before Do
// returns; when it is there already, fn is not called. Names tell the steps of
// a flow apart in the record: a replay that meets another name stops.
//
// An error of fn is recorded like a result, and comes back as a *Failure. With
// Halt it is not: the interaction is cut, and fn is called again on Resume.
func Do[T any](r *Run, name string, fn func(context.Context) (T, error)) (T, error) {
	o, err := r.step(name, func(ctx context.Context) (any, error) { return fn(ctx) })
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](o)
}

// step runs one step of the library. The error is ErrClosed, or a misuse.
func (r *Run) step(name string, fn func(context.Context) (any, error)) (outcome, error) {
	if r.busy.Swap(true) {
		return outcome{}, fmt.Errorf("step %q within a step, or from two goroutines: use Parallel or DoEach", name)
	}
	defer r.busy.Store(false)
	ran := false
	o, err := dbos.RunAsStep(r.ctx, func(ctx context.Context) (outcome, error) {
		ran = true
		return r.attempt(ctx, name, fn)
	}, dbos.WithStepName(name))
	return r.stepped(name, o, err, ran)
}

// stepped is what the flow sees of a step.
func (r *Run) stepped(name string, o outcome, err error, ran bool) (outcome, error) {
	if err == nil {
		if ran {
			r.e.crash("recorded " + name)
		}
		return o, nil
	}
	if r.ctx.Err() == nil {
		r.live.cut(stepError(name, err))
		r.park()
	}
	return outcome{}, errShut
}

func stepError(name string, err error) error {
	if errors.Is(err, &dbos.Error{Code: dbos.ErrorCodeUnexpectedStep}) {
		return fmt.Errorf("step %q is not what was recorded here: the flow has changed without a new version: %w", name, err)
	}
	return fmt.Errorf("record step %q: %w", name, err)
}

// attempt calls the step's function. When the interaction is cut, or becomes
// so, it waits for the end of the session: the library records a step that
// returns, whatever it returns, unless it is shutting down.
func (r *Run) attempt(ctx context.Context, name string, fn func(context.Context) (any, error)) (outcome, error) {
	if !r.live.enter() {
		r.park()
		return outcome{}, errShut
	}
	o, err := r.call(ctx, name, fn)
	if err != nil {
		r.live.cut(err)
	}
	r.live.leave()
	if err != nil {
		r.park()
		return outcome{}, errShut
	}
	r.e.crash("done " + name)
	return o, nil
}

// call returns the outcome of fn, or the error that cuts the interaction.
func (r *Run) call(ctx context.Context, name string, fn func(context.Context) (any, error)) (outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(r.live.ctx, func() { cancel(context.Cause(r.live.ctx)) })
	defer stop()
	v, err := fn(ctx)
	if err != nil {
		if isHalt(err) {
			return outcome{}, err
		}
		if ctx.Err() != nil {
			return outcome{}, context.Cause(ctx)
		}
	}
	o, err := outcomeOf(v, err)
	if err != nil {
		return outcome{}, fmt.Errorf("step %q: %w", name, err)
	}
	return o, nil
}

// park waits until the session ends.
func (r *Run) park() { <-r.ctx.Done() }

// end turns what a flow returned into what is recorded.
func (r *Run) end(value json.RawMessage, err error) (outcome, error) {
	if r.ctx.Err() != nil {
		return outcome{}, errShut
	}
	if isHalt(err) {
		r.live.cut(err)
	}
	if !r.live.seal(err) {
		r.park()
		return outcome{}, errShut
	}
	r.e.crash("returned " + r.live.flow)
	return outcome{Value: value, Failure: failureOf(err)}, nil
}
