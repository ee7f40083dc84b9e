package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"conclave/engine"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
)

// Standing is where a quest stands, for whoever comes back to it: what it is,
// and the last entries of its log and conversations, oldest first.
type Standing struct {
	Quest         *quest.Quest
	Log           []string
	Conversations []string
}

// Cast is who is who in the party.
type Cast struct{ Faces []profile.Face }

func (Standing) isEvent() {}
func (Cast) isEvent()     {}

// lately is how many entries and conversations say where a quest stands.
const lately = 3

// showStanding tells where the quest stands.
func (c *questSession) showStanding(q *quest.Quest) error {
	_, store, err := c.app.questStore()
	if err != nil {
		return err
	}
	defer store.Close()
	talks, err := store.Transcripts()
	if err != nil {
		return refusedHere(err)
	}
	slices.SortStableFunc(talks, func(a, b quest.Transcript) int { return cmp.Compare(began(a), began(b)) })
	s := Standing{Quest: q}
	for _, e := range q.Progress[max(0, len(q.Progress)-lately):] {
		s.Log = append(s.Log, e.Told(c.face))
	}
	for _, t := range talks[max(0, len(talks)-lately):] {
		line := t.Name
		if t.Purpose != "" {
			line += " – " + t.Purpose
		}
		s.Conversations = append(s.Conversations, line)
	}
	c.app.show(s)
	return nil
}

// began is when a conversation began, by its header or else its name: within a
// minute names are in the order of the alphabet.
func began(t quest.Transcript) string {
	const minute = len("2006-01-02-15-04")
	if t.Date != "" || len(t.Name) < minute {
		return t.Date
	}
	return t.Name[:10] + "T" + t.Name[11:13] + ":" + t.Name[14:16]
}

// Party is who is who here: the cast, each in the skin it wears.
func (a *App) Party() (Cast, error) {
	root, err := a.findRoot()
	if err != nil {
		return Cast{}, err
	}
	party, _, err := profile.Project{Dir: root}.Party()
	return castOf(party), refusedHere(err)
}

func castOf(party profile.Party) (c Cast) {
	for _, a := range profile.Cast() {
		face, _ := party.Face(a.ID)
		c.Faces = append(c.Faces, face)
	}
	return c
}

// preamble is what a person is told before a definition begins. While something
// is open nothing is said: it may be that which goes on.
func (c *questSession) preamble(ctx context.Context, in flow.Define) error {
	status, err := engine.Peek(ctx, engine.Options{Dir: c.w.root, Scope: flow.Scope, DatabaseURL: c.w.config.Database})
	if err != nil {
		return environmentError("%w", err)
	}
	if len(c.asker.answers) > 0 && (len(status.Open) == 0 || c.talk.Drop) {
		if err := in.CheckAnswer(c.asker.answers[0]); err != nil {
			return usageError("%w", err)
		}
	}
	if len(status.Open) > 0 {
		return nil
	}
	if c.app.Person != nil && !c.talk.Once {
		if err := c.welcome(); err != nil {
			return err
		}
	}
	if in.Council {
		return c.fromCouncil()
	}
	return nil
}

// welcome introduces the party to whoever begins their first quest here.
func (c *questSession) welcome() error {
	_, store, err := c.app.questStore()
	if err != nil {
		return err
	}
	defer store.Close()
	m, err := store.Material()
	if err != nil || m.Quest != nil || len(m.Archived) > 0 {
		return nil // not the first; what is damaged is said by whoever needs it
	}
	party, _, err := profile.Project{Dir: c.w.root}.Party()
	if err == nil {
		c.app.show(castOf(party))
	}
	return refusedHere(err)
}

// take follows the next step that was chosen in advance.
func (c *questSession) take(ctx context.Context, res flow.Result, choose string) (*flow.Result, error) {
	choice, err := quest.Choose(res.Offers, choose)
	if err != nil {
		return nil, usageError("%w", err)
	}
	var out flow.Result
	var done bool
	if choice.Offer != nil {
		out, done, err = c.follow(ctx, res, *choice.Offer)
	} else if wish, ok := quest.Understand(choice.Free, true, c.face); ok {
		out, done, err = c.grant(ctx, res, wish, choose)
	} else {
		return nil, usageError("%q is none of the next steps: %s", choose, labels(res.Offers))
	}
	if done {
		return nil, err
	}
	return c.finish(ctx, out, err)
}

// withoutQuest offers what can be done where there is none.
func (c *questSession) withoutQuest(ctx context.Context, choose string) (*flow.Result, error) {
	res := flow.Result{Flow: "quest", Boundary: quest.WithoutQuest}
	res.Offers = quest.Offers(res.Boundary, quest.OfferContext{Face: c.face})
	if choose != "" {
		return c.take(ctx, res, choose)
	}
	c.app.note("There is no quest here yet.")
	return c.finish(ctx, res, nil)
}

// underWay asks what to do when a quest is begun while another goes on. It is
// the quest that goes on when the person wants that one, or neither.
func (c *questSession) underWay(ctx context.Context, in *flow.Define) (stay *quest.Quest, err error) {
	if q, err := c.damagedQuest(); err == nil && q.Blank() {
		return nil, nil
	}
	q, err := c.quest()
	switch {
	case errors.Is(err, quest.ErrNoQuest):
		return nil, nil
	case err != nil:
		return nil, err
	case in.Archive || q.Phase == quest.PhaseDebrief:
		return nil, nil
	case c.app.Person == nil:
		return nil, noError("a quest is under way (%s, phase %d): `conclave quest continue` goes on with it; "+
			"`--archive` puts it into %s once the new one is agreed to", q.Title, int(q.Phase), quest.ArchiveDir)
	}
	c.app.note("A quest is under way: %s (%s, phase %d).", q.Title, string(q.Mode), int(q.Phase))
	offers := quest.Offers(quest.UnderWay, quest.OfferContext{Face: c.face})
	c.app.show(Offers{offers})
	for {
		answer, err := c.asker.line(ctx, "A number, or part of a line (empty to leave)")
		if err != nil {
			return nil, err
		}
		if answer == "" {
			return nil, errLeave
		}
		choice, err := quest.Choose(offers, answer)
		switch {
		case err != nil:
			c.app.aside("%v", err)
		case choice.Offer == nil:
			c.app.aside("%v", quest.ErrChoose)
		case choice.Offer.Action == quest.ActStart:
			in.Archive, c.typed = true, append(c.typed, answer)
			return nil, nil
		case choice.Offer.Action == quest.ActContinue:
			return q, nil
		default:
			return nil, errLeave
		}
	}
}

// errLeave: the person wants neither.
var errLeave = errors.New("not now")

// fromCouncil says what Gandalf is handed when a quest begins from a council.
func (c *questSession) fromCouncil() error {
	steps, err := c.house.CouncilSteps()
	if err != nil {
		return questError(err)
	}
	what := "its next step can become a criterion"
	if n := len(steps); n > 1 {
		what = fmt.Sprintf("its %d next steps can become criteria", n)
	}
	c.app.aside("%s is given the council's report: %s.", c.face(policy.Gandalf).Name(), what)
	return nil
}
