package session

import (
	"cmp"
	"math"
	"slices"

	"conclave/transcript"
)

// Accounts find out what programs have counted beyond the responses that their
// files tell of: the request that sums a conversation up when it is compacted
// stands in no line, but it is in the sums that a program writes when a session is
// left (Facts.Sum). The zero value is ready for use.
//
// First all sums are told, then by Account.Answered the responses of main agents,
// then by Spend and Copied all responses, each once a session; then Unwritten says
// what is missing. Nothing is counted twice: a session that was taken up again
// under another id, or forked, takes up the sums of the one before, which are its
// base; where that is not known, it is credited with nothing.
type Accounts struct {
	by   map[string]*Account
	list []*Account
}

// Account is what one session counted, and what is told of.
type Account struct {
	Session string
	Began   int64 // see Beginning.At

	sums     []toldSum
	resumed  int64                       // the first response of its main agent behind the last sum
	all, own map[string]transcript.Usage // by model; own is without what was copied
	firstOwn int64
	from     *Account // whose response was copied last
	fromAt   int64
}

type toldSum struct {
	at    int64
	total transcript.Usage
	Sum
}

// Of is the account of a session; nil when no sum was told of it.
func (a *Accounts) Of(session string) *Account { return a.by[session] }

// Sum tells of a sum of a session that began then. No response that stands before
// it in its file is younger than at; 0: nobody knows when it was told.
func (a *Accounts) Sum(began, at int64, s Sum) *Account {
	acc := a.by[s.Session]
	if acc == nil {
		if a.by == nil {
			a.by = map[string]*Account{}
		}
		acc = &Account{Session: s.Session, Began: began, resumed: math.MaxInt64, firstOwn: math.MaxInt64,
			all: map[string]transcript.Usage{}, own: map[string]transcript.Usage{}}
		a.by[s.Session] = acc
		a.list = append(a.list, acc)
	}
	if acc.Began == 0 || began != 0 && began < acc.Began {
		acc.Began = began
	}
	t := toldSum{at: at, Sum: s}
	for _, m := range s.Models {
		t.total = t.total.Add(m.Usage.Tokens())
	}
	acc.sums = append(acc.sums, t)
	return acc
}

// last is the sum that was told last: totals only grow.
func (a *Account) last() toldSum {
	return slices.MaxFunc(a.sums, func(s, t toldSum) int {
		return cmp.Or(cmp.Compare(s.at, t.at), cmp.Compare(s.total.Total(), t.total.Total()))
	})
}

// Answered tells of a response of the session's main agent.
func (a *Account) Answered(at int64) {
	if last := a.last().at; last != 0 && at > last {
		a.resumed = min(a.resumed, at)
	}
}

// Spend tells of a response that is the session's own.
func (a *Account) Spend(at int64, model string, u transcript.Usage) {
	if at < a.resumed {
		a.all[model], a.own[model] = a.all[model].Add(u.Tokens()), a.own[model].Add(u.Tokens())
		a.firstOwn = min(a.firstOwn, at)
	}
}

// Copied tells of a response that the session has from another one; nil: that has
// no account.
func (a *Account) Copied(at int64, model string, u transcript.Usage, owner *Account) {
	a.all[model] = a.all[model].Add(u.Tokens())
	if owner != nil && at >= a.fromAt {
		a.from, a.fromAt = owner, at
	}
}

// Unwritten calls yield with what a session used of a model beyond what was told,
// once for each of them, and with the time of the sum that says so.
func (a *Accounts) Unwritten(yield func(acc *Account, at int64, model string, u transcript.Usage)) {
	slices.SortFunc(a.list, func(x, y *Account) int {
		return cmp.Or(cmp.Compare(x.Began, y.Began), cmp.Compare(x.Session, y.Session))
	})
	for i, acc := range a.list {
		last := acc.last()
		base, known := acc.base(last, a.list[:i])
		if !known {
			continue
		}
		// What names no model may be of any: whoever drove the program has noted it.
		unnamed := acc.all[""]
		for _, m := range last.Models {
			told := acc.all[m.Model]
			if m.Model == "" { // of all of them
				told, unnamed = transcript.Usage{}, transcript.Usage{}
				for _, u := range acc.all {
					told = told.Add(u)
				}
			}
			missing := m.Usage.Tokens().Beyond(told)
			if base != nil {
				missing = least(missing, m.Usage.Tokens().Beyond(base.of(m.Model)).Beyond(acc.own[m.Model]))
			}
			missing = missing.Most(transcript.Usage{})
			named := least(missing, unnamed)
			unnamed, missing = unnamed.Sub(named), missing.Sub(named)
			if missing != (transcript.Usage{}) {
				yield(acc, last.at, m.Model, missing)
			}
		}
	}
}

// base is the sum of an earlier session that this one has taken up: nil is none.
// It is false where there must be one and nobody knows which.
func (a *Account) base(last toldSum, earlier []*Account) (base *toldSum, known bool) {
	known = true
	from := a.from
	if from != nil && !slices.ContainsFunc(from.sums, func(s toldSum) bool { return s.Started == last.Started }) {
		from = nil
	}
	for _, e := range earlier {
		for i := range e.sums {
			s := &e.sums[i]
			if s.Started != last.Started || last.Started == 0 {
				continue
			}
			if base == nil {
				known = false
			}
			if (from == nil || from == e) && s.at <= min(a.firstOwn, last.at) && last.total.Beyond(s.total).Natural() &&
				(base == nil || s.total.Total() > base.total.Total()) {
				base, known = s, true
			}
		}
	}
	return base, known
}

func (s *toldSum) of(model string) (u transcript.Usage) {
	for _, m := range s.Models {
		if m.Model == model {
			u = u.Add(m.Usage.Tokens())
		}
	}
	return u
}

// least has of each figure the smaller one.
func least(u, v transcript.Usage) transcript.Usage { return u.Add(v).Sub(u.Most(v)) }

// UnwrittenKey names what a session used of a model that stands in no line, as
// transcript.ResponseKey names a response.
func UnwrittenKey(session, model string) string { return "unwritten/" + session + "/" + model }
