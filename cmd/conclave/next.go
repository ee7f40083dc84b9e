package main

import (
	"context"
	"strings"

	"conclave/internal/screen"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/flow"
)

// next asks the person what comes next and does it. It is done when they are.
func (c *campaign) next(ctx context.Context, res flow.Result) (flow.Result, bool, error) {
	for {
		answer, err := c.asker.line(ctx, "A number, part of a line, or your own words (empty to leave)")
		if err != nil || answer == "" {
			return res, true, err
		}
		choice, err := quest.Choose(res.Offers, answer)
		if err != nil {
			c.voice.aside("%v", err)
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
func (c *campaign) freeWords(ctx context.Context, res flow.Result, words string) (flow.Result, bool, error) {
	who := res.Who
	if !isAdvisor(who) {
		who = policy.Gandalf
	}
	out, err := c.consult(ctx, flow.Consult{Who: who, Message: words})
	return out, false, err
}

func isAdvisor(who policy.Role) bool {
	for _, a := range policy.Animals() {
		if a == who {
			return true
		}
	}
	return who == policy.Gandalf
}

// follow does what an offer says.
func (c *campaign) follow(ctx context.Context, res flow.Result, o quest.Offer) (flow.Result, bool, error) {
	var out flow.Result
	var err error
	switch o.Action {
	case quest.ActConsult, quest.ActGandalf, quest.ActDiscuss:
		out, err = c.consult(ctx, flow.Consult{Who: o.Who})
	case quest.ActAnother:
		out, err = c.another(ctx)
	case quest.ActEvaluate:
		out, err = c.pick(ctx, res, quest.Offers(quest.AfterReadiness, quest.OfferContext{}), quest.Offer{Action: quest.ActGandalf, Who: policy.Gandalf, Label: "Counsel from Gandalf"})
	case quest.ActCheckpoint:
		out, err = c.askCheckpoint(ctx)
	case quest.ActConfront:
		out, err = c.askConfront(ctx)
	case quest.ActDebrief:
		out, err = c.debrief(ctx, flow.Debrief{})
	case quest.ActStart:
		out, err = c.define(ctx, flow.Define{})
	case quest.ActReturn, quest.ActWork, quest.ActGaps:
		return c.backToWork(ctx)
	case quest.ActReview:
		return res, false, c.review()
	case quest.ActCelebrate:
		c.env.Stdout.Printf("\nThe Dragon is slain. Take your time; the debrief waits.\n")
		return res, true, nil
	default:
		return res, true, nil
	}
	return out, false, err
}

// pick offers a second, smaller choice.
func (c *campaign) pick(ctx context.Context, res flow.Result, offers []quest.Offer, more ...quest.Offer) (flow.Result, error) {
	res.Offers = append(offers, more...)
	c.voice.offers(res.Offers)
	out, done, err := c.next(ctx, res)
	if done {
		out.Offers = nil
	}
	return out, err
}

func (c *campaign) another(ctx context.Context) (flow.Result, error) {
	party, err := c.party()
	if err != nil {
		return flow.Result{}, environmentError("%w", err)
	}
	var offers []quest.Offer
	for _, who := range append(policy.Animals(), policy.Gandalf) {
		face, _ := party.Face(string(who))
		core := face.Archetype.Core
		offers = append(offers, quest.Offer{Action: quest.ActConsult, Who: who, Label: face.MenuName(), Reason: core})
	}
	return c.pick(ctx, flow.Result{}, offers)
}

func (c *campaign) askCheckpoint(ctx context.Context) (flow.Result, error) {
	in := flow.Evaluate{Role: policy.Guardian}
	var err error
	if in.Stage, err = c.asker.line(ctx, "Which stage is it? (a short name)"); err != nil {
		return flow.Result{}, err
	}
	if in.Expect, err = c.asker.line(ctx, "What does ready mean for it? (empty: the Guardian's own measure)"); err != nil {
		return flow.Result{}, err
	}
	if in.Paths, err = c.askPaths(ctx); err != nil {
		return flow.Result{}, err
	}
	in.Words = commandWords("checkpoint", in)
	return c.evaluate(ctx, in)
}

func (c *campaign) askConfront(ctx context.Context) (flow.Result, error) {
	in := flow.Evaluate{Role: policy.Dragon}
	var err error
	if in.Paths, err = c.askPaths(ctx); err != nil {
		return flow.Result{}, err
	}
	in.Words = commandWords("confront", in)
	return c.evaluate(ctx, in)
}

func (c *campaign) askPaths(ctx context.Context) ([]string, error) {
	text, err := c.asker.line(ctx, "Which files or directories are the work? (separated by spaces)")
	paths := strings.Fields(text)
	if err == nil && len(paths) == 0 {
		err = usageError("no work was named")
	}
	return paths, err
}

// backToWork returns the quest to its execution, where it is elsewhere.
func (c *campaign) backToWork(ctx context.Context) (flow.Result, bool, error) {
	q, err := c.quest()
	if err != nil {
		return flow.Result{}, true, err
	}
	if q.Phase != quest.PhaseExecution {
		if _, err := c.start(ctx, "move", flow.Move{To: quest.PhaseExecution}); err != nil {
			return flow.Result{}, true, err
		}
	}
	c.env.Stdout.Printf("\nThe quest goes on. Come back whenever you like.\n")
	return flow.Result{}, true, nil
}

func (c *campaign) quest() (*quest.Quest, error) {
	store, err := quest.OpenStore(c.w.Root)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	defer store.Close()
	q, err := store.Quest()
	if err == nil {
		err = q.Err()
	}
	return q, campaignError(err)
}

func (c *campaign) review() error {
	q, err := c.quest()
	if err == nil {
		c.env.Stdout.Printf("\n  %s\n", screen.Indent("  ", string(q.Bytes())))
	}
	return err
}
