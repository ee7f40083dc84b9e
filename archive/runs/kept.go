package runs

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"slices"

	"conclave/internal/atomicfile"
	"conclave/internal/kept"
	"conclave/transcript"
)

// keptForm begins a kept shelf. It goes up with what stands in it.
const keptForm = "conclave runs 2\n"

var errNotKept = errors.New("no shelf of this archive was kept")

// keptFile is where a shelf is kept, beside its archive.
func (s *Shelf) keptFile() string { return s.a.Path() + ".runs" }

// Keep writes down the figures of all sources, for who opens the archive next: to
// count them again takes as long as to read every row of it. Where nothing has
// changed since, it writes nothing.
func (s *Shelf) Keep() error {
	s.mu.Lock()
	if !s.loaded || !s.unkept || s.rebuilt == "" {
		s.mu.Unlock()
		return nil
	}
	data := s.keep()
	s.unkept = false
	s.mu.Unlock()
	return atomicfile.Replace(s.keptFile(), data, 0o600)
}

// recall takes up what was kept of this very archive, and what has changed since then
// as Update does. errNotKept: there is nothing, or it is of another one.
func (s *Shelf) recall(ctx context.Context, mark string) error {
	data, err := os.ReadFile(s.keptFile())
	if err != nil || mark == "" || !s.unfold(data, mark) {
		return errNotKept
	}
	known, err := s.agrees(ctx)
	if err != nil {
		return err
	}
	if !known {
		return errNotKept
	}
	if err := s.readOrigins(ctx); err != nil {
		return err
	}
	changed, err := s.readSources(ctx, nil)
	if err != nil {
		return err
	}
	if len(changed) == 0 {
		return s.ledger.unwritten(ctx, s.a.Reader(), s.sources)
	}
	_, err = s.follow(ctx, changed)
	return err
}

// agrees says whether every source that was kept is one of the archive, and has its
// last block where it had it, if nothing has come since.
func (s *Shelf) agrees(ctx context.Context) (bool, error) {
	rows, err := s.a.Reader().QueryContext(ctx, `WITH b AS MATERIALIZED (`+lastBlocks+`)
		SELECT id, path, run, generation, state, pos, size, mtime, coalesce(b.last, -1), coalesce(b.first, 0)
		FROM sources LEFT JOIN b ON b.source = id`)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	known := 0
	for rows.Next() {
		var n source
		if err := rows.Scan(&n.id, &n.path, &n.run, &n.generation, &n.state, &n.pos, &n.size, &n.mtime,
			&n.at, &n.first); err != nil {
			return false, err
		}
		have := s.sources[n.id]
		if have == nil {
			continue
		}
		known++
		if n.path != have.path || n.run != have.run || n.generation != have.generation ||
			n.same(have) && (n.at != have.at || n.first != have.first) {
			return false, nil
		}
	}
	return known == len(s.sources), rows.Err()
}

// keep is the shelf as a file.
func (s *Shelf) keep() []byte {
	w := &kept.Writer{}
	w.Text(s.rebuilt)
	w.Number(int64(len(s.sources)))
	for _, src := range s.sources {
		src.keep(w)
	}
	keepTexts(w, s.ledger.parents)
	w.Number(int64(len(s.ledger.held)))
	var sum [16]byte
	for d, e := range s.ledger.held {
		binary.LittleEndian.PutUint64(sum[:], d[0])
		binary.LittleEndian.PutUint64(sum[8:], d[1])
		w.Bytes(sum[:])
		w.Name(e.model)
		w.Number(e.source.id, e.item, e.at, e.Input, e.Output, e.CacheRead, e.CacheWrite, e.CacheWrite1h, e.Searches)
	}
	return w.Seal(keptForm)
}

// unfold takes what keep gave; false: it is not that, or of another archive.
func (s *Shelf) unfold(data []byte, mark string) bool {
	r, ok := kept.Open(keptForm, data)
	if !ok || r.Text() != mark {
		return false
	}
	for range r.Count() {
		src := unfoldSource(r)
		s.sources[src.id] = src
		s.byRun[src.run] = append(s.byRun[src.run], src)
	}
	for _, list := range s.byRun {
		slices.SortFunc(list, func(a, b *source) int { return cmp.Compare(a.id, b.id) })
	}
	s.ledger.parents = unfoldTexts(r)
	held := make([]entryCost, r.Count())
	s.ledger.held = make(map[digest]*entryCost, len(held))
	for i := range held {
		e := &held[i]
		sum := r.Bytes(16)
		e.model = r.Name()
		var id int64
		r.Numbers(&id, &e.item, &e.at, &e.Input, &e.Output, &e.CacheRead, &e.CacheWrite, &e.CacheWrite1h, &e.Searches)
		if e.source = s.sources[id]; e.source == nil {
			return false
		}
		s.ledger.price(e)
		s.ledger.held[digest{binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])}] = e
		e.source.spend(e, 1)
	}
	return r.Whole()
}

func keepTexts(w *kept.Writer, m map[string]string) {
	w.Number(int64(len(m)))
	for k, v := range m {
		w.Text(k)
		w.Text(v)
	}
}

func unfoldTexts(r *kept.Reader) map[string]string {
	m := map[string]string{}
	for range r.Count() {
		k := r.Text()
		m[k] = r.Text()
	}
	return m
}

func (src *source) keep(w *kept.Writer) {
	w.Number(src.id, src.generation, src.pos, src.size, src.mtime, src.began, src.at, src.first)
	w.Text(src.path)
	w.Text(src.run)
	w.Name(src.kind)
	w.Name(src.state)
	w.Yes(src.sealed)
	w.Yes(src.shared)
	keepTexts(w, src.attributes)
	w.Number(int64(len(src.spent))) // of models whose responses count elsewhere, too
	for model := range src.spent {
		w.Name(model)
	}
	keepTallies(w, src.before)
	keepTallies(w, src.after)
}

func unfoldSource(r *kept.Reader) *source {
	src := new(source)
	r.Numbers(&src.id, &src.generation, &src.pos, &src.size, &src.mtime, &src.began, &src.at, &src.first)
	src.path, src.run, src.kind, src.state = r.Text(), r.Text(), r.Name(), r.Name()
	src.sealed, src.shared = r.Yes(), r.Yes()
	if src.attributes = unfoldTexts(r); len(src.attributes) == 0 {
		src.attributes = nil
	}
	for range r.Count() {
		if src.spent == nil {
			src.spent = map[string]*spending{}
		}
		src.spent[r.Name()] = new(spending)
	}
	src.before, src.after = unfoldTallies(r), unfoldTallies(r)
	return src
}

func keepTallies(w *kept.Writer, m map[int64]*tally) {
	w.Number(int64(len(m)))
	for org, t := range m {
		w.Number(org, int64(t.entries), t.least, t.first, t.last, t.prompt, t.said)
		w.Name(string(t.saidType))
		w.Number(int64(len(t.copies)))
		for src, n := range t.copies {
			w.Number(src, int64(n))
		}
	}
}

func unfoldTallies(r *kept.Reader) (m map[int64]*tally) {
	for range r.Count() {
		t := new(tally)
		var org, entries int64
		r.Numbers(&org, &entries, &t.least, &t.first, &t.last, &t.prompt, &t.said)
		t.entries, t.saidType = int(entries), transcript.Type(r.Name())
		for range r.Count() {
			if t.copies == nil {
				t.copies = map[int64]int{}
			}
			src := r.Number()
			t.copies[src] = int(r.Number())
		}
		if m == nil {
			m = map[int64]*tally{}
		}
		m[org] = t
	}
	return m
}
