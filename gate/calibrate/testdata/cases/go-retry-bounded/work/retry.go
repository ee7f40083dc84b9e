// Package retry calls a function again that failed.
package retry

import (
	"context"
	"errors"
	"time"
)

const tries = 5

// Do calls f until it succeeds, five times at most, and waits in between: first
// as long as wait says, then twice as long each time.
func Do(ctx context.Context, wait time.Duration, f func() error) error {
	var last error
	for i := range tries {
		if i > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return errors.Join(ctx.Err(), last)
			}
			wait *= 2
		}
		if last = f(); last == nil {
			return nil
		}
	}
	return last
}
