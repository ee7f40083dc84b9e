package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/internal/price"
	"conclave/policy"
	"conclave/record"
	"conclave/seat"
	"conclave/transcript"
)

// estimateOver is how many of the newest records an estimate looks at.
const estimateOver = 60

// sayEstimate tells the person, before several agents are asked at once, what that
// may cost: by what turns with the same models cost here so far. What is not known
// is said to be so.
func (c *questSession) sayEstimate(roles []policy.Role) {
	asked := map[string]int{} // by model
	n := 0
	for _, role := range roles {
		if a := c.w.config.For(string(role)); a.ProviderName() != "" && a.Model != "" {
			asked[a.Model]++
			n++
		}
	}
	if n < 2 {
		return
	}
	past := c.w.pastTurns()
	var known, unknown []string
	var sum seat.Spending
	for _, model := range slices.Sorted(maps.Keys(asked)) {
		p := past[price.Undated(model)]
		if p.turns == 0 {
			unknown = append(unknown, model)
			continue
		}
		each := seat.Spending{Tokens: p.spent.Tokens / int64(p.turns), USD: p.spent.USD / float64(p.turns)}
		sum = sum.Add(seat.Spending{Tokens: each.Tokens * int64(asked[model]), USD: each.USD * float64(asked[model])})
		known = append(known, fmt.Sprintf("%s, by %s", model, countOf(p.turns, "turn")))
	}
	text := countOf(n, "agent") + " will be asked. "
	if len(known) > 0 {
		text += fmt.Sprintf("By what their turns took here so far, that is about %d tokens", sum.Tokens)
		if sum.USD > 0 {
			text += fmt.Sprintf(" or %s USD", dollars(sum.USD))
		}
		text += " (" + strings.Join(known, "; ") + "). "
	}
	if len(unknown) > 0 {
		text += "What " + strings.Join(unknown, " and ") + " will take is not known: no turn was taken with it here yet. "
	}
	c.app.aside("%s%s", text, c.budget.left())
}

// left says what of the budget is left.
func (b *budget) left() string {
	if b == nil {
		return "No budget is set."
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over() != nil {
		return "The budget is spent."
	}
	var left []string
	if b.limits.USD > 0 {
		left = append(left, dollars(b.limits.USD-b.spent.USD)+" USD")
	}
	if b.limits.Tokens > 0 {
		left = append(left, countOf(int(b.limits.Tokens-b.spent.Tokens), "token"))
	}
	return "Of the budget " + strings.Join(left, " and ") + " are left."
}

// past is what turns with one model took.
type past struct {
	turns int
	spent seat.Spending
}

// pastTurns are the turns of the newest records, by model. Records that cannot be
// read are left to those who count.
func (w *workspace) pastTurns() map[string]past {
	sums := map[string]past{}
	list, _ := record.List(record.Dir(w.root))
	for _, info := range list[max(0, len(list)-estimateOver):] {
		h, err := seat.ReadHistory(info.Path, nil)
		if err != nil {
			continue
		}
		for _, r := range h.Receipts() {
			used, model := transcript.Usage(r.Usage), price.Undated(r.Model)
			if model == "" || used.Total() == 0 {
				continue
			}
			p := sums[model]
			each, _ := w.config.PriceList().Of(model)
			p.turns++
			p.spent = p.spent.Add(seat.Spending{Tokens: used.Total(), USD: each.Cost(used)})
			sums[model] = p
		}
	}
	return sums
}
