package seat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/gateway"
)

// overrun is the outcome of a turn whose last answer a budget has cut: an error
// that says so, whatever the program made of it. One takes the beginning of an
// answer for the whole, another says nothing but that something went wrong.
func (s *Seat) overrun(started time.Time, err error) error {
	if s.gateway == nil {
		return err
	}
	o := s.gateway.Observed()
	if slices.ContainsFunc(o.Exchanges, func(x gateway.Exchange) bool { return x.Cut }) {
		o = s.settled()
	}
	var last gateway.Exchange
	for _, x := range o.Exchanges {
		if !x.Sent.Before(started) && !x.Sent.Before(last.Sent) {
			last = x
		}
	}
	switch {
	case !last.Cut:
		return err
	case err == nil:
		return errors.New(last.Error + "; what was said of it stands on the record")
	case strings.Contains(err.Error(), last.Error) || slices.ContainsFunc(o.Refusals, func(r gateway.Refusal) bool {
		return strings.Contains(err.Error(), r.Message)
	}):
		return err // it says so itself
	}
	return fmt.Errorf("%w: %s", err, last.Error)
}
