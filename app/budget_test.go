package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/agent"
	"conclave/config"
	"conclave/gateway"
	"conclave/policy"
	"conclave/seat"
)

func limited(limits config.Budget, spent seat.Spending) *budget {
	return &budget{limits: limits, file: "conclave.yaml", spent: spent, changed: make(chan struct{})}
}

func mayCost(usd float64) gateway.Call {
	return gateway.Call{Model: "claude-sonnet-4-5", Most: gateway.Usage{Input: 10, Output: 90}, USD: usd, Priced: true}
}

// Q14: a budget of a hundredth of a cent let two consultations pass, because
// only what was spent already was held against it.
func TestBudgetRefusesWhatItDoesNotCover(t *testing.T) {
	b := limited(config.Budget{USD: 0.0001}, seat.Spending{})
	_, err := b.Reserve(t.Context(), mayCost(0.02))
	if err == nil {
		t.Fatal("a request of two cents passed a budget of a hundredth of one")
	}
	for _, part := range []string{"0.0001 USD", "may cost 0.02", "0.00 are spent", "raise `budget: {usd: …}` in conclave.yaml"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if again := b.Afford(); !errors.Is(again, err) {
		t.Errorf("after a refusal: %v", again)
	}
}

func TestBudgetCountsWhatWasSpentBefore(t *testing.T) {
	for _, c := range []struct {
		limits config.Budget
		spent  seat.Spending
		says   string
	}{
		{config.Budget{USD: 1}, seat.Spending{USD: 1.25}, "the budget of 1.00 USD is spent (1.25)"},
		{config.Budget{Tokens: 100}, seat.Spending{Tokens: 120}, "the budget of 100 tokens is spent (120)"},
		{config.Budget{USD: 1}, seat.Spending{USD: 0.99}, "does not cover a request that may cost 0.02"},
		{config.Budget{Tokens: 150}, seat.Spending{Tokens: 60}, "does not cover a request that may use 100 (60 are spent)"},
	} {
		b := limited(c.limits, c.spent)
		_, err := b.Reserve(t.Context(), mayCost(0.02))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v after %+v: %v", c.limits, c.spent, err)
		}
	}
}

func TestBudgetWithoutAPrice(t *testing.T) {
	unknown := gateway.Call{Model: "mine", Most: gateway.Usage{Input: 10}}
	_, err := limited(config.Budget{USD: 1}, seat.Spending{}).Reserve(t.Context(), unknown)
	if err == nil || !strings.Contains(err.Error(), `no price is known for the model "mine"`) {
		t.Errorf("dollars alone: %v", err)
	}
	if _, err := limited(config.Budget{USD: 1, Tokens: 20}, seat.Spending{}).Reserve(t.Context(), unknown); err != nil {
		t.Errorf("with tokens: %v", err)
	}
}

// Answers that come are cut once what was spent, and what all of them have cost
// so far, passes the budget; what was only set aside cuts nobody.
func TestBudgetIsHeldWithinAnswers(t *testing.T) {
	b := limited(config.Budget{USD: 1}, seat.Spending{USD: 0.1})
	reserve := func(usd float64) gateway.Held {
		t.Helper()
		held, err := b.Reserve(t.Context(), mayCost(usd))
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	one, two := reserve(0.1), reserve(0.6)
	grow := func(h gateway.Held, usd float64) error { return h.Grow(gateway.Usage{Output: 1}, usd) }
	for _, usd := range []float64{0.1, 0.3, 0.5} {
		if err := grow(one, usd); err != nil {
			t.Fatalf("%v: %v", usd, err)
		}
	}
	if err := grow(two, 0.4); err != nil {
		t.Fatalf("1.0 of 1: %v", err)
	}
	err := grow(two, 0.45)
	if err == nil || !strings.Contains(err.Error(), "the budget of 1.00 USD is spent (1.05, by an estimate of an answer that was cut); raise `budget: {usd: …}`") {
		t.Fatalf("1.05 of 1: %v", err)
	}
	two.Settle(gateway.Usage{Output: 1}, 0.45)
	if err := grow(one, 0.5); err == nil {
		t.Error("0.55 are spent, 0.5 have run up, and it goes on")
	}
	one.Settle(gateway.Usage{Output: 1}, 0.5)
	if err := b.Afford(); err == nil {
		t.Error("nothing is left, and more may begin")
	}
	if b.held.Tokens != 0 || b.running.Tokens != 0 || b.spent.Tokens != 2 {
		t.Errorf("held %+v, running %+v, spent %+v", b.held, b.running, b.spent)
	}
}

// T14: seats that run at the same time share the budget: whoever fits once the
// others are done waits for them, and nobody is let in twice on the same cent.
func TestBudgetIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limited(config.Budget{USD: 1}, seat.Spending{})
		first, err := b.Reserve(t.Context(), mayCost(0.8))
		if err != nil {
			t.Fatal(err)
		}
		begun := make(chan error, 1)
		go func() {
			_, err := b.Reserve(t.Context(), mayCost(0.8))
			begun <- err
		}()
		synctest.Wait()
		if len(begun) > 0 {
			t.Fatalf("the second did not wait: %v", <-begun)
		}
		first.Settle(gateway.Usage{Input: 10, Output: 5}, 0.1) // it was cheaper
		if err := <-begun; err != nil {
			t.Errorf("after the first was cheap: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := b.Reserve(ctx, mayCost(0.5))
			begun <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-begun; !errors.Is(err, context.Canceled) {
			t.Errorf("whoever leaves: %v", err)
		}
		if err := b.Afford(); err != nil {
			t.Errorf("waiting is no refusal: %v", err)
		}
	})
}

func TestNoBudgetIsNoAccount(t *testing.T) {
	var none *budget
	none.begin(nil)
	if none.account() != nil || none.Afford() != nil {
		t.Error("no budget refuses something")
	}
}

// T14: an agent's own limits hold at a table as they do at a quest.
func TestLimitsOfAnAgentHoldAtATable(t *testing.T) {
	w := &workspace{root: t.TempDir(), app: &App{}}
	w.config = config.Merge(config.Config{Agents: map[string]config.Agent{
		"player.tilda": {Turns: 3, USD: 0.5, Tokens: 9000}, "cat": {Turns: 4},
	}}, config.Config{})
	a, err := w.tableCast("rot", func(string) bool { return false }, true)(policy.Player, "tilda", false)
	if err != nil {
		t.Fatal(err)
	}
	var p seat.Plan
	a.Dress(&p)
	if p.Limits != (agent.Limits{Turns: 3, BudgetUSD: 0.5}) || p.Budget != (gateway.Budget{USD: 0.5, Tokens: 9000}) {
		t.Errorf("at a table: %+v, %+v", p.Limits, p.Budget)
	}
	p = seat.Plan{Role: "cat"}
	if err := (&questSession{w: w}).dress(&p); err != nil || p.Limits.Turns != 4 || p.Limits.Wall != turnWall {
		t.Errorf("at a quest: %+v, %v", p.Limits, err)
	}
}

// A budget by day is whole again on the next one, also for who plays on.
func TestBudgetOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limited(config.Budget{Tokens: 100, Per: config.PerDay}, seat.Spending{})
		b.day = today().Format(time.DateOnly)
		b.records = func() (seat.Spending, error) { return seat.Spending{Tokens: 10}, nil }
		b.before = b.records
		b.Spend(seat.Spending{Tokens: 95})
		err := b.Afford()
		if err == nil || !strings.Contains(err.Error(), "the budget of 100 tokens a day is spent (105)") {
			t.Errorf("%v", err)
		}
		time.Sleep(24 * time.Hour)
		if err := b.Afford(); err != nil {
			t.Errorf("on the next day: %v", err)
		}
		b.begin(func() (seat.Spending, error) { return seat.Spending{}, nil })
		if b.spent.Tokens != 10 {
			t.Errorf("a new quest changed what was spent today: %+v", b.spent)
		}
	})
}
