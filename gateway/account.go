package gateway

import "context"

// Account is a budget that several gateways share. It is safe for concurrent
// use.
type Account interface {
	// Reserve sets aside what a call may cost, before it is sent. It waits
	// while what others have set aside stands in the way, and refuses what does
	// not fit beside what was spent.
	Reserve(ctx context.Context, c Call) (Held, error)
}

// Held is what an account has set aside for a call.
type Held interface {
	// Grow is told what the call has cost so far, as its answer comes. An error
	// says that the budget is passed: the answer is cut.
	Grow(Usage, float64) error
	// Settle is told once what the call did cost.
	Settle(Usage, float64)
}

// Call is a call that was not sent yet, with the most that it can cost as far as
// that is known: its input by a rule of thumb, its output by the bound that the
// request names.
type Call struct {
	Model  string
	Most   Usage
	USD    float64
	Priced bool // false: the cost is not known
	// Likely is what to set aside beside what others have: where a request bounds
	// its answer, the most; where it does not, with an answer of the usual length.
	Likely    Usage
	LikelyUSD float64
}

// usualOutput is how long an answer is that nobody has bounded: few are longer.
const usualOutput = 4096

// reserve asks the account for what a request may cost. What it returns tells
// the account what it did cost.
func (g *Gateway) reserve(ctx context.Context, x *exchange) (settle func(), no *refusal) {
	if g.opts.Account == nil || !x.paid {
		return func() {}, nil
	}
	most := x.estimate.plus(Usage{Output: x.maxOutput})
	likely := most
	if x.maxOutput == 0 {
		likely.Output += usualOutput
	}
	held, err := g.opts.Account.Reserve(ctx, Call{Model: x.Model, Most: most, USD: most.cost(x.price), Priced: x.priced,
		Likely: likely, LikelyUSD: likely.cost(x.price)})
	if err != nil {
		return nil, &refusal{ruleBudget, err.Error()}
	}
	x.held = held
	return func() {
		if x.sent.IsZero() {
			held.Settle(Usage{}, 0)
			return
		}
		held.Settle(x.Usage, x.Usage.cost(x.price))
	}, nil
}

// afford says whether an answer may go on, by what it has cost so far. One that
// came whole is paid for, whatever it cost.
func (g *Gateway) afford(t *tape) *overrun {
	x := t.x
	if !x.paid || !t.meter.sse || t.meter.final || x.Status >= 300 {
		return nil
	}
	now, _ := t.meter.soFar(x.estimate.Input)
	if now == x.running {
		return nil
	}
	err := g.ledger.grow(x, now)
	if err == nil && x.held != nil {
		err = x.held.Grow(now, now.cost(x.price))
	}
	if err != nil {
		return &overrun{err}
	}
	return nil
}
