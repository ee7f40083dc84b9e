package gateway

import (
	"conclave/internal/price"
	"conclave/transcript"
)

// Budget bounds what a room may spend; zero means no bound.
type Budget struct {
	USD    float64
	Tokens int64 // of all kinds
}

func (u Usage) cost(p price.Price) float64 { return p.Cost(transcript.Usage(u)) }
