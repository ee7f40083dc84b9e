package gateway

import "conclave/internal/price"

// Price is what a million tokens cost, in US dollars.
type Price = price.Price

// Budget bounds what a room may spend; zero means no bound.
type Budget struct {
	USD    float64
	Tokens int64 // of all kinds
}

// priceList is prices that are added to the public ones, and win over them.
type priceList map[string]Price

// of finds a price by the model's name, with or without its date.
func (l priceList) of(model string) (Price, bool) {
	for _, name := range []string{model, price.Name(model)} {
		if p, ok := l[name]; ok {
			return p, true
		}
	}
	return price.Of(model)
}

func (u Usage) cost(p Price) float64 { return p.Cost(u.Input, u.Output, u.CacheRead, u.CacheWrite) }
