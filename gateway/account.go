package gateway

import "context"

// Account is a budget that several gateways share. It is safe for concurrent
// use.
type Account interface {
	// Reserve sets aside what a call may cost, before it is sent. It waits
	// while what others have set aside stands in the way, and refuses what does
	// not fit beside what was spent. settle is told once what the call did cost.
	Reserve(ctx context.Context, c Call) (settle func(Usage, float64), err error)
}

// Call is a call that was not sent yet, with the most that it can cost as far as
// that is known: its input by a rule of thumb, its output by the bound that the
// request names.
type Call struct {
	Model  string
	Most   Usage
	USD    float64
	Priced bool // false: the cost is not known
}

// reserve asks the account for what a request may cost. What it returns tells
// the account what it did cost.
func (g *Gateway) reserve(ctx context.Context, x *exchange) (settle func(), no *refusal) {
	if g.opts.Account == nil || !x.paid {
		return func() {}, nil
	}
	price, priced := g.ledger.prices.Of(x.Model)
	most := x.estimate.plus(Usage{Output: x.maxOutput})
	told, err := g.opts.Account.Reserve(ctx, Call{x.Model, most, most.cost(price), priced})
	if err != nil {
		return nil, &refusal{ruleBudget, err.Error()}
	}
	return func() {
		if x.sent.IsZero() {
			told(Usage{}, 0)
			return
		}
		told(x.Usage, x.Usage.cost(price))
	}, nil
}
