package engine

import (
	"context"
	"errors"
	"fmt"

	"conclave/agent"
)

// AgentTurn is one turn of an agent or a person with a record.
type AgentTurn interface {
	// ID is the same at every replay and unique in the record: build it from
	// Run.ID and what is asked.
	ID() string
	// Find looks in the record for the turn: its reply when the last byte of it
	// was durable, and how often it was begun so far.
	Find(ctx context.Context) (Found, error)
	// Take begins the turn once more, notes that on the record first, and
	// returns when its reply is durable there. An error becomes the outcome of
	// the turn, unless it is wrapped in Halt: then the turn is begun again on
	// Resume.
	Take(ctx context.Context) (agent.Reply, error)
}

// Found is what the record says of a turn.
type Found struct {
	Attempts int // begun, whether finished or not
	Finished bool
	Reply    agent.Reply // of the finished one
}

// TurnResult is a turn that was taken.
type TurnResult struct {
	Reply    agent.Reply `json:"reply"`
	Attempts int         `json:"attempts"` // begun in all, the finished one included
	// Asked is how many attempts this process made: 0 when the reply was on
	// the record already.
	Asked int `json:"asked"`
}

// Turn takes a turn once: a reply that is on the record is never asked for
// again, an unfinished one is. It is one step.
func Turn(r *Run, t AgentTurn) (TurnResult, error) {
	return Do(r, "turn "+t.ID(), func(ctx context.Context) (TurnResult, error) { return TakeTurn(ctx, t) })
}

// TakeTurn is the body of Turn, for steps that run at once (DoEach).
func TakeTurn(ctx context.Context, t AgentTurn) (TurnResult, error) {
	found, err := t.Find(ctx)
	if err != nil {
		return TurnResult{}, Halt(fmt.Errorf("look for turn %s in the record: %w", t.ID(), err))
	}
	if found.Finished {
		return TurnResult{Reply: found.Reply, Attempts: found.Attempts}, nil
	}
	reply, err := t.Take(ctx)
	if err != nil {
		return TurnResult{}, err
	}
	return TurnResult{Reply: reply, Attempts: found.Attempts + 1, Asked: 1}, nil
}

// Question is what a flow asks the person.
type Question struct {
	ID   string // of the interaction and the question: the same when asked again
	Text string
	// Who is asked, where several people may share a screen; "" for whoever is
	// there.
	Who string
	// Options are answers to choose from, in order; empty for free words.
	Options []Option
	// Default is what an empty answer means, and what is returned for it; with
	// Silent the answer stays empty, so that nobody is said to have typed it.
	Default string
	Silent  bool
	// Secret answers are not echoed.
	Secret bool
	// Lines asks for several lines, up to an empty one.
	Lines bool

	// Title says whom a question is for, Lead is what is read before it, and Hint
	// how it is answered. All are words, as Text is.
	Title, Lead, Hint string
	// Alone are lines that end an answer at once, whatever was typed before them;
	// one that ends with a blank is the beginning of such a line.
	Alone []string
	// Live: only who sits at a keyboard is asked; elsewhere nothing was said. Again:
	// there is an answer already, and a better one is taken until the context ends,
	// where nobody else needs the keyboard meanwhile; it is Live, too.
	Live, Again bool
}

// Option is an answer to choose.
type Option struct{ Label, Hint string }

// Asker puts questions to the person. An error stops the interaction and
// leaves it open: the question will be asked again.
type Asker interface {
	Ask(ctx context.Context, q Question) (string, error)
}

// ErrNobody is why an interaction stops at a question without an Asker.
var ErrNobody = errors.New("nobody is here to answer")

// Ask puts a question to the person and returns the recorded answer. It is one
// step: however often the process dies while the question waits, it is asked
// again and costs nothing more.
func Ask(r *Run, name string, q Question) (string, error) {
	q.ID = r.id + " " + name
	return Do(r, "ask "+name, func(ctx context.Context) (string, error) {
		r.e.crash("asking " + name)
		if r.e.opts.Asker == nil {
			return "", Halt(fmt.Errorf("%w: %s", ErrNobody, q.Text))
		}
		answer, err := r.e.opts.Asker.Ask(ctx, q)
		return answer, Halt(err)
	})
}
