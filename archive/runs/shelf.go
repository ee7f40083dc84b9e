package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"conclave/archive"
	kinds "conclave/archive/source"
)

// Shelf is the runs of an archive. Its methods are safe for concurrent use.
type Shelf struct {
	a *archive.Archive

	mu         sync.Mutex
	loaded     bool
	sources    map[int64]*source
	byRun      map[string][]*source
	origins    map[int64]*origin
	lastOrigin int64
	ledger     ledger
	sheets     []*Sheet // the one that was asked for last first
	texts      texts
	made       map[string]Run // summaries, until their run changes
	rebuilt    string         // see Archive.Rebuilt
	unkept     bool           // something has changed since Keep
	pending    []string       // runs of which it is still to be told that they have changed
}

// source is a file that was taken up, and what is known of its lanes.
type source struct {
	id, generation         int64
	kind, path, run, state string
	pos, size, mtime       int64
	began                  int64 // microseconds since 1970; 0: not known
	attributes             map[string]string
	sealed                 bool
	shared                 bool             // another source holds entries of its sessions, too
	at                     int64            // the place of its last block; -1: not looked at
	first                  int64            // the id of that block's first entry
	before, after          map[int64]*tally // by origin: of the blocks before that one, and of it
	spent                  map[string]*spending
}

// origin is what the entries of a lane have in common.
type origin struct{ prompt, adapter, agent, session, seat, project string }

// New returns the runs of an archive. Update fills it.
func New(a *archive.Archive) *Shelf {
	s := &Shelf{a: a}
	s.forget()
	return s
}

// forget lets go of everything that numbers of rows stand in.
func (s *Shelf) forget() {
	s.sources, s.byRun, s.origins, s.lastOrigin = map[int64]*source{}, map[string][]*source{}, map[int64]*origin{}, 0
	s.ledger = ledger{prices: s.a.Prices(), held: map[digest]*entryCost{}, parents: map[string]string{}}
	s.made, s.texts, s.loaded = map[string]Run{}, texts{}, false
	for _, h := range s.sheets {
		h.pieces = nil
	}
}

// Update takes up what has changed in the archive, in the files of these paths or
// in all, and names the runs that it changed. The first time it takes up all and
// names none.
func (s *Shelf) Update(ctx context.Context, paths ...string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, err := s.update(ctx, paths)
	if err != nil {
		return nil, err
	}
	names = append(s.pending, names...)
	s.pending = nil
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Reread is Update for who has found that something is not as the shelf has it. The
// next Update names the runs.
func (s *Shelf) Reread(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, err := s.update(ctx, nil)
	s.pending = append(s.pending, names...)
	return err
}

func (s *Shelf) update(ctx context.Context, paths []string) ([]string, error) {
	mark, err := s.a.Rebuilt(ctx)
	if err != nil {
		return nil, err
	}
	if s.loaded && mark != s.rebuilt {
		return s.reload(ctx, mark)
	}
	if !s.loaded {
		err := s.recall(ctx, mark)
		if errors.Is(err, errNotKept) {
			s.forget()
			s.unkept = true
			err = s.load(ctx)
		}
		if err != nil {
			s.forget()
			return nil, fmt.Errorf("read the runs of the archive: %w", err)
		}
		s.loaded, s.rebuilt = true, mark
		return nil, nil
	}
	changed, err := s.readSources(ctx, paths)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	return s.follow(ctx, changed)
}

// follow takes up sources that have changed, and names their runs.
func (s *Shelf) follow(ctx context.Context, changed []*source) ([]string, error) {
	s.unkept = true
	if err := s.readOrigins(ctx); err != nil {
		return nil, err
	}
	all, err := s.withSharers(ctx, changed)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, src := range all {
		from := src.first
		if err := s.recount(ctx, src); err != nil {
			return nil, err
		}
		if err := s.ledger.add(ctx, s.a.Reader(), src, from); err != nil {
			return nil, err
		}
		names = append(names, src.run)
	}
	if err := s.ledger.unwritten(ctx, s.a.Reader(), s.sources); err != nil {
		return nil, err
	}
	clear(s.made) // a response may have gone from one run to another
	return names, nil
}

// reload takes up an archive that was rebuilt. It names the runs that somebody reads,
// whose rows are others now, and those that have changed as well.
func (s *Shelf) reload(ctx context.Context, mark string) (names []string, err error) {
	before := s.sources
	s.forget()
	s.unkept = true
	if err := s.load(ctx); err != nil {
		return nil, fmt.Errorf("read the rebuilt archive: %w", err)
	}
	s.loaded, s.rebuilt = true, mark
	for _, h := range s.sheets {
		names = append(names, h.Run)
	}
	for id, src := range s.sources {
		if old := before[id]; old == nil || !old.same(src) {
			names = append(names, src.run)
		}
	}
	return names, nil
}

// same: nothing of a source has changed.
func (src *source) same(o *source) bool {
	return src.pos == o.pos && src.size == o.size && src.mtime == o.mtime && src.state == o.state
}

func (s *Shelf) load(ctx context.Context) error {
	changed, err := s.readSources(ctx, nil)
	if err != nil {
		return err
	}
	if err := s.readOrigins(ctx); err != nil {
		return err
	}
	if len(changed) == 0 {
		return nil
	}
	var tallied error
	var tallying sync.WaitGroup
	tallying.Go(func() { tallied = s.tallyAll(ctx) }) // what it fills nobody else looks at
	err = s.spendAll(ctx)
	tallying.Wait()
	return errors.Join(err, tallied)
}

// spendAll finds out what every response cost, and whom it counts for.
func (s *Shelf) spendAll(ctx context.Context) error {
	if err := s.readHoldings(ctx); err != nil {
		return err
	}
	if err := s.ledger.addAll(ctx, s.a.Reader(), s.sources); err != nil {
		return err
	}
	return s.ledger.unwritten(ctx, s.a.Reader(), s.sources)
}

const sourceColumns = `SELECT id, generation, kind, path, run, state, pos, size, mtime, header, seal <> ''
	FROM sources`

// readSources reads the rows of sources and returns those that have changed.
func (s *Shelf) readSources(ctx context.Context, paths []string) (changed []*source, err error) {
	query, args := sourceColumns, []any{}
	if len(paths) > 0 && len(paths) <= 500 {
		query += " WHERE path IN (?" + strings.Repeat(",?", len(paths)-1) + ")"
		for _, p := range paths {
			args = append(args, p)
		}
	}
	rows, err := s.a.Reader().QueryContext(ctx, query+" ORDER BY id", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		n, header := source{at: -1}, ""
		if err := rows.Scan(&n.id, &n.generation, &n.kind, &n.path, &n.run, &n.state, &n.pos, &n.size, &n.mtime,
			&header, &n.sealed); err != nil {
			return nil, err
		}
		have := s.sources[n.id]
		if have == nil {
			n.attributes = attributesOf(header)
			have = &n
			s.sources[n.id] = have
			s.byRun[n.run] = append(s.byRun[n.run], have)
		} else if have.same(&n) {
			continue
		}
		if have.attributes == nil {
			have.attributes = attributesOf(header)
		}
		have.state, have.pos, have.size, have.mtime, have.sealed = n.state, n.pos, n.size, n.mtime, n.sealed
		changed = append(changed, have)
	}
	return changed, rows.Err()
}

func (s *Shelf) readOrigins(ctx context.Context) error {
	rows, err := s.a.Reader().QueryContext(ctx, `SELECT id, prompt_name, adapter, source, session_id, seat, project
		FROM origins WHERE id > ?`, s.lastOrigin)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		o := new(origin)
		if err := rows.Scan(&id, &o.prompt, &o.adapter, &o.agent, &o.session, &o.seat, &o.project); err != nil {
			return err
		}
		s.origins[id], s.lastOrigin = o, max(s.lastOrigin, id)
	}
	return rows.Err()
}

// readHoldings finds out of all sources when their sessions began, and which of
// them share one.
func (s *Shelf) readHoldings(ctx context.Context) error {
	rows, err := s.a.Reader().QueryContext(ctx, `SELECT source, max(began), max((SELECT count(*) FROM holdings x
		WHERE x.whose = h.whose)) FROM holdings h GROUP BY source`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, began, sharers int64
		if err := rows.Scan(&id, &began, &sharers); err != nil {
			return err
		}
		if src := s.sources[id]; src != nil {
			src.began, src.shared = began, sharers > 1
		}
	}
	return rows.Err()
}

// withSharers adds the sources that hold entries of the same sessions: which of
// them shows an entry may have changed.
func (s *Shelf) withSharers(ctx context.Context, changed []*source) ([]*source, error) {
	all := slices.Clone(changed)
	for _, src := range changed {
		rows, err := s.a.Reader().QueryContext(ctx, `SELECT DISTINCT h.source, h.began FROM holdings m
			JOIN holdings h ON h.whose = m.whose WHERE m.source = ?`, src.id)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var id, began int64
			if err := rows.Scan(&id, &began); err != nil {
				return nil, errors.Join(err, rows.Close())
			}
			if id == src.id {
				src.began = began
				continue
			}
			other := s.sources[id]
			if other == nil {
				continue // it is new, and comes with the next update
			}
			src.shared, other.shared = true, true
			other.at, other.first, src.at, src.first = -1, 0, -1, 0
			if !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// isNone says that a query found nothing.
func isNone(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// Records are the files of all records.
func (s *Shelf) Records() (files []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, src := range s.sources {
		if src.kind == kinds.Record {
			files = append(files, src.path)
		}
	}
	slices.Sort(files)
	return files
}

// Held is the sheet of a run if somebody has asked for it lately, else nil.
func (s *Shelf) Held(ctx context.Context, run string) (*Sheet, error) {
	s.mu.Lock()
	held := slices.ContainsFunc(s.sheets, func(h *Sheet) bool { return h.Run == run })
	s.mu.Unlock()
	if !held {
		return nil, nil
	}
	return s.Sheet(ctx, run)
}
