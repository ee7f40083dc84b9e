package usage

import (
	"conclave/archive/source"
	"conclave/session"
	"conclave/transcript"
)

// unwritten is what programs have counted beyond the responses in the files, as
// one more response of each session and model.
func unwritten(files []*file, best map[[16]byte]place) (rows []place) {
	var accounts session.Accounts
	holder := map[*session.Account]*file{}
	for _, f := range files {
		for _, s := range f.sums {
			acc := accounts.Sum(f.began, s.at, s.Sum)
			if h := holder[acc]; h == nil || h.kind == source.Record || h.kind == source.Bundle {
				holder[acc] = f
			}
		}
	}
	if len(holder) == 0 {
		return nil
	}
	of := lookUp(&accounts)
	for _, f := range files {
		for i := range f.rows {
			if r := &f.rows[i]; r.role == "main" || r.role == "" && f.role == "main" {
				if acc := of(r.session); acc != nil {
					acc.Answered(r.at)
				}
			}
		}
	}
	type copied struct {
		acc *session.Account
		key [16]byte
	}
	seen := map[copied]bool{}
	for _, f := range files {
		for i := range f.rows {
			r := &f.rows[i]
			acc := of(r.session)
			if acc == nil {
				continue
			}
			switch p := best[r.key]; {
			case p.row == r:
				acc.Spend(r.at, r.model, r.Usage)
			case p.row.session != r.session && !seen[copied{acc, r.key}]:
				seen[copied{acc, r.key}] = true
				acc.Copied(r.at, r.model, r.Usage, accounts.Of(p.row.session))
			}
		}
	}
	accounts.Unwritten(func(acc *session.Account, at int64, model string, u transcript.Usage) {
		rows = append(rows, place{holder[acc], &response{key: responseKey(session.UnwrittenKey(acc.Session, model)), at: at,
			model: model, session: acc.Session, role: "main", Usage: u, whole: true}})
	})
	return rows
}

// lookUp remembers the account that was asked for last: rows of one session follow
// each other.
func lookUp(a *session.Accounts) func(string) *session.Account {
	var name string
	var acc *session.Account
	return func(session string) *session.Account {
		if session != name {
			name, acc = session, a.Of(session)
		}
		return acc
	}
}
