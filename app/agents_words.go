package app

import (
	"strconv"
	"strings"
)

// Price is what playing a seat costs and what bounds it, in words; "" where
// nothing is to be said.
func (p Played) Price() string {
	var said []string
	bounds := "`tokens` and `turns`"
	if p.Agent == "codex" || p.Agent == "acp" { // which do not tell their turns
		bounds = "`tokens`"
	}
	switch {
	case p.Input != nil:
		said = append(said, "per million tokens: "+listPrice(*p.Input)+" in, "+listPrice(*p.Output)+" out")
	case p.Keyless:
		said = append(said, "asked without a key; what it takes is bounded by "+bounds)
	case p.Provider != "":
		said = append(said, "no price is known: set one under `prices`, or bound it by "+bounds)
	}
	if p.USD > 0 {
		said = append(said, "at most "+listPrice(p.USD)+" a sitting")
	}
	if p.Tokens > 0 {
		said = append(said, "at most "+strconv.FormatInt(p.Tokens, 10)+" tokens a sitting")
	}
	if p.Turns > 0 {
		said = append(said, "at most "+strconv.Itoa(p.Turns)+" calls an answer")
	}
	return strings.Join(said, "; ")
}

// listPrice is a price to its last digit: a sum is rounded (dollars), a price is
// not.
func listPrice(v float64) string { return "$" + strconv.FormatFloat(v, 'f', -1, 64) }

// Cost is what a trial cost, in words.
func (t Trial) Cost() string {
	cost := "no price is known for this model"
	switch {
	case t.Played.Login:
		cost = "by your login: nobody tells what a plan costs"
	case t.USD != nil:
		cost = listPrice(*t.USD)
	}
	if t.Estimated {
		cost += ", by an estimate: an answer was cut"
	}
	return cost
}

// ModelCalls is how often the model was called, in words: of a program that
// reaches it by itself nobody knows.
func (t Trial) ModelCalls() string {
	if t.Played.Login {
		return t.ModelInput
	}
	return strconv.Itoa(t.Calls)
}
