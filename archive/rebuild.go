package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"conclave/archive/source"
	"conclave/internal/lockfile"
	"conclave/record"
	"conclave/workspace"
)

// Rebuild makes everything that is derived anew from the raw store, in one
// transaction: others see the archive as it was until it is done. A block that
// is damaged is read from its file again, if that is still there.
func (a *Archive) Rebuild(ctx context.Context) (Report, error) {
	began := time.Now()
	lock, err := lockfile.WaitLock(ctx, a.path+".lock", "rebuild of the archive")
	if err != nil {
		return Report{}, fmt.Errorf("wait for the archive: %w", err)
	}
	defer lock.Unlock()
	rep, err := a.rebuild(ctx)
	rep.Took = time.Since(began).Seconds()
	return rep, err
}

func (a *Archive) rebuild(ctx context.Context) (Report, error) {
	var rep Report
	jobs, total, err := a.replays(ctx)
	if err != nil {
		return rep, err
	}
	rep.Files, rep.Changed = len(jobs), len(jobs)
	w := &writer{a: a, report: &rep, total: total, whole: true, bulk: true}
	if err := w.begin(ctx); err != nil {
		return rep, err
	}
	if err := w.wipe(); err != nil {
		return rep, errors.Join(err, w.end(false))
	}
	w.after = w.tidy
	err = w.run(ctx, jobs)
	if len(jobs) == 0 {
		err = w.end(true)
	}
	a.cache.clear()
	return rep, err
}

// wipe takes out what is derived, and how sources are made of blocks. The numbers of
// rows go on: who holds one of before finds nothing by it, and not another entry.
func (w *writer) wipe() error {
	_, err := w.tx.Exec(`DELETE FROM items; DELETE FROM usage_rows; DELETE FROM sums; DELETE FROM unwritten;
		DELETE FROM origins; DELETE FROM holdings;
		DELETE FROM source_blocks;
		INSERT INTO words(words) VALUES('delete-all');`)
	return err
}

// tidy ends a rebuild: copies in replaced files are taken out again, and
// blocks that nobody needs any more.
func (w *writer) tidy() error {
	rows, err := w.tx.Query(`SELECT old.id, new.id FROM sources old JOIN sources new
		ON new.path = old.path AND new.generation = old.generation + 1 ORDER BY old.generation`)
	if err != nil {
		return err
	}
	var pairs [][2]int64
	for rows.Next() {
		var p [2]int64
		if err := rows.Scan(&p[0], &p[1]); err != nil {
			return errors.Join(err, rows.Close())
		}
		pairs = append(pairs, p)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, p := range pairs {
		if err := w.forgetCopies(&job{known: &sourceRow{id: p[0]}, id: p[1]}); err != nil {
			return err
		}
	}
	_, err = w.tx.Exec(`DELETE FROM blocks WHERE id NOT IN (SELECT block FROM source_blocks);
		INSERT INTO made(what, sum) VALUES ('rebuilt', '1') ON CONFLICT DO UPDATE SET sum = CAST(sum AS INTEGER) + 1`)
	return err
}

// Rebuilt is another text for every archive, and after every rebuild, whoever made it:
// the numbers of all rows are others than before. It is empty where no refresh has
// changed the archive yet.
func (a *Archive) Rebuilt(ctx context.Context) (mark string, err error) {
	err = a.reader.QueryRowContext(ctx, `SELECT b.sum || ' ' || coalesce((SELECT sum FROM made WHERE what = 'rebuilt'), '')
		FROM made b WHERE b.what = 'born'`).Scan(&mark)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return mark, err
}

// replays makes a job of every source.
func (a *Archive) replays(ctx context.Context) (jobs []*job, total int64, err error) {
	rows, err := a.db.QueryContext(ctx, `SELECT id, kind, path, generation, state, size, mtime FROM sources
		WHERE kind <> 'bundle' ORDER BY pos DESC`)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		s := new(sourceRow)
		if err := rows.Scan(&s.id, &s.kind, &s.path, &s.generation, &s.state, &s.size, &s.mtime); err != nil {
			return nil, 0, err
		}
		j := &job{path: s.path, size: s.size, mtime: s.mtime, known: s, kind: s.kind, dropPos: -1}
		if j.replay, err = a.blockReader(ctx, s.id); err != nil {
			return nil, 0, err
		}
		total += j.replay.size
		jobs = append(jobs, j)
	}
	return jobs, total, rows.Err()
}

// cutReplay reads a source from the raw store.
func (a *Archive) cutReplay(j *job, c *cutter) error {
	src, size := io.ReaderAt(j.replay), j.replay.size
	if err := j.replay.check(); errors.Is(err, errDamaged) {
		f, ferr := workspace.OpenNamed(j.path)
		if ferr != nil || j.known.state == "replaced" {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		src, size = f, min(info.Size(), size)
	} else if err != nil {
		return err
	}
	if j.kind == source.Record {
		return a.cutRecord(j, c, src, record.Cursor{})
	}
	feed := a.newFeed(j)
	c.feed = feed
	if s, ok := feed.(*sessionFeed); ok {
		if err := s.identify(io.NewSectionReader(src, 0, size)); err != nil {
			return err
		}
		j.began = s.began
	}
	return c.lines(io.NewSectionReader(src, 0, size), 0, false)
}

// blockReader reads a source from its blocks.
type blockReader struct {
	a    *Archive
	pos  []int64
	ids  []int64
	size int64
}

func (a *Archive) blockReader(ctx context.Context, id int64) (*blockReader, error) {
	rows, err := a.reader.QueryContext(ctx, `SELECT sb.pos, sb.block, b.size FROM source_blocks sb
		JOIN blocks b ON b.id = sb.block WHERE sb.source = ? ORDER BY sb.pos`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := &blockReader{a: a}
	for rows.Next() {
		var pos, block, size int64
		if err := rows.Scan(&pos, &block, &size); err != nil {
			return nil, err
		}
		if pos != r.size {
			return nil, fmt.Errorf("source %d has no block for byte %d", id, r.size)
		}
		r.pos, r.ids, r.size = append(r.pos, pos), append(r.ids, block), pos+size
	}
	return r, rows.Err()
}

// ReadAt implements io.ReaderAt.
func (r *blockReader) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if at >= r.size {
			return n, io.EOF
		}
		i := sort.Search(len(r.pos), func(i int) bool { return r.pos[i] > at }) - 1
		raw, err := r.a.block(r.ids[i])
		if err != nil {
			return n, err
		}
		n += copy(p[n:], raw[at-r.pos[i]:])
	}
	return n, nil
}

// check holds every block against its digest.
func (r *blockReader) check() error {
	for _, id := range r.ids {
		raw, sum, err := r.a.loadBlock(id)
		if err != nil {
			return err
		}
		if !sumMatches(raw, sum) {
			return fmt.Errorf("block %d: %w", id, errDamaged)
		}
	}
	return nil
}

// Restore writes out a source as it was, gone or not: the run's record, or the
// session's file. A file goes by its name, too: so those of subagents are found.
func (a *Archive) Restore(ctx context.Context, w io.Writer, run string) error {
	var id int64
	err := a.reader.QueryRowContext(ctx, `SELECT id FROM sources WHERE run = ?1 OR path = ?1
		OR substr(path, -length(?2)) = ?2
		ORDER BY run <> ?1 AND path <> ?1, state = 'replaced', path LIKE '%subagents%',
		(SELECT sum(count) FROM source_blocks b WHERE b.source = sources.id) DESC, pos DESC LIMIT 1`,
		run, string(filepath.Separator)+strings.TrimSuffix(run, ".jsonl")+".jsonl").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("no run %q is in the archive: %w", run, os.ErrNotExist)
	}
	if err != nil {
		return err
	}
	r, err := a.blockReader(ctx, id)
	if err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(r, 0, r.size))
	return err
}
