package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Failure is an error in its recorded form: what a flow sees of an error that
// a step returned, at first and at every replay.
type Failure struct {
	// Code is what the error's FailureCode method said, for flows to decide
	// on; empty for other errors.
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	// Detail is the JSON form of an error with a code.
	Detail json.RawMessage `json:"detail,omitempty"`
}

func (f *Failure) Error() string { return f.Message }

// FailureCode keeps the code of a failure that is returned on.
func (f *Failure) FailureCode() string { return f.Code }

// Coded is an error that keeps a code when it is recorded.
type Coded interface {
	error
	FailureCode() string
}

// CodeOf is the code of the failure in err, or "".
func CodeOf(err error) string {
	var c Coded
	if errors.As(err, &c) {
		return c.FailureCode()
	}
	return ""
}

func failureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Message: err.Error()}
	var old *Failure
	if errors.As(err, &old) {
		f.Code, f.Detail = old.Code, old.Detail
		return f
	}
	var c Coded
	if errors.As(err, &c) {
		f.Code = c.FailureCode()
		if detail, err := json.Marshal(c); err == nil {
			f.Detail = detail
		}
	}
	return f
}

// restore gives the engine's own errors their type back.
func (f *Failure) restore() error {
	if f == nil {
		return nil
	}
	typed := map[string]Coded{codeEdited: &EditedError{}, codeUnfit: &UnfitError{}}[f.Code]
	if typed != nil && json.Unmarshal(f.Detail, typed) == nil {
		return typed
	}
	return f
}

// outcome is the stored form of what a step, a branch or a flow came to. Fields
// may be added; none may change its meaning, for old databases are read.
type outcome struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Failure *Failure        `json:"failure,omitempty"`
}

func outcomeOf(v any, err error) (outcome, error) {
	if err != nil {
		return outcome{Failure: failureOf(err)}, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return outcome{}, fmt.Errorf("encode result: %w", err)
	}
	return outcome{Value: data}, nil
}

func decode[T any](o outcome) (T, error) {
	var v T
	if err := o.Failure.restore(); err != nil {
		return v, err
	}
	if len(o.Value) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(o.Value, &v); err != nil {
		return v, fmt.Errorf("decode recorded result: %w", err)
	}
	return v, nil
}

// Halt says that err is no outcome of a step but a reason to stop: nothing is
// recorded, the interaction is cut where it stands and stays open, and Resume
// will take the step again. For an agent that is not installed, a network that
// is down, a question that nobody is there to answer.
func Halt(err error) error {
	if err == nil {
		return nil
	}
	return &haltError{err}
}

type haltError struct{ err error }

func (h *haltError) Error() string { return h.err.Error() }
func (h *haltError) Unwrap() error { return h.err }

func isHalt(err error) bool {
	var h *haltError
	return errors.As(err, &h)
}

// CutError is returned by Start and Resume for an interaction that was cut:
// it is open, and Resume(ID) continues it.
type CutError struct {
	ID  string
	Err error
}

func (c *CutError) Error() string { return fmt.Sprintf("%v (%s stays open)", c.Err, c.ID) }
func (c *CutError) Unwrap() error { return c.Err }

// Errors that callers act on.
var (
	// ErrUnknown is returned for an id that is not in the database.
	ErrUnknown = errors.New("no such interaction")
	// ErrUsed is returned by Start for an id that was used before.
	ErrUsed = errors.New("id was used before")
	// ErrNoFlow is returned for a flow, or a version of one, that this program
	// does not have.
	ErrNoFlow = errors.New("no such flow")
	// ErrClosed is returned after Close, and by steps of flows that Close stopped.
	ErrClosed = errors.New("engine is closed")
)

// errShut is what a flow's function returns to the library when the session
// ends under it. It must be a cancellation: the library may not have seen the
// end of its own context yet, and would record any other error as the outcome.
var errShut = fmt.Errorf("%w (%w)", ErrClosed, context.Canceled)
