package runs

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"slices"

	"conclave/internal/atomicfile"
	"conclave/transcript"
)

// keptForm begins a kept shelf. It goes up with what stands in it.
const keptForm = "conclave runs 1\n"

var crcTable = crc32.MakeTable(crc32.Castagnoli)

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

// keep is the shelf as bytes: numbers as varints, texts by their length.
func (s *Shelf) keep() []byte {
	w := folder{b: []byte(keptForm)}
	w.text(s.rebuilt)
	ids := make([]int64, 0, len(s.sources))
	for id := range s.sources {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	w.number(int64(len(ids)))
	for _, id := range ids {
		w.source(s.sources[id])
	}
	w.texts(s.ledger.parents)
	models, number := []string{}, map[string]int64{}
	for _, e := range s.ledger.held {
		if _, ok := number[e.model]; !ok {
			number[e.model] = int64(len(models))
			models = append(models, e.model)
		}
	}
	w.number(int64(len(models)))
	for _, m := range models {
		w.text(m)
	}
	w.number(int64(len(s.ledger.held)))
	for d, e := range s.ledger.held {
		w.b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(w.b, d[0]), d[1])
		w.number(e.source.id, e.item, number[e.model], e.at,
			e.Input, e.Output, e.CacheRead, e.CacheWrite, e.CacheWrite1h, e.Searches)
	}
	return binary.LittleEndian.AppendUint32(w.b, crc32.Checksum(w.b, crcTable))
}

// unfold takes what keep gave; false: it is not that, or of another archive.
func (s *Shelf) unfold(data []byte, mark string) bool {
	end := len(data) - 4
	if end < len(keptForm) || string(data[:len(keptForm)]) != keptForm ||
		binary.LittleEndian.Uint32(data[end:]) != crc32.Checksum(data[:end], crcTable) {
		return false
	}
	r := unfolder{b: data[len(keptForm):end]}
	if r.text() != mark {
		return false
	}
	for range r.count() {
		src := r.source()
		s.sources[src.id] = src
		s.byRun[src.run] = append(s.byRun[src.run], src)
	}
	s.ledger.parents = r.texts()
	models := make([]string, r.count())
	for i := range models {
		models[i] = r.text()
	}
	held := make([]entryCost, r.count())
	s.ledger.held = make(map[digest]*entryCost, len(held))
	for i := range held {
		e := &held[i]
		d := digest{r.fixed(), r.fixed()}
		id, model := int64(0), int64(0)
		r.numbers(&id, &e.item, &model, &e.at,
			&e.Input, &e.Output, &e.CacheRead, &e.CacheWrite, &e.CacheWrite1h, &e.Searches)
		if e.source = s.sources[id]; e.source == nil || model < 0 || model >= int64(len(models)) {
			return false
		}
		e.model = models[model]
		s.ledger.price(e)
		s.ledger.held[d] = e
		e.source.spend(e, 1)
	}
	return !r.bad && len(r.b) == 0
}

// folder writes what a shelf is.
type folder struct{ b []byte }

func (w *folder) number(list ...int64) {
	for _, n := range list {
		w.b = binary.AppendVarint(w.b, n)
	}
}

func (w *folder) text(s string) {
	w.number(int64(len(s)))
	w.b = append(w.b, s...)
}

func (w *folder) yes(list ...bool) {
	for _, y := range list {
		n := int64(0)
		if y {
			n = 1
		}
		w.number(n)
	}
}

func (w *folder) texts(m map[string]string) {
	w.number(int64(len(m)))
	for k, v := range m {
		w.text(k)
		w.text(v)
	}
}

func (w *folder) source(src *source) {
	w.number(src.id, src.generation, src.pos, src.size, src.mtime, src.began, src.at, src.first)
	for _, s := range []string{src.kind, src.path, src.run, src.state} {
		w.text(s)
	}
	w.yes(src.sealed, src.shared)
	w.texts(src.attributes)
	w.number(int64(len(src.spent))) // of models whose responses count elsewhere, too
	for model := range src.spent {
		w.text(model)
	}
	w.tallies(src.before)
	w.tallies(src.after)
}

func (w *folder) tallies(m map[int64]*tally) {
	w.number(int64(len(m)))
	for org, t := range m {
		w.number(org, int64(t.entries), t.least, t.first, t.last, t.prompt, t.said)
		w.text(string(t.saidType))
		w.number(int64(len(t.copies)))
		for src, n := range t.copies {
			w.number(src, int64(n))
		}
	}
}

// unfolder reads it again. What is not as it was written makes it bad, and all the
// rest nothing.
type unfolder struct {
	b   []byte
	bad bool
}

func (r *unfolder) number() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *unfolder) numbers(list ...*int64) {
	for _, n := range list {
		*n = r.number()
	}
}

// count is how many of something follow: each takes a byte at least.
func (r *unfolder) count() int {
	n := r.number()
	if n < 0 || n > int64(len(r.b)) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n)
}

func (r *unfolder) fixed() uint64 {
	if len(r.b) < 8 {
		r.bad, r.b = true, nil
		return 0
	}
	n := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return n
}

func (r *unfolder) text() string {
	n := r.count()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *unfolder) texts() map[string]string {
	m := map[string]string{}
	for range r.count() {
		k := r.text()
		m[k] = r.text()
	}
	return m
}

func (r *unfolder) source() *source {
	src := new(source)
	r.numbers(&src.id, &src.generation, &src.pos, &src.size, &src.mtime, &src.began, &src.at, &src.first)
	for _, s := range []*string{&src.kind, &src.path, &src.run, &src.state} {
		*s = r.text()
	}
	src.sealed, src.shared = r.number() != 0, r.number() != 0
	if src.attributes = r.texts(); len(src.attributes) == 0 {
		src.attributes = nil
	}
	for range r.count() {
		if src.spent == nil {
			src.spent = map[string]*spending{}
		}
		src.spent[r.text()] = new(spending)
	}
	src.before, src.after = r.tallies(), r.tallies()
	return src
}

func (r *unfolder) tallies() map[int64]*tally {
	var m map[int64]*tally
	for range r.count() {
		t := new(tally)
		var org, entries int64
		r.numbers(&org, &entries, &t.least, &t.first, &t.last, &t.prompt, &t.said)
		t.entries, t.saidType = int(entries), transcript.Type(r.text())
		for range r.count() {
			if t.copies == nil {
				t.copies = map[int64]int{}
			}
			src := r.number()
			t.copies[src] = int(r.number())
		}
		if m == nil {
			m = map[int64]*tally{}
		}
		m[org] = t
	}
	return m
}
