package app

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"conclave/config"
	"conclave/gateway"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/record"
	"conclave/seat"
	"conclave/table/calls"
)

// budget is what may be spent on one quest or on one campaign, in one day, or by
// one command. It begins with what the records say was spent by earlier commands,
// and all seats share it, also those that run at the same time. It implements
// seat.Account.
//
// What a request can cost at most, as far as that is known, is set aside before
// it is sent, and given back when its cost is known. A request that fits beside
// what was spent, but not beside what others have set aside, waits for them. One
// that does not fit is refused, and from then on nothing more begins: what runs
// may end, and nothing that was paid for is lost.
type budget struct {
	limits config.Budget
	file   string // that sets them

	mu      sync.Mutex
	records func() (seat.Spending, error) // what earlier commands spent
	before  func() (seat.Spending, error) // records, until they are counted
	spent   seat.Spending
	held    seat.Spending // set aside
	running seat.Spending // what calls have cost so far that have not ended
	changed chan struct{} // closed when something is given back
	refused error
	day     string // that is counted, of a budget by day
}

// newBudget is the budget that the configuration sets, nil when it sets none.
// Records are read when it is first asked: most commands spend nothing.
func (w *workspace) newBudget(before func() (seat.Spending, error)) *budget {
	switch w.config.Budget.Per {
	case config.PerDay:
		before = w.spentToday
	case config.PerCommand:
		before = func() (seat.Spending, error) { return seat.Spending{}, nil }
	}
	b := &budget{
		limits: w.config.Budget, file: w.budgetFile, records: before, before: before, changed: make(chan struct{}),
		day: today().Format(time.DateOnly),
	}
	if b.limits.USD <= 0 && b.limits.Tokens <= 0 {
		return nil
	}
	return b
}

// account is the budget for those who ask it; no budget is no account.
func (b *budget) account() seat.Account {
	if b == nil { // an interface of a nil pointer would be somebody
		return nil
	}
	return b
}

// questBudget is that of the workspace's quest, or of all that is done without.
func (w *workspace) questBudget() *budget {
	return w.newBudget(func() (seat.Spending, error) {
		store, err := quest.OpenStore(w.root)
		if err != nil {
			return seat.Spending{}, err
		}
		defer store.Close()
		q, err := store.Quest()
		if err != nil {
			q = nil // there is none, or none that can be read: the verb says so
		}
		return flow.Spent(w.root, q, w.config.PriceList())
	})
}

// tableBudget is that of a campaign.
func (w *workspace) tableBudget(campaign string) *budget {
	return w.newBudget(func() (sum seat.Spending, err error) {
		files, err := calls.Records(w.root, campaign)
		for _, file := range files {
			s, err := seat.Spent(file, w.config.PriceList())
			if err != nil {
				return sum, err
			}
			sum = sum.Add(s)
		}
		return sum, err
	})
}

// today is when the person's day began.
func today() time.Time {
	now := time.Now()
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
}

// spentToday is what was spent in this workspace since the day began.
func (w *workspace) spentToday() (sum seat.Spending, err error) {
	list, err := record.List(record.Dir(w.root))
	since := today()
	for _, info := range list {
		if info.Modified.Before(since) {
			continue
		}
		s, err := seat.SpentSince(info.Path, since, w.config.PriceList())
		if err != nil {
			return sum, err
		}
		sum = sum.Add(s)
	}
	return sum, err
}

// newDay forgets what was spent on the day before.
func (b *budget) newDay() {
	if day := today().Format(time.DateOnly); b.limits.Per == config.PerDay && day != b.day {
		b.day, b.before, b.spent, b.refused = day, b.records, seat.Spending{}, nil
	}
}

// begin forgets what was spent but for that: a new quest begins.
func (b *budget) begin(but func() (seat.Spending, error)) {
	if b == nil || b.limits.Per == config.PerDay || b.limits.Per == config.PerCommand {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records, b.before, b.spent, b.refused = but, but, seat.Spending{}, nil
}

// recount reads the records again: whoever has waited for a lock does not know
// what the one before spent.
func (b *budget) recount() {
	if b == nil || b.records == nil || b.limits.Per == config.PerCommand {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before, b.spent = b.records, seat.Spending{}
}

// Afford implements seat.Account.
func (b *budget) Afford() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.newDay()
	if b.refused != nil {
		return b.refused
	}
	return b.over()
}

// over says that all is spent.
func (b *budget) over() error {
	b.newDay()
	if b.before != nil {
		spent, err := b.before()
		if err != nil {
			return fmt.Errorf("find out what was spent: %w", err)
		}
		b.before, b.spent = nil, b.spent.Add(spent)
	}
	if b.limits.Tokens > 0 && b.spent.Tokens >= b.limits.Tokens {
		return fmt.Errorf("the budget of %d tokens%s is spent (%d); %s",
			b.limits.Tokens, b.per(), b.spent.Tokens, b.raise("tokens"))
	}
	if b.limits.USD > 0 && b.spent.USD >= b.limits.USD {
		return fmt.Errorf("the budget of %s USD%s is spent (%s); %s",
			dollars(b.limits.USD), b.per(), dollars(b.spent.USD), b.raise("usd"))
	}
	return nil
}

// per says what the budget is for, where it is not the quest or the campaign.
func (b *budget) per() string {
	switch b.limits.Per {
	case config.PerDay:
		return " a day"
	case config.PerCommand:
		return " for one command"
	}
	return ""
}

func (b *budget) raise(what string) string {
	return fmt.Sprintf("raise `budget: {%s: …}` in %s to go on", what, b.file)
}

// dollars are told in cents, and less than ten of them as far as it matters.
func dollars(usd float64) string {
	if usd != 0 && usd < 0.1 {
		return fmt.Sprintf("%.2g", usd)
	}
	return fmt.Sprintf("%.2f", usd)
}

// Spend implements seat.Account.
func (b *budget) Spend(s seat.Spending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = b.spent.Add(s)
}

// Reserve implements gateway.Account.
func (b *budget) Reserve(ctx context.Context, c gateway.Call) (gateway.Held, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := seat.Spending{Tokens: c.Most.Total(), USD: c.USD}
	likely := seat.Spending{Tokens: max(most.Tokens, c.Likely.Total()), USD: max(most.USD, c.LikelyUSD)}
	for {
		if err := b.fits(c, most); err != nil {
			b.refused = err
			return nil, err
		}
		// Alone, a call whose answer nobody has bounded is let go and is cut where
		// it passes the budget; beside others it would pass it many times over.
		if b.held == (seat.Spending{}) || !b.exceeds(b.spent.Add(b.held).Add(likely)) {
			b.held = b.held.Add(likely)
			return &reservation{budget: b, most: likely}, nil
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		b.mu.Lock()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

func (b *budget) exceeds(s seat.Spending) bool {
	return b.limits.Tokens > 0 && s.Tokens > b.limits.Tokens || b.limits.USD > 0 && s.USD > b.limits.USD
}

// fits refuses a call that goes beyond the budget even when nobody else calls.
func (b *budget) fits(c gateway.Call, most seat.Spending) error {
	if err := b.over(); err != nil {
		return err
	}
	if b.limits.USD > 0 && b.limits.Tokens <= 0 && !c.Priced {
		return fmt.Errorf("the budget of %s USD cannot be held: no price is known for the model %q; "+
			"set `budget: {tokens: …}` in %s, or its price under `prices` in your own configuration, to go on",
			dollars(b.limits.USD), c.Model, b.file)
	}
	if sum := b.spent.Tokens + most.Tokens; b.limits.Tokens > 0 && sum > b.limits.Tokens {
		return fmt.Errorf("the budget of %d tokens%s does not cover a request that may use %d (%d are spent); %s",
			b.limits.Tokens, b.per(), most.Tokens, b.spent.Tokens, b.raise("tokens"))
	}
	if b.limits.USD > 0 && b.spent.USD+most.USD > b.limits.USD {
		return fmt.Errorf("the budget of %s USD%s does not cover a request that may cost %s (%s are spent); %s",
			dollars(b.limits.USD), b.per(), dollars(most.USD), dollars(b.spent.USD), b.raise("usd"))
	}
	return nil
}

// reservation is what a budget has set aside for a call. It implements
// gateway.Held.
type reservation struct {
	budget *budget
	most   seat.Spending // set aside
	so     seat.Spending // what the call has cost so far
}

// Grow says when what was spent, and what runs, passes the budget. A call that
// costs more than was set aside for it holds what it costs.
func (r *reservation) Grow(u gateway.Usage, usd float64) error {
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	now := seat.Spending{Tokens: u.Total(), USD: usd}
	b.running = b.running.Add(now).Sub(r.so)
	r.so = now
	hold := seat.Spending{Tokens: max(r.most.Tokens, now.Tokens), USD: max(r.most.USD, now.USD)}
	b.held = b.held.Add(hold).Sub(r.most)
	r.most = hold
	sum := b.spent.Add(b.running)
	if !b.exceeds(sum) {
		return nil
	}
	if b.limits.Tokens > 0 && sum.Tokens > b.limits.Tokens {
		b.refused = fmt.Errorf("the budget of %d tokens%s is spent (%d, by an estimate of an answer that was cut); %s",
			b.limits.Tokens, b.per(), sum.Tokens, b.raise("tokens"))
	} else {
		b.refused = fmt.Errorf("the budget of %s USD%s is spent (%s, by an estimate of an answer that was cut); %s",
			dollars(b.limits.USD), b.per(), dollars(sum.USD), b.raise("usd"))
	}
	return b.refused
}

// Settle gives back what was set aside, and counts what it came to.
func (r *reservation) Settle(u gateway.Usage, usd float64) {
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = b.held.Sub(r.most)
	b.running = b.running.Sub(r.so)
	if b.held.Tokens == 0 {
		b.held.USD, b.running.USD = 0, 0 // no dust
	}
	b.spent = b.spent.Add(seat.Spending{Tokens: u.Total(), USD: usd})
	close(b.changed)
	b.changed = make(chan struct{})
}

// configuredBy is the file that sets the budget: the person's own wins.
func (w *workspace) configuredBy(own config.Config) string {
	if own.Budget != (config.Budget{}) {
		return w.app.userConfigFile()
	}
	return filepath.Join(w.root, config.FileName)
}
