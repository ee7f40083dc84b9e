package runs

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"

	kinds "conclave/archive/source"
	"conclave/internal/price"
	"conclave/transcript"
)

// ledger says of each response of a model which source it counts for, by the rule
// of the view usage: the most complete of those that tell of it, else the session
// that began first, a program's own file before what was made of it.
type ledger struct {
	prices price.List
	priced map[string]*price.Price // by the names of models; nil: it has none
	held   map[digest]*entryCost
	rest   []*entryCost // what programs have counted and no response tells of
	// parents are the runs from which others have copied their history, as a fork
	// does.
	parents map[string]string
}

// digest stands for the key of a response.
type digest [2]uint64

func digestOf(key string) digest {
	sum := sha256.Sum256([]byte(key))
	return digest{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}

// entryCost is a response, the entry that tells of it, and its source.
type entryCost struct {
	source *source
	item   int64
	model  string
	at     int64
	cost   float64
	priced bool
	transcript.Usage
}

// spending is what was spent with one model.
type spending struct {
	tokens              int64
	cost                float64
	responses, unpriced int
}

const costSQL = `SELECT item, source, key, model, coalesce(at, 0), input, output, cache_read, cache_write,
	cache_write_1h, web_searches FROM `

// read calls take for each response that rows of a table tell of.
func (l *ledger) read(
	ctx context.Context, db *sql.DB, sources map[int64]*source, from string, args []any,
	take func(key string, e *entryCost),
) error {
	rows, err := db.QueryContext(ctx, costSQL+from, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var key string
		e := new(entryCost)
		if err := rows.Scan(&e.item, &id, &key, &e.model, &e.at, &e.Input, &e.Output, &e.CacheRead, &e.CacheWrite,
			&e.CacheWrite1h, &e.Searches); err != nil {
			return err
		}
		l.price(e)
		if e.source = sources[id]; e.source != nil {
			take(key, e)
		}
	}
	return rows.Err()
}

// price says what a response cost.
func (l *ledger) price(e *entryCost) {
	p, known := l.priced[e.model]
	if !known {
		if of, ok := l.prices.Of(e.model); ok {
			p = &of
		}
		if l.priced == nil {
			l.priced = map[string]*price.Price{}
		}
		l.priced[e.model] = p
	}
	if p != nil {
		e.cost, e.priced = p.Cost(e.Usage), true
	}
}

// addAll takes every response.
func (l *ledger) addAll(ctx context.Context, db *sql.DB, sources map[int64]*source) error {
	return l.read(ctx, db, sources, "usage_rows", nil, l.put)
}

// add takes those of the entries of a source from one on.
func (l *ledger) add(ctx context.Context, db *sql.DB, src *source, from int64) error {
	query, args := "usage_rows WHERE source = ?", []any{src.id}
	if from > 0 {
		query, args = "usage_rows WHERE +source = ? AND item >= ?", []any{src.id, from}
	}
	return l.read(ctx, db, map[int64]*source{src.id: src}, query, args, l.put)
}

func (l *ledger) put(key string, e *entryCost) {
	d := digestOf(key)
	e.source.spend(e, 0) // whose model it knows, whichever source it counts for
	if have := l.held[d]; have != nil {
		l.relate(have.source, e.source)
		if !e.before(have) {
			return
		}
		have.source.spend(have, -1)
	}
	l.held[d] = e
	e.source.spend(e, 1)
}

// relate notes that two sources tell of one response.
func (l *ledger) relate(a, b *source) {
	if a.run == b.run || a.made() || b.made() || a.began == 0 || b.began == 0 || a.began == b.began {
		return
	}
	if a.began > b.began {
		a, b = b, a
	}
	l.parents[b.run] = a.run
}

// before: e is the one that counts. One that was read again counts again: its
// entry has got another number.
func (e *entryCost) before(o *entryCost) bool {
	switch {
	case e.Output != o.Output:
		return e.Output > o.Output
	case e.Input != o.Input:
		return e.Input > o.Input
	case e.source == o.source:
		return e.item >= o.item
	case e.source.began != o.source.began:
		return e.source.began < o.source.began
	case e.source.made() != o.source.made():
		return o.source.made()
	case e.source.path != o.source.path:
		return e.source.path < o.source.path
	}
	return e.source.generation < o.source.generation
}

// made: it is no program's own file.
func (src *source) made() bool { return src.kind == kinds.Record || src.kind == kinds.Bundle }

func (src *source) spend(e *entryCost, sign int64) {
	if src.spent == nil {
		src.spent = map[string]*spending{}
	}
	s := src.spent[e.model]
	if s == nil {
		s = new(spending)
		src.spent[e.model] = s
	}
	s.responses += int(sign)
	s.tokens += sign * e.Total()
	s.cost += float64(sign) * e.cost
	if !e.priced {
		s.unpriced += int(sign)
	}
}

// unwritten takes anew what programs have counted and no response tells of.
func (l *ledger) unwritten(ctx context.Context, db *sql.DB, sources map[int64]*source) error {
	for _, e := range l.rest {
		e.source.spend(e, -1)
	}
	l.rest = nil
	best := map[string]*entryCost{}
	err := l.read(ctx, db, sources, "unwritten", nil, func(key string, e *entryCost) {
		if have := best[key]; have == nil || e.before(have) {
			best[key] = e
		}
	})
	for _, e := range best {
		e.source.spend(e, 1)
		l.rest = append(l.rest, e)
	}
	return err
}
