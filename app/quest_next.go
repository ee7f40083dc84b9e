package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/screen"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/flow"
)

// next asks the person what comes next and does it. It is done when they are.
func (c *questSession) next(ctx context.Context, res flow.Result) (flow.Result, bool, error) {
	for {
		answer, err := c.asker.line(ctx, "A number, part of a line, or your own words (empty to leave)")
		if err != nil || answer == "" {
			return res, true, err
		}
		choice, err := quest.Choose(res.Offers, answer)
		if err != nil {
			c.app.aside("%v", err)
			continue
		}
		if choice.Offer == nil {
			return c.freeWords(ctx, res, choice.Free)
		}
		return c.follow(ctx, res, *choice.Offer)
	}
}

// freeWords are for whoever was just spoken to, as far as they may be spoken
// to; otherwise for Gandalf.
func (c *questSession) freeWords(ctx context.Context, res flow.Result, words string) (flow.Result, bool, error) {
	who := res.Who
	if !isAdvisor(who) {
		who = policy.Gandalf
	}
	if _, err := c.quest(); who == policy.Gandalf && errors.Is(err, quest.ErrNoQuest) {
		out, err := c.define(ctx, flow.Define{Message: words}) // what they want to do
		return out, false, err
	}
	out, err := c.consult(ctx, flow.Consult{Who: who, Message: words})
	return out, false, err
}

func isAdvisor(who policy.Role) bool {
	return who == policy.Gandalf || who == policy.Simon || slices.Contains(policy.Animals(), who)
}

// follow does what an offer says.
func (c *questSession) follow(ctx context.Context, res flow.Result, o quest.Offer) (flow.Result, bool, error) {
	var out flow.Result
	var err error
	switch o.Action {
	case quest.ActConsult, quest.ActGandalf, quest.ActDiscuss:
		out, err = c.consult(ctx, flow.Consult{Who: o.Who})
	case quest.ActAnother:
		out, err = c.another(ctx)
	case quest.ActEvaluate:
		out, err = c.pick(ctx, res, quest.Offers(quest.ForEvaluation, quest.OfferContext{Face: c.face}))
	case quest.ActCheckpoint:
		out, err = c.askCheckpoint(ctx)
	case quest.ActConfront:
		out, err = c.askConfront(ctx)
	case quest.ActDebrief:
		out, err = c.debrief(ctx, flow.Debrief{})
	case quest.ActStart:
		out, err = c.define(ctx, flow.Define{Council: res.Boundary == quest.AfterCouncil})
	case quest.ActCouncil:
		out, err = c.council(ctx, c.talk)
	case quest.ActReturn, quest.ActWork, quest.ActGaps:
		return c.backToWork(ctx)
	case quest.ActReview:
		return res, false, c.review()
	case quest.ActCelebrate:
		c.app.note("It is done: %s is slain. Take your time; the debrief waits.", c.face(policy.Dragon).Called())
		return res, true, nil
	default:
		return res, true, nil
	}
	return out, false, err
}

// pick offers a second, smaller choice.
func (c *questSession) pick(ctx context.Context, res flow.Result, offers []quest.Offer) (flow.Result, error) {
	res.Offers = offers
	c.app.show(Offers{res.Offers})
	out, done, err := c.next(ctx, res)
	if done {
		out.Offers = nil
	}
	return out, err
}

func (c *questSession) another(ctx context.Context) (flow.Result, error) {
	var offers []quest.Offer
	_, err := c.quest()
	for _, who := range append(policy.Animals(), policy.Gandalf, policy.Simon) {
		if who == policy.Gandalf && errors.Is(err, quest.ErrNoQuest) {
			continue // he is asked when a quest begins
		}
		face := c.face(who)
		offers = append(offers, quest.Offer{
			Action: quest.ActConsult, Who: who, Label: face.MenuName(), Reason: face.Archetype.Core,
		})
	}
	return c.pick(ctx, flow.Result{}, offers)
}

func (c *questSession) askCheckpoint(ctx context.Context) (flow.Result, error) {
	in := flow.Evaluate{Role: policy.Guardian}
	var err error
	if in.Stage, err = c.asker.line(ctx, "Which stage is it? (a short name)"); err != nil {
		return flow.Result{}, err
	}
	if in.Expect, err = c.asker.line(ctx, fmt.Sprintf(
		"What does ready mean for it? (empty: the measure of %s)", c.face(policy.Guardian).Called())); err != nil {
		return flow.Result{}, err
	}
	if in.Paths, err = c.askPaths(ctx); err != nil {
		return flow.Result{}, err
	}
	return c.evaluate(ctx, "checkpoint", in)
}

func (c *questSession) askConfront(ctx context.Context) (flow.Result, error) {
	in := flow.Evaluate{Role: policy.Dragon}
	var err error
	if in.Paths, err = c.askPaths(ctx); err != nil {
		return flow.Result{}, err
	}
	return c.evaluate(ctx, "confront", in)
}

func (c *questSession) askPaths(ctx context.Context) ([]string, error) {
	text, err := c.asker.line(ctx, "Which files or directories are the work? (separated by spaces)")
	paths := strings.Fields(text)
	if err == nil && len(paths) == 0 {
		err = usageError("no work was named")
	}
	return paths, err
}

// backToWork returns the quest to its execution, where it is elsewhere.
func (c *questSession) backToWork(ctx context.Context) (flow.Result, bool, error) {
	q, err := c.quest()
	if err != nil {
		return flow.Result{}, true, err
	}
	if q.Phase != quest.PhaseExecution {
		if _, err := c.start(ctx, "move", flow.Move{To: quest.PhaseExecution}); err != nil {
			return flow.Result{}, true, err
		}
	}
	c.app.note("The quest goes on. Come back whenever you like.")
	return flow.Result{}, true, nil
}

// quest is the quest as it stands, whole.
func (c *questSession) quest() (*quest.Quest, error) {
	q, err := c.damagedQuest()
	if err == nil {
		err = questError(q.Err())
	}
	return q, err
}

// damagedQuest is the quest as far as it can be read.
func (c *questSession) damagedQuest() (*quest.Quest, error) {
	_, store, err := c.app.questStore()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	q, err := store.Quest()
	return q, questError(err)
}

func (c *questSession) review() error {
	q, err := c.quest()
	if err == nil {
		c.app.note("  %s", screen.Indent("  ", string(q.Bytes())))
	}
	return err
}
