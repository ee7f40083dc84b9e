package record

import (
	"context"
	"time"
)

// defaultPoll is how often Follow looks when nobody tells it to.
const defaultPoll = 250 * time.Millisecond

// Follow is Next for a record that is being written: it waits for a frame. It
// is false after the seal, at damage, and when it would have to wait after ctx
// has ended; Err then tells. A caller that goes on later opens at Cursor.
//
// A value from hint makes it look at once. Hints may be lost, late or wrong:
// the file is the truth, and it is looked at every poll (250 ms when poll is
// zero) in any case. hint may be nil.
func (r *Reader) Follow(ctx context.Context, hint <-chan struct{}, poll time.Duration) bool {
	if poll <= 0 {
		poll = defaultPoll
	}
	var timer *time.Timer
	for !r.Next() {
		if r.err != nil || r.seal != nil {
			return false
		}
		if timer == nil {
			timer = time.NewTimer(poll)
			defer timer.Stop()
		} else {
			timer.Reset(poll)
		}
		select {
		case <-ctx.Done():
			r.err = ctx.Err()
			return false
		case _, ok := <-hint:
			if !ok {
				hint = nil // nobody will tell any more
			}
		case <-timer.C:
		}
	}
	return true
}
