package app

import (
	"context"

	"conclave/engine"
	"conclave/internal/screen"
)

// Event is something to show while a verb runs: one of the types that say so.
type Event interface{ isEvent() }

// Warning is what the person must know now, beside what was asked for.
type Warning struct{ Text screen.Text }

// Aside is no part of the story: what was settled, left out, looked at.
type Aside struct{ Text screen.Text }

func (Warning) isEvent() {}
func (Aside) isEvent()   {}

// Person is whoever sits before the face.
type Person interface {
	// Ask puts a question and returns what was typed, as it was typed: an empty
	// answer is an empty answer. It returns io.EOF when the person has nothing
	// more to say, and the cause of ctx when that ends first.
	Ask(ctx context.Context, q Question) (string, error)
}

// Question is one to the person. Its text is foreign: an agent may have written it.
type Question struct {
	engine.Question
	Way Way
}

// Way is how a question is put.
type Way int

// The ways of asking.
const (
	Freely Way = iota // with options and a default, if there are any; answered in one line or in several
	YesNo             // Default is "y" or "n"
	InLine            // one line to the app itself
	Enter             // the answer does not matter, but that there was one
)

// Progress is how far long work is.
type Progress struct {
	What        string // "" for parts that have no name
	Done, Total int64
}

func (Progress) isEvent() {}
