package archive

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
)

// heldRows is how many rows are put in at a time: they stand together in the
// file then, and not each between two blocks.
const heldRows = 4096

// row is an item that has its place.
type row struct {
	id, source, block int64
	origin            any
	*item
}

// addRows takes up the items of a block.
func (w *writer) addRows(j *job, block int64, items []item) error {
	for i := range items {
		it := &items[i]
		origin, err := w.origin(it.origin)
		if err != nil {
			return err
		}
		if err := w.hold(j, it.origin); err != nil {
			return err
		}
		w.rows = append(w.rows, row{w.nextID, j.id, block, origin, it})
		w.nextID++
	}
	if len(w.rows) >= heldRows {
		return w.flushRows()
	}
	return nil
}

// flushRows puts in what is held in memory.
func (w *writer) flushRows() error {
	if err := w.insert(`INSERT INTO items(id, source, origin, agent, type, seq, at, block, off, size, part, line, chars, doc,
		tool, tool_id, subtype, failed, level, logger, event, message) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		len(w.rows), func(i int) []any { return w.rows[i].values() }); err != nil {
		return err
	}
	if err := w.putSums(); err != nil {
		return err
	}
	counted := slices.DeleteFunc(w.rows, func(r row) bool { return r.usage == nil })
	err := w.insert(`INSERT INTO usage_rows(item, source, key, model, at, input, output, cache_read, cache_write,
		cache_write_1h, web_searches) VALUES (?,?,?,?,?,?,?,?,?,?,?)`, len(counted), func(i int) []any {
		r, u := &counted[i], counted[i].usage
		return []any{r.id, r.source, u.key, u.model, zero(r.at), u.Input, u.Output, u.CacheRead, u.CacheWrite,
			u.CacheWrite1h, u.Searches}
	})
	clear(w.rows)
	w.rows = w.rows[:0]
	return err
}

func (r *row) values() []any {
	var agent any
	if r.item.origin != nil {
		agent = r.item.origin.source
	}
	return []any{r.id, r.source, r.origin, agent, empty(string(r.typ)), zero(r.seq), zero(r.at), r.block,
		int64(r.off), int64(r.size), int64(r.part), zero(r.line), int64(r.chars), zero(r.doc),
		empty(r.tool), empty(r.toolID), empty(r.subtype), flag(r.failed),
		empty(r.level), empty(r.logger), empty(r.event), empty(r.message)}
}

// insert runs one statement n times. It goes past database/sql, whose locks and
// conversions take longer than a short row.
func (w *writer) insert(query string, n int, values func(i int) []any) error {
	if n == 0 {
		return nil
	}
	return w.conn.Raw(func(c any) (err error) {
		ctx := context.Background()
		stmt, err := c.(driver.ConnPrepareContext).PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		args := make([]driver.NamedValue, strings.Count(query, "?"))
		for i := range n {
			for k, v := range values(i) {
				args[k] = driver.NamedValue{Ordinal: k + 1, Value: v}
			}
			if _, err := stmt.(driver.StmtExecContext).ExecContext(ctx, args); err != nil {
				return err
			}
		}
		return nil
	})
}

func zero(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func empty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func flag(b bool) any {
	if b {
		return int64(1)
	}
	return nil
}
