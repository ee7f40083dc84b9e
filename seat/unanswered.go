package seat

import (
	"context"
	"time"
)

// UnansweredError is how a turn failed whose model gave no answer: by its server,
// by the way to it or by a budget, as the gateway has seen it. Whoever sits in the
// seat has asked again as often as it does. A flow that took the turn once more
// would multiply that.
type UnansweredError struct{ Err error }

func (e *UnansweredError) Error() string { return e.Err.Error() }
func (e *UnansweredError) Unwrap() error { return e.Err }

// unanswered marks the error of a turn. Where no gateway is passed nobody knows.
func (s *Seat) unanswered(ctx context.Context, started time.Time, err error) error {
	if err == nil || ctx.Err() != nil || s.gateway == nil || !s.settled().Unanswered(started) {
		return err
	}
	return &UnansweredError{err}
}
