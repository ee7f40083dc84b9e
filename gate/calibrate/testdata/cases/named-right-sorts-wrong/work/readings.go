// Package readings puts readings of a gauge in order.
package readings

import (
	"slices"
	"time"
)

// Reading is a level at a time.
type Reading struct {
	At    time.Time
	Level int // in centimetres
}

// NewestFirst returns the readings with the newest first.
func NewestFirst(list []Reading) []Reading {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Reading) int { return a.At.Compare(b.At) })
	return list
}
