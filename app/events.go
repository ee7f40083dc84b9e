package app

import (
	"context"

	"conclave/agent"
	"conclave/engine"
	"conclave/internal/screen"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/seat"
	"conclave/transcript"
)

// Event is something to show while a verb runs: one of the types that say so.
type Event interface{ isEvent() }

// Warning is what the person must know now, beside what was asked for.
type Warning struct{ Text screen.Text }

// Aside is no part of the story: what was settled, left out, looked at.
type Aside struct{ Text screen.Text }

// Note is what the app itself says to the person, a paragraph of its own.
type Note struct{ Text screen.Text }

// Remark is a line of the app itself.
type Remark struct{ Text screen.Text }

// Speech is what somebody of the party says: as it is spoken, then whole.
type Speech struct {
	Emoji, Name string
	Part        Part
	Text        string // foreign
}

// Part is how much of a speech an event holds.
type Part int

// The parts of a speech.
const (
	Spoken Part = iota // a few more words
	Paused             // a block of it has ended, and this was the block: what comes after it begins a paragraph
	Whole              // all of it, once it is durable
)

// Outcome is what an interaction came to beside what was said, with the next
// steps.
type Outcome struct{ flow.Result }

// Offers are next steps to choose from.
type Offers struct{ List []quest.Offer }

func (Warning) isEvent() {}
func (Aside) isEvent()   {}
func (Note) isEvent()    {}
func (Remark) isEvent()  {}
func (Speech) isEvent()  {}
func (Outcome) isEvent() {}
func (Offers) isEvent()  {}

// voice shows a conversation as events. It implements flow.Listener.
type voice struct{ app *App }

func (v voice) Hear(face profile.Face, e agent.Event) {
	s := Speech{Emoji: face.Emoji(), Name: face.Name(), Text: e.Delta}
	switch {
	case e.Entry != nil && e.Entry.Type == transcript.AssistantMessage && e.Entry.Source == transcript.Main:
		s.Part, s.Text = Paused, seat.Words(*e.Entry)
	case e.Entry != nil || e.Delta == "":
		return
	}
	v.app.show(s)
}

func (v voice) Said(face profile.Face, text string) {
	v.app.show(Speech{Emoji: face.Emoji(), Name: face.Name(), Part: Whole, Text: text})
}

// Noted shows what somebody of the party wrote into the quest's log.
func (v voice) Noted(face profile.Face, number int, text string) {
	v.app.aside("%s notes in the quest's log: %s (`conclave quest log --withdraw %d` takes it back)",
		face.Name(), text, number)
}

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
	// Ends says of a first line that it is the whole answer although several are
	// asked for; nil: none is.
	Ends func(line string) bool
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
