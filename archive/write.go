package archive

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"conclave/record"
	"conclave/session"
	"conclave/session/claude"
	"conclave/session/codex"
)

// commitBytes is how many bytes of sources one transaction takes up. Each makes
// a segment of the index of words, and many of them are merged again.
const commitBytes = 128 << 20

// writer puts chunks into the archive. It is used by one goroutine.
type writer struct {
	a      *Archive
	report *Report
	total  int64
	whole  bool         // everything in one transaction
	bulk   bool         // so much that the indexes are made at the end
	after  func() error // done before the last commit

	conn    *sql.Conn
	tx      *sql.Tx // on conn
	stmts   map[string]*sql.Stmt
	rows    []row
	origins map[origin]int64
	held    map[holding]bool // that are in the table
	touched map[string]bool  // sessions of which something is new
	summed  map[int64]bool   // since when those count of which there is a new sum
	nextID  int64            // of an item
	// nextBlock is the number of the next block. It is not left to the database,
	// which gives the number of a block that is read again to another one: who has
	// the archive open has that block in memory.
	nextBlock int64
	packed    []byte // memory for blocks that are packed here
}

// write takes messages until there are no more.
func (w *writer) write(ctx context.Context, messages <-chan message) error {
	for m := range messages {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := w.begin(ctx); err != nil {
			return err
		}
		if m.job == nil {
			if err := w.endBatch(m); err != nil {
				return err
			}
		} else if err := w.take(m); err != nil {
			return fmt.Errorf("archive %s: %w", m.job.path, err)
		}
	}
	return nil
}

// save commits, or, where everything is to be one transaction, empties what is
// held in memory for it.
func (w *writer) save() error {
	if !w.whole {
		return w.commit()
	}
	return w.flushRows()
}

// end commits what is left, or gives up what was not committed.
func (w *writer) end(good bool) error {
	if w.tx == nil {
		return nil
	}
	if !good {
		w.a.cache.clear()
		return w.release(w.tx.Rollback)
	}
	if err := w.complete(); err != nil {
		return errors.Join(err, w.end(false))
	}
	return w.commit()
}

// complete does what comes before the last commit.
func (w *writer) complete() error {
	if err := w.flushRows(); err != nil {
		return err
	}
	if w.bulk {
		if _, err := w.tx.Exec(indexesSQL); err != nil {
			return err
		}
	}
	if _, err := w.tx.Exec("INSERT OR IGNORE INTO made(what, sum) VALUES ('born', ?)", rand.Text()); err != nil {
		return err
	}
	if w.after == nil {
		return nil
	}
	return w.after()
}

func (w *writer) begin(ctx context.Context) error {
	if w.tx != nil {
		return nil
	}
	// A transaction that a cancelled context rolls back by itself could do so
	// in the middle of a statement; the writer ends it at its own pace.
	ctx = context.WithoutCancel(ctx)
	conn, err := w.a.db.Conn(ctx)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	w.conn, w.tx, w.stmts, w.rows = conn, tx, map[string]*sql.Stmt{}, w.rows[:0]
	w.origins, w.held = map[origin]int64{}, map[holding]bool{}
	if w.bulk {
		// Whoever is killed before they are made again leaves that to the next
		// refresh.
		const drop = "DROP INDEX IF EXISTS items_type; DROP INDEX IF EXISTS items_tool; DROP INDEX IF EXISTS items_call"
		if _, err := tx.Exec(drop); err != nil {
			return err
		}
	}
	return tx.QueryRow("SELECT coalesce(max(id), 0) + 1, (SELECT coalesce(max(id), 0) + 1 FROM blocks) FROM items").
		Scan(&w.nextID, &w.nextBlock)
}

func (w *writer) commit() error {
	err := w.flushRows()
	if err == nil {
		err = w.balance()
	}
	if err == nil {
		err = w.markCopies()
	}
	if err != nil {
		return errors.Join(err, w.end(false))
	}
	return w.release(w.tx.Commit)
}

// release ends the transaction and gives its connection back.
func (w *writer) release(end func() error) error {
	err := errors.Join(end(), w.conn.Close())
	w.conn, w.tx = nil, nil
	return err
}

func (w *writer) exec(query string, args ...any) (sql.Result, error) {
	s := w.stmts[query]
	if s == nil {
		var err error
		if s, err = w.tx.Prepare(query); err != nil {
			return nil, err
		}
		w.stmts[query] = s
	}
	return s.Exec(args...)
}

func (w *writer) take(m message) error {
	j := m.job
	if j.id == 0 {
		if err := w.openSource(j); err != nil {
			return err
		}
	}
	if m.done {
		return w.closeSource(j)
	}
	return w.putChunk(j, m.chunk)
}

// openSource makes the row of a source, or takes back the block that is read
// again.
func (w *writer) openSource(j *job) error {
	generation := 0
	if s := j.known; s != nil {
		if !j.replaced {
			j.id = s.id
			return w.dropBlock(s.id, j.dropPos)
		}
		w.report.Replaced++
		generation = s.generation + 1
		if _, err := w.exec("UPDATE sources SET state = 'replaced' WHERE id = ?", s.id); err != nil {
			return err
		}
	}
	res, err := w.exec("INSERT INTO sources(kind, path, generation, run) VALUES (?, ?, ?, ?)",
		j.kind, j.path, generation, runOf(j.kind, j.path))
	if err != nil {
		return err
	}
	j.id, err = res.LastInsertId()
	return err
}

// runOf names the run that a source is of: that of its record, or the session,
// to which its subagents belong.
func runOf(kind, path string) string {
	if kind == claude.Kind.Name {
		file, _ := claude.Locate(path)
		return file.Session
	}
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), record.Extension), ".jsonl")
	if kind == codex.Kind.Name && len(base) > 36 {
		return base[len(base)-36:] // rollout-<time>-<thread>
	}
	if k := session.OfName(kind); k != nil && kind != codex.Kind.Name {
		if file := session.Of(path, k); file.Session != "" {
			return file.Session
		}
	}
	return base
}

func (w *writer) dropBlock(id, pos int64) error {
	if pos < 0 {
		return nil
	}
	var block, first, count int64
	err := w.tx.QueryRow("SELECT block, first, count FROM source_blocks WHERE source = ? AND pos = ?", id, pos).
		Scan(&block, &first, &count)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	w.report.Entries -= count
	for _, step := range []struct {
		query string
		args  []any
	}{
		{"DELETE FROM usage_rows WHERE item >= ? AND item < ?", []any{first, first + count}},
		{"DELETE FROM sums WHERE item >= ? AND item < ?", []any{first, first + count}},
		{"DELETE FROM items WHERE id >= ? AND id < ?", []any{first, first + count}},
		{"DELETE FROM source_blocks WHERE source = ? AND pos = ?", []any{id, pos}},
		{"UPDATE sources SET pos = ? WHERE id = ?", []any{pos, id}},
		{"DELETE FROM blocks WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM source_blocks WHERE block = ?1)",
			[]any{block}},
	} {
		if _, err := w.exec(step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) putChunk(j *job, c *chunk) error {
	block, err := w.putBlock(c)
	if err != nil {
		return err
	}
	first, count := w.nextID, int64(len(c.items))
	if err := w.addRows(j, block, c.items); err != nil {
		return err
	}
	if _, err := w.exec(`INSERT INTO source_blocks(source, pos, block, seq, first, count, open, cursor)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, j.id, c.pos, block, j.seq, first, count, c.open, c.cursor); err != nil {
		return err
	}
	j.seq += count
	j.entries += count
	w.report.Bytes += int64(c.size)
	w.report.Entries += count
	if w.a.opts.Progress != nil {
		w.a.opts.Progress(w.report.Bytes, w.total)
	}
	_, err = w.exec("UPDATE sources SET pos = ? WHERE id = ?", c.pos+int64(c.size), j.id)
	return err
}

// putBlock stores a block, unless it is there.
func (w *writer) putBlock(c *chunk) (id int64, err error) {
	if c.packed == nil {
		w.packed = w.a.pack(c, w.packed)
	}
	res, err := w.exec("INSERT INTO blocks(id, sum, size, packed) VALUES (?, ?, ?, ?) ON CONFLICT(sum) DO NOTHING",
		w.nextBlock, c.sum[:], c.size, c.packed)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		w.nextBlock++
		return w.nextBlock - 1, err
	}
	return id, w.tx.QueryRow("SELECT id FROM blocks WHERE sum = ?", c.sum[:]).Scan(&id)
}

func (w *writer) origin(o *origin) (any, error) {
	if o == nil {
		return nil, nil
	}
	if id, ok := w.origins[*o]; ok {
		return id, nil
	}
	args := []any{o.prompt, o.adapter, o.source, o.session, o.seat, o.project, o.whose}
	if _, err := w.exec(`INSERT INTO origins(prompt_name, adapter, source, session_id, seat, project, whose)
		VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`, args...); err != nil {
		return nil, err
	}
	var id int64
	err := w.tx.QueryRow(`SELECT id FROM origins WHERE prompt_name = ? AND adapter = ? AND source = ? AND session_id = ?
		AND seat = ? AND project = ? AND whose = ?`, args...).Scan(&id)
	w.origins[*o] = id
	return id, err
}

func (w *writer) closeSource(j *job) error {
	state := "live"
	if j.replay != nil {
		state = j.known.state
	}
	if _, err := w.exec("UPDATE sources SET size = ?, mtime = ?, state = ?, problem = ? WHERE id = ?",
		j.size, j.mtime, state, j.problem, j.id); err != nil {
		return err
	}
	if j.problem != "" {
		w.report.Problems = append(w.report.Problems, j.path+": "+j.problem)
	}
	for column, value := range map[string]string{"header": j.header, "seal": j.seal} {
		if value == "" {
			continue
		}
		if _, err := w.exec("UPDATE sources SET "+column+" = ? WHERE id = ?", value, j.id); err != nil {
			return err
		}
	}
	if j.replaced {
		if err := w.forgetCopies(j); err != nil {
			return err
		}
	}
	if !j.judged {
		return nil
	}
	if _, err := w.exec("DELETE FROM findings WHERE source = ?", j.id); err != nil {
		return err
	}
	for _, f := range j.findings {
		if _, err := w.exec("INSERT INTO findings(source, rule, turn, frame, what) VALUES (?, ?, ?, ?, ?)",
			j.id, f.Rule, f.Turn, int64(f.Frame), string(w.a.clean([]byte(f.What)))); err != nil {
			return err
		}
	}
	return nil
}

// forgetCopies takes the entries of a replaced file out that its successor has
// too. The raw store keeps both files.
func (w *writer) forgetCopies(j *job) error {
	if err := w.flushRows(); err != nil {
		return err
	}
	const copies = `SELECT old.id FROM items old WHERE old.source = ?1 AND (old.doc IS NULL OR EXISTS (
		SELECT 1 FROM items new WHERE new.doc = old.doc AND new.source = ?2))`
	for _, table := range []string{"usage_rows", "sums"} {
		if _, err := w.exec("DELETE FROM "+table+" WHERE item IN ("+copies+")", j.known.id, j.id); err != nil {
			return err
		}
	}
	_, err := w.exec("DELETE FROM items WHERE id IN ("+copies+")", j.known.id, j.id)
	return err
}
