package app

import (
	"context"
	"errors"
	"strings"

	"conclave/policy"
	"conclave/quest"
	"conclave/quest/flow"
)

// Consultation is a talk with one of the party.
type Consultation struct {
	Talk
	Who       string
	Readiness bool // a review of whether to face the Dragon, by gandalf
}

// Consult talks to one of the party about the quest; with an animal or Simon,
// about the project where there is none.
func (a *App) Consult(ctx context.Context, in Consultation) (*flow.Result, error) {
	who, err := a.roleOf(in.Who)
	if err != nil {
		return nil, err
	}
	if a.Remote != nil && who.Evaluator() {
		return nil, personsOwn("to talk with " + string(who) + " about a verdict")
	}
	if in.Readiness && who != policy.Gandalf {
		return nil, usageError("--readiness is asked of gandalf, not of %s", who)
	}
	return a.onQuest(ctx, "consult", in.Talk, func(c *questSession) (flow.Result, error) {
		message, err := a.words(in.Message)
		if err != nil {
			return flow.Result{}, err
		}
		return c.consult(ctx, flow.Consult{Who: who, Message: message, Readiness: in.Readiness, Caller: a.caller()})
	})
}

func (c *questSession) consult(ctx context.Context, in flow.Consult) (flow.Result, error) {
	if err := c.house.CheckConsult(in); err != nil {
		return flow.Result{}, questError(err)
	}
	if strings.TrimSpace(in.Message) == "" && !c.asker.somebody() {
		return flow.Result{}, usageError("say something to %s: conclave consult %s --message TEXT, @FILE or -", in.Who, in.Who)
	}
	in.Typed = append(in.Typed, c.takeTyped()...)
	return c.begin(ctx, "consult", in, in.Who)
}

// begin starts an interaction of which these roles are a part, if they can.
func (c *questSession) begin(ctx context.Context, name string, in any, roles ...policy.Role) (flow.Result, error) {
	for _, role := range roles {
		if err := c.available(string(role)); err != nil {
			return flow.Result{}, err
		}
	}
	return c.start(ctx, name, in)
}

// Council hears the six advisors on the project. It needs no quest.
func (a *App) Council(ctx context.Context, talk Talk) (*flow.Result, error) {
	return a.onQuest(ctx, "council", talk, func(c *questSession) (flow.Result, error) {
		message, err := a.words(talk.Message)
		if err != nil {
			return flow.Result{}, err
		}
		return c.council(ctx, message)
	})
}

func (c *questSession) council(ctx context.Context, message string) (flow.Result, error) {
	in := flow.Council{Message: message, Typed: c.takeTyped(), Caller: c.app.caller()}
	if err := c.house.CheckCouncil(in); err != nil {
		return flow.Result{}, questError(err)
	}
	roles := append(policy.Animals(), policy.Simon)
	c.sayEstimate(roles)
	return c.begin(ctx, "council", in, roles...)
}

// Debrief looks back on a verdict of the Dragon's: on the quest when it is
// slain, on where it stands when it prevailed.
func (a *App) Debrief(ctx context.Context, talk Talk) (*flow.Result, error) {
	return a.onQuest(ctx, "debrief", talk, func(c *questSession) (flow.Result, error) {
		message, err := a.words(talk.Message)
		if err != nil {
			return flow.Result{}, err
		}
		return c.debrief(ctx, flow.Debrief{Message: message})
	})
}

func (c *questSession) debrief(ctx context.Context, in flow.Debrief) (flow.Result, error) {
	if err := c.house.CheckDebrief(in); err != nil {
		return flow.Result{}, questError(err)
	}
	in.Typed = c.takeTyped()
	return c.begin(ctx, "debrief", in, policy.Simon)
}

// Evaluation is work that is put before an evaluator.
type Evaluation struct {
	Talk
	Paths         []string
	Stage, Expect string // the Guardian's
	AcceptContext bool   // although forbidden context was found
}

// Checkpoint has the Guardian judge the work of a stage.
func (a *App) Checkpoint(ctx context.Context, in Evaluation) (*flow.Result, error) {
	if len(in.Paths) == 0 {
		return nil, usageError("name the work: conclave checkpoint --stage NAME PATH…")
	}
	if err := errors.Join(quest.CheckStage(in.Stage), quest.CheckExpectation(in.Expect)); err != nil {
		return nil, usageError("%w", err)
	}
	return a.evaluation(ctx, "checkpoint", policy.Guardian, in)
}

// Confront has the Dragon judge the final work by the criteria.
func (a *App) Confront(ctx context.Context, in Evaluation) (*flow.Result, error) {
	if len(in.Paths) == 0 {
		return nil, usageError("name the work: conclave confront PATH…")
	}
	return a.evaluation(ctx, "confront", policy.Dragon, in)
}

func (a *App) evaluation(ctx context.Context, verb string, role policy.Role, in Evaluation) (*flow.Result, error) {
	if a.Remote != nil && in.AcceptContext {
		return nil, personsOwn("to accept context that was found")
	}
	return a.onQuest(ctx, verb, in.Talk, func(c *questSession) (flow.Result, error) {
		if err := a.askedWork(c.w.root, in.Paths); err != nil {
			return flow.Result{}, err
		}
		e := flow.Evaluate{
			Role: role, Paths: in.Paths, Stage: in.Stage, Expect: in.Expect, AcceptContext: in.AcceptContext,
			Granted: c.granted, Caller: a.caller(),
		}
		e.Words = commandWords(verb, e)
		return c.evaluate(ctx, e)
	})
}

// evaluate shows what goes in before it goes in.
func (c *questSession) evaluate(ctx context.Context, in flow.Evaluate) (flow.Result, error) {
	e, err := c.house.Examine(ctx, in)
	if err != nil {
		refused := flow.Result{Flow: e.Opening.Flow, Who: in.Role}
		if leak := (*quest.LeakError)(nil); errors.As(err, &leak) {
			refused.Leaks = leak.Leaks
		}
		return refused, questError(err)
	}
	if err := c.available(string(in.Role)); err != nil {
		return flow.Result{}, err
	}
	if err := c.vouchForChecks(in.Role); err != nil {
		return flow.Result{}, err
	}
	c.app.aside("The work: %s", e.Summary)
	for _, l := range e.LeftOut {
		c.app.aside("left out: %s (%s)", l.Path, l.Reason)
	}
	return c.start(ctx, "evaluate", in)
}

// vouchForChecks: only the Dragon runs the criteria's checks.
func (c *questSession) vouchForChecks(role policy.Role) error {
	if role != policy.Dragon {
		return nil
	}
	items, err := c.w.checkItems()
	if err != nil {
		return environmentError("%w", err)
	}
	return c.w.vouchFor(items)
}

// commandWords stand in the conversation for what the person said.
func commandWords(verb string, in flow.Evaluate) string {
	words := []string{verb}
	if in.Stage != "" {
		words = append(words, "--stage", quoteWord(in.Stage))
	}
	if in.Expect != "" {
		words = append(words, "--expect", quoteWord(in.Expect))
	}
	if in.AcceptContext {
		words = append(words, "--accept-context")
	}
	for _, g := range in.Granted {
		words = append(words, "--grant", quoteWord(g))
	}
	for _, p := range in.Paths {
		words = append(words, quoteWord(p))
	}
	return strings.Join(words, " ")
}

func quoteWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'\\$`*?[]{}()<>|&;!#~") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
