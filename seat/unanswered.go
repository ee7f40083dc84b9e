package seat

import (
	"context"
	"errors"
	"time"

	"conclave/agent"
	"conclave/gateway"
)

// UnansweredError is how a turn failed whose model gave no answer: by its server,
// by the way to it or by a budget, as the gateway has seen it, or, of a program that
// speaks to its vendor by itself, as that program says. Whoever sits in the seat has
// asked again as often as it does. A flow that took the turn once more would multiply
// that.
type UnansweredError struct{ Err error }

func (e *UnansweredError) Error() string { return e.Err.Error() }
func (e *UnansweredError) Unwrap() error { return e.Err }

// unanswered marks the error of a turn.
func (s *Seat) unanswered(ctx context.Context, started time.Time, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	var told agent.ModelError
	switch {
	case s.gateway != nil && s.settled().Unanswered(started):
	case s.lent != nil && errors.As(err, &told) && !gateway.NotUnderstood(told.HTTPStatus()):
	default:
		return err
	}
	return &UnansweredError{err}
}
