package gateway

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/price"
	"conclave/transcript"
)

// Exchange is one request that was sent, and what came back.
type Exchange struct {
	ID             string    `json:"id"`
	Method         string    `json:"method"`
	Path           string    `json:"path"`
	Model          string    `json:"model,omitempty"`
	Status         int       `json:"status"` // 0: there was no answer
	RequestBytes   int64     `json:"request_bytes"`
	RequestSHA256  string    `json:"request_sha256"`
	ResponseBytes  int64     `json:"response_bytes"`
	ResponseSHA256 string    `json:"response_sha256,omitempty"`
	Usage          Usage     `json:"usage"`
	Estimated      bool      `json:"usage_estimated,omitempty"` // it was never told
	Sent           time.Time `json:"sent,omitzero"`
	FirstByteMS    float64   `json:"first_byte_ms"` // after it was sent
	TotalMS        float64   `json:"total_ms"`
	HungUp         bool      `json:"hung_up,omitempty"` // the program did not wait for the end
	Error          string    `json:"error,omitempty"`   // why it is not whole
	Cut            bool      `json:"cut,omitempty"`     // by a budget that it passed
	Failed         bool      `json:"failed,omitempty"`  // it began well, and tells of an error
	ContentType    string    `json:"content_type,omitempty"`
}

// Refusal is a request that was not let out.
type Refusal struct {
	Rule    string `json:"rule"`
	Method  string `json:"method"`
	Path    string `json:"path"`
	Message string `json:"message"`

	at time.Time
}

// ModelUse is what one model was asked for.
type ModelUse struct {
	Model   string  `json:"model"`
	Calls   int     `json:"calls"`
	Usage   Usage   `json:"usage"`
	CostUSD float64 `json:"cost_usd"`
	Priced  bool    `json:"priced"` // false: the cost is not known
}

// Summary is what a gateway has seen, for the receipt of a turn.
type Summary struct {
	Host   string     `json:"host"`
	Calls  int        `json:"calls"` // of a model, sent
	Other  int        `json:"other"` // further requests, sent: token counts, lists of models
	Models []ModelUse `json:"models"`

	Usage     Usage   `json:"usage"`
	CostUSD   float64 `json:"cost_usd"` // of the models that have a price
	Unpriced  bool    `json:"unpriced,omitempty"`
	Estimated bool    `json:"usage_estimated,omitempty"` // of some exchanges

	BytesSent     int64 `json:"bytes_sent"`
	BytesReceived int64 `json:"bytes_received"`

	// Replayed are requests that were answered from the record of an attempt that
	// was cut, and cost nothing.
	Replayed int `json:"replayed,omitempty"`

	Exchanges []Exchange `json:"exchanges"` // those that have ended
	Refused   int        `json:"refused"`
	Refusals  []Refusal  `json:"refusals,omitempty"` // the first thousand

	// Fault is why recording stopped, if it did.
	Fault string `json:"fault,omitempty"`
}

const maxRefusals = 1000

// ledger is the one door to what a gateway knows of its past.
type ledger struct {
	budget Budget
	prices price.List

	mu      sync.Mutex
	last    int
	seen    Summary
	open    int           // exchanges that have not ended
	idle    chan struct{} // closed when there are none
	running Usage         // estimates of calls that have not ended
	runUSD  float64
	err     error
}

func newLedger(b Budget, prices price.List, host string) *ledger {
	idle := make(chan struct{})
	close(idle)
	return &ledger{budget: b, prices: prices, seen: Summary{Host: host}, idle: idle}
}

func (l *ledger) quiet() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.idle
}

// enter and leave count the exchanges that run. The lock is held.
func (l *ledger) enter() {
	if l.open++; l.open == 1 {
		l.idle = make(chan struct{})
	}
}

func (l *ledger) leave() {
	if l.open--; l.open == 0 {
		close(l.idle)
	}
}

func (l *ledger) number() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	return l.last
}

// begin admits an exchange, or says why not.
func (l *ledger) begin(x *exchange) *refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return &refusal{ruleRecord, "the record could not be written earlier in this turn, and nothing passes unrecorded: " +
			"the turn has to stop"}
	}
	if !x.paid {
		l.enter()
		return nil
	}
	if no := l.overBudget(x); no != nil {
		return no
	}
	l.enter()
	l.run(x, x.estimate)
	return nil
}

// run counts a call that runs by what it has cost so far. The lock is held.
func (l *ledger) run(x *exchange, now Usage) {
	l.running = Usage(transcript.Usage(l.running.plus(now)).Sub(transcript.Usage(x.running)))
	l.runUSD = max(0, l.runUSD+now.cost(x.price)-x.running.cost(x.price))
	x.running = now
}

// grow counts what a call has cost so far, and says when that passes the budget.
func (l *ledger) grow(x *exchange, now Usage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run(x, now)
	if used := l.seen.Usage.Total() + l.running.Total(); l.budget.Tokens > 0 && used > l.budget.Tokens {
		return fmt.Errorf("it passed the budget of %d tokens (%d, by an estimate)", l.budget.Tokens, used)
	}
	if used := l.seen.CostUSD + l.runUSD; l.budget.USD > 0 && used > l.budget.USD {
		return fmt.Errorf("it passed the budget of %s (%s, by an estimate)",
			dollars(l.budget.USD), dollars(used))
	}
	return nil
}

// dollars are told as far as it matters.
func dollars(usd float64) string {
	if usd != 0 && usd < 0.1 {
		return fmt.Sprintf("$%.2g", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// overBudget counts running calls by their estimate, so that a hundred at once
// do not all begin on the last cent, and the call itself by the least that it
// costs.
func (l *ledger) overBudget(x *exchange) *refusal {
	b := l.budget
	used := l.seen.Usage.Total() + l.running.Total()
	if b.Tokens > 0 && used >= b.Tokens {
		return &refusal{ruleBudget, fmt.Sprintf(
			"the budget of %d tokens is used up (%d): end the turn with what there is, or have the budget raised",
			b.Tokens, used)}
	}
	if sum := used + x.estimate.Total(); b.Tokens > 0 && sum > b.Tokens {
		return &refusal{ruleBudget, fmt.Sprintf(
			"the budget of %d tokens does not cover this request (about %d, and %d are used): "+
				"end the turn with what there is, or have the budget raised", b.Tokens, x.estimate.Total(), used)}
	}
	if b.USD <= 0 {
		return nil
	}
	usd := l.seen.CostUSD + l.runUSD
	if usd >= b.USD {
		return &refusal{ruleBudget, fmt.Sprintf(
			"the budget of %s is used up (%s): end the turn with what there is, or have the budget raised",
			dollars(b.USD), dollars(usd))}
	}
	if cost := x.estimate.cost(x.price); usd+cost > b.USD {
		return &refusal{ruleBudget, fmt.Sprintf(
			"the budget of %s does not cover this request (about %s, and %s are used): "+
				"end the turn with what there is, or have the budget raised", dollars(b.USD), dollars(cost), dollars(usd))}
	}
	if !x.priced && b.Tokens == 0 {
		return &refusal{ruleBudget, fmt.Sprintf(
			"the budget of %s cannot be held, because no price is known for the model %q: give its price, or a budget in tokens",
			dollars(b.USD), x.Model)}
	}
	return nil
}

// end puts an exchange that began into the sums.
func (l *ledger) end(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.leave()
	s := &l.seen
	s.Exchanges = append(s.Exchanges, x.Exchange)
	s.BytesReceived += x.ResponseBytes
	if x.sent.IsZero() { // it was never sent
		l.release(x)
		return
	}
	s.BytesSent += x.RequestBytes
	if !x.paid {
		s.Other++
		return
	}
	l.release(x)
	s.Calls++
	s.Usage = s.Usage.plus(x.Usage)
	s.Estimated = s.Estimated || x.Estimated
	l.addModel(x)
}

// replayed counts an answer that was paid for before.
func (l *ledger) replayed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen.Replayed++
}

func (l *ledger) release(x *exchange) { l.run(x, Usage{}) }

func (l *ledger) addModel(x *exchange) {
	s := &l.seen
	i, found := slices.BinarySearchFunc(s.Models, x.Model, func(m ModelUse, name string) int {
		return strings.Compare(m.Model, name)
	})
	if !found {
		s.Models = slices.Insert(s.Models, i, ModelUse{Model: x.Model, Priced: x.priced})
	}
	cost := x.Usage.cost(x.price)
	m := &s.Models[i]
	m.Calls++
	m.Usage = m.Usage.plus(x.Usage)
	m.CostUSD += cost
	s.CostUSD += cost
	s.Unpriced = s.Unpriced || !x.priced
}

// refused counts a refusal and says whether it is to be recorded.
func (l *ledger) refused(r Refusal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen.Refused++
	if len(l.seen.Refusals) >= maxRefusals {
		return false
	}
	r.at = time.Now()
	l.seen.Refusals = append(l.seen.Refusals, r)
	return true
}

// breakDown notes the first error of the record.
func (l *ledger) breakDown(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf("record what passes the gateway: %w", err)
		l.seen.Fault = l.err.Error()
	}
}

func (l *ledger) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *ledger) summary() Summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.seen
	s.Models = slices.Clone(s.Models)
	s.Exchanges = slices.Clone(s.Exchanges)
	s.Refusals = slices.Clone(s.Refusals)
	return s
}
