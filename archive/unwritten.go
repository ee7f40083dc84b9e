package archive

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"conclave/archive/source"
	"conclave/session"
	"conclave/transcript"
)

// summed is a row of the table sums: what a program counted of one model.
type summed struct {
	row *row
	session.ModelSum
}

// putSums keeps the programs' own sums of the rows at hand.
func (w *writer) putSums() error {
	var sums []summed
	for i := range w.rows {
		if r := &w.rows[i]; r.sum != nil {
			for _, m := range r.sum.Models {
				sums = append(sums, summed{r, m})
			}
			if w.summed == nil {
				w.summed = map[int64]bool{}
			}
			w.summed[r.sum.Started] = true
		}
	}
	return w.insert(`INSERT OR IGNORE INTO sums(item, source, program, session, at, started, model, input, output,
		cache_read, cache_write, cache_write_1h, web_searches)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)`, len(sums), func(i int) []any {
		s := &sums[i]
		program := session.OfAdapter(s.row.item.origin.adapter).Name
		return []any{s.row.id, s.row.source, program, s.row.sum.Session, s.row.at, s.row.sum.Started, s.Model,
			s.Input, s.Output, s.CacheRead, s.CacheWrite, s.CacheWrite1h, s.Searches}
	})
}

// balance reckons anew what programs have counted beyond their responses, for the
// sessions of which something is new and those that take up the same sums. It
// comes before markCopies, which forgets which these are.
func (w *writer) balance() error {
	started := w.summed
	if started == nil {
		started = map[int64]bool{}
	}
	w.summed = nil
	for whose := range w.touched {
		_, id, _ := strings.Cut(whose, "/")
		id = id[:max(strings.LastIndexByte(id, '/'), 0)]
		rows, err := w.tx.Query("SELECT DISTINCT started FROM sums WHERE session = ?", id)
		if err != nil {
			return err
		}
		for rows.Next() {
			var n int64
			if err := rows.Scan(&n); err != nil {
				return errors.Join(err, rows.Close())
			}
			started[n] = true
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(started)) {
		if err := w.balanceOf(n); err != nil {
			return err
		}
	}
	return nil
}

// spent is a response of a session whose program has counted.
type spent struct {
	key, session string
	main, record bool
	began        int64
	Response
}

// before puts the one first that counts; see usage's place.compare.
func (s *spent) before(t *spent) bool {
	record := func(r bool) int { return map[bool]int{true: 1}[r] }
	return cmp.Or(-cmp.Compare(s.Output, t.Output), -cmp.Compare(s.Input, t.Input), cmp.Compare(s.began, t.began),
		cmp.Compare(record(s.record), record(t.record))) < 0
}

// balanceOf reckons for the sessions that were counted since the same moment.
func (w *writer) balanceOf(started int64) error {
	if _, err := w.exec("DELETE FROM unwritten WHERE started = ?", started); err != nil {
		return err
	}
	responses, err := w.responsesSince(started)
	if err != nil {
		return err
	}
	var accounts session.Accounts
	items, err := w.sumsSince(started, &accounts)
	if err != nil {
		return err
	}
	best := map[string]*spent{}
	for i := range responses {
		r := &responses[i]
		if have := best[r.key]; have == nil || r.before(have) {
			best[r.key] = r
		}
		if acc := accounts.Of(r.session); acc != nil && r.main {
			acc.Answered(r.At)
		}
	}
	seen := map[[2]string]bool{}
	for i := range responses {
		r, acc := &responses[i], accounts.Of(responses[i].session)
		if acc == nil {
			continue
		}
		switch owner := best[r.key]; {
		case owner == r:
			acc.Spend(r.At, r.Model, r.Usage)
		case owner.session != r.session && !seen[[2]string{r.session, r.key}]:
			seen[[2]string{r.session, r.key}] = true
			acc.Copied(r.At, r.Model, r.Usage, accounts.Of(owner.session))
		}
	}
	accounts.Unwritten(func(acc *session.Account, at int64, model string, u transcript.Usage) {
		where := items[acc]
		_, e := w.exec(`INSERT INTO unwritten(item, source, key, model, at, input, output, cache_read, cache_write,
			cache_write_1h, web_searches, started) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`, where[0], where[1],
			session.UnwrittenKey(acc.Session, model), model, zero(at), u.Input, u.Output, u.CacheRead, u.CacheWrite,
			u.CacheWrite1h, u.Searches, started)
		err = errors.Join(err, e)
	})
	return err
}

// responsesSince are the responses that the sources of those sessions tell of.
func (w *writer) responsesSince(started int64) (list []spent, err error) {
	rows, err := w.tx.Query(`SELECT DISTINCT u.item, u.key, u.model, coalesce(u.at, 0), u.input, u.output, u.cache_read,
		u.cache_write, u.cache_write_1h, u.web_searches, o.session_id, o.source, f.kind, h.began
		FROM (SELECT DISTINCT session, program || '/' AS kin FROM sums WHERE started = ?) s
		JOIN holdings h ON h.whose > s.kin || s.session || '/' AND h.whose < s.kin || s.session || '0'
		JOIN sources f ON f.id = h.source
		JOIN usage_rows u ON u.source = h.source JOIN items i ON i.id = u.item
		JOIN origins o ON o.id = i.origin AND o.whose = h.whose ORDER BY u.item`, started)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r spent
		var item int64
		var agent, kind string
		if err := rows.Scan(&item, &r.key, &r.Model, &r.At, &r.Input, &r.Output, &r.CacheRead, &r.CacheWrite,
			&r.CacheWrite1h, &r.Searches, &r.session, &agent, &kind, &r.began); err != nil {
			return nil, err
		}
		r.main, r.record = agent == transcript.Main, kind == source.Record || kind == source.Bundle
		list = append(list, r)
	}
	return list, rows.Err()
}

// sumsSince tells the accounts of the sums of those sessions, and where the last
// of each stands: its item, and its source.
func (w *writer) sumsSince(started int64, to *session.Accounts) (map[*session.Account][2]int64, error) {
	items := map[*session.Account][2]int64{}
	err := eachSum(context.Background(), w.tx, "started = ?", started, func(s storedSum) {
		items[to.Sum(s.began, s.At, s.Sum.Sum)] = [2]int64{s.item, s.source}
	})
	return items, err
}

// storedSum is a sum, and where it stands.
type storedSum struct {
	Sum
	item, source, began int64
}

// eachSum calls use with the sums that are meant, in order.
func eachSum(
	ctx context.Context,
	db interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	},
	which string, arg int64, use func(storedSum),
) error {
	rows, err := db.QueryContext(ctx, `SELECT s.item, s.source, s.session, s.started, s.model, s.input, s.output,
		s.cache_read, s.cache_write, s.cache_write_1h, s.web_searches,
		coalesce((SELECT min(h.began) FROM holdings h WHERE h.source = s.source), 0),
		max(s.at, coalesce((SELECT max(u.at) FROM usage_rows u WHERE u.source = s.source AND u.item < s.item), 0))
		FROM sums s WHERE s.`+which+` ORDER BY s.item`, arg)
	if err != nil {
		return err
	}
	defer rows.Close()
	var at storedSum
	for rows.Next() {
		var x storedSum
		var m session.ModelSum
		if err := rows.Scan(&x.item, &x.source, &x.Session, &x.Started, &m.Model, &m.Input, &m.Output, &m.CacheRead,
			&m.CacheWrite, &m.CacheWrite1h, &m.Searches, &x.began, &x.At); err != nil {
			return err
		}
		if x.item != at.item {
			if at.item != 0 {
				use(at)
			}
			at = x
		}
		at.Models = append(at.Models, m)
	}
	if at.item != 0 {
		use(at)
	}
	return rows.Err()
}
