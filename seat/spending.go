package seat

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/gateway"
	"conclave/internal/price"
	"conclave/record"
	"conclave/transcript"
)

// Spending is what was paid for, as far as it is known.
type Spending struct {
	Tokens int64 // of all kinds
	USD    float64
}

// Add returns the sum of s and t.
func (s Spending) Add(t Spending) Spending { return Spending{s.Tokens + t.Tokens, s.USD + t.USD} }

// Sub returns what s has more than t.
func (s Spending) Sub(t Spending) Spending { return Spending{s.Tokens - t.Tokens, s.USD - t.USD} }

// Told is what an agent says that it consumed.
func Told(u transcript.Usage) Spending {
	return Spending{u.Total(), u.CostUSD}
}

// Account is a budget that the seats of a flow share. It is safe for concurrent
// use.
type Account interface {
	gateway.Account
	// Spend counts what passed no gateway.
	Spend(Spending)
	// Afford refuses when nothing more may begin: all is spent, or a call was
	// refused.
	Afford() error
}

// Tally adds up what a record says was paid for: all that passed the gateway,
// that of failed turns too, and of a request whose answer never came by a guess;
// or, where there was none, what the receipts tell.
type Tally struct {
	since time.Time          // what was spent before does not count
	calls []gateway.Exchange // none where no gateway was passed
	// open are requests without an answer: whoever was killed while one came has
	// paid for something that nobody told them of.
	open map[string]gateway.Exchange
}

// Event takes an event of ReadHistory that is no turn's.
func (t *Tally) Event(event string, context []byte) error {
	if event != gateway.EventResponse && event != gateway.EventRequest {
		return nil
	}
	var x gateway.Exchange
	if err := json.Unmarshal(context, &x); err != nil {
		return err
	}
	if event == gateway.EventRequest {
		if t.open == nil {
			t.open = map[string]gateway.Exchange{}
		}
		t.open[x.ID] = gateway.Exchange{Model: x.Model, Usage: x.Guess(), Sent: x.Sent}
		return nil
	}
	delete(t.open, x.ID)
	t.calls = append(t.calls, gateway.Exchange{Model: x.Model, Usage: x.Usage, Sent: x.Sent})
	return nil
}

// Sum is what was paid for in all, by the person's own prices and the public
// ones; a model without a price costs nothing that is known.
func (t *Tally) Sum(h *History, prices price.List) (sum Spending) {
	calls := slices.AppendSeq(slices.Clone(t.calls), maps.Values(t.open))
	for i := range calls {
		if sent := calls[i].Sent; !sent.IsZero() && sent.Before(t.since) {
			continue
		}
		p, _ := prices.Of(calls[i].Model)
		sum = sum.Add(Spending{calls[i].Usage.Total(), p.Cost(transcript.Usage(calls[i].Usage))})
	}
	if len(calls) > 0 {
		return sum
	}
	for _, r := range h.Receipts() {
		if r.Started.Before(t.since) {
			continue
		}
		sum = sum.Add(Told(transcript.Usage(r.Usage)))
	}
	return sum
}

// Spent is what the record of a run says was paid for; see Tally.Sum.
func Spent(path string, prices price.List) (Spending, error) {
	return SpentSince(path, time.Time{}, prices)
}

// SpentSince is what of that was paid for since a point in time. What a record of
// an older version has no time for is taken for spent since.
func SpentSince(path string, since time.Time, prices price.List) (Spending, error) {
	t := Tally{since: since}
	h, err := ReadHistory(path, t.Event)
	if err != nil {
		return Spending{}, Unread(path, err)
	}
	return t.Sum(h, prices), nil
}

// Unread says that the cost of a run is not known, because its record cannot be
// read: whoever keeps a budget does not go on as if it had cost nothing.
func Unread(path string, err error) error {
	return fmt.Errorf("what a run cost cannot be read: %s: %w; `conclave audit %s` says what is wrong with it, "+
		"and once you have put it elsewhere it is not counted", path, err,
		strings.TrimSuffix(filepath.Base(path), record.Extension))
}
