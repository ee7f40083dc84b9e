package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"conclave/archive/segment"
	"conclave/archive/source"
	"conclave/bundle"
	"conclave/internal/lockfile"
)

// Report is what a refresh did.
type Report struct {
	Files    int      `json:"files"`   // that were looked at
	Changed  int      `json:"changed"` // of them were new or had grown
	Gone     int      `json:"gone"`    // are no longer there; what they held is kept
	Replaced int      `json:"replaced"`
	Bytes    int64    `json:"bytes"` // that were read
	Entries  int64    `json:"entries"`
	Problems []string `json:"problems,omitempty"`
	Took     float64  `json:"seconds"`
}

// sourceRow is a row of the table of sources.
type sourceRow struct {
	id         int64
	kind       string
	path       string
	generation int
	state      string
	pos, size  int64
	mtime      int64
}

// job is a source to be taken up.
type job struct {
	path  string
	size  int64
	mtime int64
	known *sourceRow // nil: it is new
	kind  string

	// What the worker found out, for the writer.
	replaced bool
	dropPos  int64 // the open block to be read again; -1: none
	seq      int64
	id       int64 // of the source, once it is written
	problem  string
	fault    error // what the problem was
	header   string
	seal     string
	findings []Finding
	judged   bool
	entries  int64
	began    int64        // of the session that it is of
	replay   *blockReader // instead of the file: see Rebuild
	bundle   *bundle.Reader
	alone    bool // there will be no other source
}

// Refresh takes up what is new in the files below roots. It waits for another
// refresh of the same archive to end.
func (a *Archive) Refresh(ctx context.Context, roots []string) (Report, error) {
	lock, err := lockfile.WaitLock(ctx, a.path+".lock", "refresh of the archive")
	if err != nil {
		return Report{}, fmt.Errorf("wait for the archive: %w", err)
	}
	defer lock.Unlock()
	return a.refresh(ctx, roots)
}

// TryRefresh is Refresh, unless somebody else is at it: then done is false.
func (a *Archive) TryRefresh(ctx context.Context, roots []string) (rep Report, done bool, err error) {
	lock, err := lockfile.TryLock(a.path+".lock", "refresh of the archive")
	if held := (*lockfile.HeldError)(nil); errors.As(err, &held) {
		return rep, false, nil
	}
	if err != nil {
		return rep, false, err
	}
	defer lock.Unlock()
	rep, err = a.refresh(ctx, roots)
	return rep, true, err
}

func (a *Archive) refresh(ctx context.Context, roots []string) (Report, error) {
	began := time.Now()
	targets, err := source.Find(roots)
	if err != nil {
		return Report{}, err
	}
	known, err := a.sources(ctx)
	if err != nil {
		return Report{}, err
	}
	rep := Report{Files: len(targets)}
	jobs, total, err := a.plan(targets, known, &rep)
	if err != nil {
		return rep, err
	}
	w := &writer{a: a, report: &rep, total: total, bulk: len(known) == 0}
	if !w.bulk {
		if _, err := a.db.ExecContext(ctx, indexesSQL); err != nil {
			return rep, err
		}
	}
	if err := w.missing(ctx, roots, targets, known); err != nil {
		return rep, err
	}
	err = w.run(ctx, jobs)
	rep.Took = time.Since(began).Seconds()
	return rep, err
}

// sources returns the latest generation of every path.
func (a *Archive) sources(ctx context.Context) (map[string]*sourceRow, error) {
	return a.sourcesWhere(ctx, "")
}

func (a *Archive) sourcesWhere(ctx context.Context, where string, args ...any) (map[string]*sourceRow, error) {
	rows, err := a.db.QueryContext(ctx, "SELECT id, kind, path, generation, state, pos, size, mtime FROM sources "+
		where+" ORDER BY generation", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]*sourceRow{}
	for rows.Next() {
		s := new(sourceRow)
		if err := rows.Scan(&s.id, &s.kind, &s.path, &s.generation, &s.state, &s.pos, &s.size, &s.mtime); err != nil {
			return nil, err
		}
		known[s.path] = s
	}
	return known, rows.Err()
}

// plan picks the files that have something new.
func (a *Archive) plan(
	targets []source.File, known map[string]*sourceRow, rep *Report,
) (jobs []*job, total int64, err error) {
	for _, t := range targets {
		j := &job{path: t.Path, size: t.Size, mtime: t.MTime, known: known[t.Path], dropPos: -1}
		if s := j.known; s != nil {
			if s.size == t.Size && s.mtime == t.MTime && s.state == "live" {
				continue
			}
			j.kind = s.kind
			total += max(t.Size-s.pos, 0)
		} else {
			if j.kind, err = source.Kind(t.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				rep.Problems = append(rep.Problems, err.Error())
			}
			if j.kind == "" || j.kind == source.Bundle {
				continue // a bundle is a copy of what others have
			}
			total += t.Size
		}
		jobs = append(jobs, j)
	}
	rep.Changed = len(jobs)
	return jobs, total, nil
}

// missing marks the sources below roots whose files are gone.
func (w *writer) missing(
	ctx context.Context, roots []string, targets []source.File, known map[string]*sourceRow,
) error {
	here := map[string]bool{}
	for _, t := range targets {
		here[t.Path] = true
	}
	for path, s := range known {
		if here[path] || s.state != "live" || s.kind == source.Bundle || !below(path, roots) {
			continue
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		w.report.Gone++
		if _, err := w.a.db.ExecContext(ctx, "UPDATE sources SET state = 'gone' WHERE id = ?", s.id); err != nil {
			return err
		}
	}
	return nil
}

func below(path string, roots []string) bool {
	const separator = string(filepath.Separator)
	for _, r := range roots {
		abs, err := filepath.Abs(r)
		if err == nil && (path == abs || strings.HasPrefix(path, strings.TrimSuffix(abs, separator)+separator)) {
			return true
		}
	}
	return false
}

// message is what comes to the writer: a chunk of a job, or its end; without a
// job, the words of the chunks since the last such message.
type message struct {
	job     *job
	chunk   *chunk
	done    bool
	segment *segment.Segment // nil: there were none
	last    bool             // no more will come
}

// queue is how many chunks may wait for the writer: as many as workers make
// while it commits, so that nobody stands still. A cache is committed once, and
// its chunks are not packed yet.
func (w *writer) queue() int {
	if w.a.isCache {
		return 64
	}
	return 512
}

// run reads the jobs with as many workers as there are processors, and writes
// what they send.
func (w *writer) run(ctx context.Context, jobs []*job) error {
	if len(jobs) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *job)
	cut := make(chan message, w.queue()/4)
	messages := make(chan message, w.queue())
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		workers.Go(func() {
			for j := range queue {
				if err := w.a.work(ctx, j, cut); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Go(func() {
		defer close(queue)
		for _, j := range jobs {
			select {
			case queue <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	go func() { // ends with the workers, for which write waits
		workers.Wait()
		close(cut)
	}()
	go w.a.index(ctx, cut, messages) // ends with cut
	err := w.write(ctx, messages)
	if err != nil {
		cancel(err)
		for range messages { // let the workers end
		}
	}
	if cause := context.Cause(ctx); err == nil && cause != nil {
		err = cause
	}
	return errors.Join(err, w.end(err == nil))
}

// lastBlock is where a source is read on from; pos is -1 when it has none.
func (a *Archive) lastBlock(id int64) (pos, block, seq int64, cursor []byte, err error) {
	err = a.reader.QueryRow("SELECT pos, block, seq, cursor FROM source_blocks WHERE source = ? ORDER BY pos DESC LIMIT 1", id).
		Scan(&pos, &block, &seq, &cursor)
	if errors.Is(err, sql.ErrNoRows) {
		return -1, 0, 0, nil, nil
	}
	return pos, block, seq, cursor, err
}
