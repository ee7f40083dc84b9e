package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"conclave/internal/screen"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/flow"
)

// next asks the person what comes next and does it. It is done when they are.
// What they said in a talk in place of an answer is done without asking. What
// cannot be done now is said, and they are asked again.
func (c *questSession) next(ctx context.Context, res flow.Result) (flow.Result, bool, error) {
	out, done, err := c.nextStep(ctx, res)
	if err == nil || !refusal(err) {
		return out, done, err
	}
	c.app.aside("%v", err)
	return c.again(res), false, nil
}

// refusal says whether an error means that nothing was begun, and why.
func refusal(err error) bool {
	kind := KindOf(err)
	return (kind == No || kind == Usage || errors.Is(err, quest.ErrNoQuest)) && !errors.As(err, new(interrupted))
}

func (c *questSession) nextStep(ctx context.Context, res flow.Result) (flow.Result, bool, error) {
	if wish, ok := quest.Understand(res.Wish, false, c.face); ok {
		if res.Conversation == "" && !wish.Says {
			c.typed = append(c.typed, res.Wish) // nothing else was said, so that it stands nowhere yet
		}
		return c.grant(ctx, res, wish, res.Wish)
	}
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
		if choice.Offer != nil {
			c.typed = append(c.typed, answer)
			return c.follow(ctx, res, *choice.Offer)
		}
		if wish, ok := quest.Understand(choice.Free, true, c.face); ok {
			if !wish.Says {
				c.typed = append(c.typed, answer)
			}
			return c.grant(ctx, res, wish, answer)
		}
		return c.freeWords(ctx, res, choice.Free)
	}
}

// grant does what the person asked for in their own words, which are said to who
// is asked for where they say something.
func (c *questSession) grant(
	ctx context.Context, res flow.Result, wish quest.Wish, words string,
) (flow.Result, bool, error) {
	if !wish.Says {
		words = ""
	}
	switch wish.Action {
	case quest.ActConsult, quest.ActGandalf:
		out, err := c.consult(ctx, flow.Consult{Who: wish.Who, Message: words})
		return out, false, err
	case quest.ActReadiness:
		out, err := c.consult(ctx, flow.Consult{Who: policy.Gandalf, Message: words, Readiness: true})
		return out, false, err
	case quest.ActCouncil:
		out, err := c.council(ctx, words)
		return out, false, err
	}
	return c.follow(ctx, res, quest.Offer{Action: wish.Action, Who: wish.Who})
}

// takeTyped is what the person typed in menus since the last conversation: it
// opens the next one.
func (c *questSession) takeTyped() []string {
	typed := c.typed
	c.typed = nil
	return typed
}

// ask asks for one line of what opens the next conversation: from the file of
// answers first.
func (c *questSession) ask(ctx context.Context, question string) (string, error) {
	answer, err := c.asker.next(ctx, question)
	if answer != "" {
		c.typed = append(c.typed, answer)
	}
	return answer, err
}

// freeWords are for whoever was just spoken to, as far as they may be spoken
// to; otherwise for Gandalf.
func (c *questSession) freeWords(ctx context.Context, res flow.Result, words string) (flow.Result, bool, error) {
	who := res.Who
	if !isAdvisor(who) {
		who = policy.Gandalf
	}
	if _, err := c.quest(); who == policy.Gandalf && errors.Is(err, quest.ErrNoQuest) {
		out, err := c.define(ctx, flow.Define{Message: words}) // without a quest he is told what one is about
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
		out, err = c.orBack(res, out, err)
	case quest.ActConfront:
		out, err = c.askConfront(ctx)
		out, err = c.orBack(res, out, err)
	case quest.ActReadiness:
		out, err = c.consult(ctx, flow.Consult{Who: policy.Gandalf, Readiness: true})
	case quest.ActDebrief:
		out, err = c.debrief(ctx, flow.Debrief{})
	case quest.ActStart:
		out, err = c.define(ctx, flow.Define{Council: res.Boundary == quest.AfterCouncil})
	case quest.ActCouncil:
		out, err = c.council(ctx, "")
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

// pick offers a second, smaller choice; where nobody can choose it says what
// there is.
func (c *questSession) pick(ctx context.Context, res flow.Result, offers []quest.Offer) (flow.Result, error) {
	if c.app.Person == nil {
		return flow.Result{}, usageError("say which one with --choose: %s", labels(offers))
	}
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

// errBack is an empty answer on the way to something: the person goes back.
var errBack = errors.New("the person goes back")

// orBack goes back to where the person chose from; what was said there already is
// not said again.
func (c *questSession) orBack(res, out flow.Result, err error) (flow.Result, error) {
	if !errors.Is(err, errBack) {
		return out, err
	}
	return c.again(res), nil
}

// again is a result that is asked about once more; what it said is not said again.
func (c *questSession) again(res flow.Result) flow.Result {
	c.typed = nil
	return flow.Result{
		Flow: res.Flow, Who: res.Who, Name: res.Name, Phase: res.Phase, Boundary: res.Boundary, Offers: res.Offers,
	}
}

func (c *questSession) askCheckpoint(ctx context.Context) (flow.Result, error) {
	in := flow.Evaluate{Role: policy.Guardian}
	var err error
	if in.Stage, err = c.ask(ctx, "Which stage is it? (a short name; empty to go back)"); err != nil {
		return flow.Result{}, err
	}
	if in.Stage == "" {
		return flow.Result{}, errBack
	}
	if in.Expect, err = c.ask(ctx, fmt.Sprintf(
		"What does ready mean for it? (empty: the measure of %s)", c.face(policy.Guardian).Called())); err != nil {
		return flow.Result{}, err
	}
	if in.Paths, err = c.askPaths(ctx); err != nil {
		return flow.Result{}, err
	}
	in.Typed = c.takeTyped()
	return c.evaluate(ctx, in)
}

func (c *questSession) askConfront(ctx context.Context) (flow.Result, error) {
	in := flow.Evaluate{Role: policy.Dragon}
	var err error
	if in.Paths, err = c.askPaths(ctx); err != nil {
		return flow.Result{}, err
	}
	in.Typed = c.takeTyped()
	return c.evaluate(ctx, in)
}

// askPaths asks for the work until it is there, or the person goes back.
func (c *questSession) askPaths(ctx context.Context) ([]string, error) {
	question := "Which files or directories are the work? (separated by spaces, those with spaces in quotes; empty to go back)"
	for {
		text, err := c.ask(ctx, question)
		if err != nil {
			return nil, err
		}
		if text == "" {
			return nil, errBack
		}
		paths, err := quest.SplitPaths(c.w.root, text)
		if err == nil {
			var work *quest.Work
			if work, err = quest.OpenWork(c.w.root, paths, c.granted...); err == nil {
				return paths, work.Close()
			}
		}
		c.typed = c.typed[:len(c.typed)-1] // nothing came of it
		c.app.aside("%v", err)
		for _, p := range paths {
			if near := quest.NearestPath(c.w.root, p); near != "" {
				c.app.aside("Is it %s?", near)
			}
		}
	}
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
