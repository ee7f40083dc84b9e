package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/archive"
	"conclave/archive/source"
	"conclave/internal/price"
	"conclave/session"
	"conclave/session/claude"
)

// Options say what to count. The zero value counts everything.
type Options struct {
	Since, Until time.Time
	// Cache is a file in which what was counted is kept; "" keeps nothing. It
	// can be deleted at any time.
	Cache string
	// By is what to sum by: day, project, model, role or session; "" is day.
	By string
	// Prices are the person's own; they win over the public ones.
	Prices price.List
	// Archive knows of files that are there no more; nil: nobody does.
	Archive *archive.Archive
}

// Report is how many tokens were used, and what they cost.
type Report struct {
	Groups []Group `json:"groups"`
	Total  Group   `json:"total"`
	// Unpriced are models without a known price: the costs do without them.
	Unpriced []string `json:"unpriced_models,omitempty"`
	Files    int      `json:"files"`
	Gone     int      `json:"gone"`   // files that are there no more, and that the archive has
	Bytes    int64    `json:"bytes"`  // of these files
	Read     int64    `json:"read"`   // of which were read now
	Copies   int      `json:"copies"` // responses that were told of more than once
	Problems []string `json:"problems,omitempty"`
}

// Group is a sum.
type Group struct {
	Name       string `json:"name"`
	Responses  int    `json:"responses"`
	Input      int64  `json:"input_tokens"`
	Output     int64  `json:"output_tokens"`
	CacheRead  int64  `json:"cache_read_tokens"`
	CacheWrite int64  `json:"cache_write_tokens"`
	// CacheWrite1h is the part of CacheWrite that is kept for an hour.
	CacheWrite1h int64   `json:"cache_write_1h_tokens,omitempty"`
	Searches     int64   `json:"web_searches,omitempty"`
	Total        int64   `json:"total_tokens"`
	CostUSD      float64 `json:"cost_usd"`
	// Unpriced is how many responses were of models without a known price.
	Unpriced int `json:"unpriced_responses,omitempty"`
}

// ErrNoSuchGroup is returned for an unknown By.
var ErrNoSuchGroup = errors.New("usage can be summed by day, project, model, role or session")

// Count counts the tokens that the files below roots tell of, each response
// once, however many files have it. It reads the files themselves; of files that
// are there no more it takes what an archive has.
func Count(ctx context.Context, roots []string, o Options) (Report, error) {
	if o.By == "" {
		o.By = "day"
	}
	if !slices.Contains([]string{"day", "project", "model", "role", "session"}, o.By) {
		return Report{}, fmt.Errorf("%q: %w", o.By, ErrNoSuchGroup)
	}
	targets, err := source.Find(roots)
	if err != nil {
		return Report{}, err
	}
	known := readCache(o.Cache)
	var u Report
	files, changed, err := readFiles(ctx, targets, known, &u)
	if err != nil {
		return u, err
	}
	if o.Cache != "" && (changed || len(files) != len(known)) {
		// A cache that cannot be written is no reason to keep the answer back.
		if err := writeCache(o.Cache, files, known); err != nil {
			u.Problems = append(u.Problems, err.Error())
		}
	}
	if o.Archive != nil {
		gone, err := goneFiles(ctx, o.Archive, roots, targets)
		if err != nil {
			return u, err
		}
		u.Gone = len(gone)
		files = append(files, gone...)
	}
	u.sum(files, o)
	return u, nil
}

// goneFiles are the files below roots that are there no more, as the archive
// has them.
func goneFiles(ctx context.Context, a *archive.Archive, roots []string, targets []source.File) ([]*file, error) {
	here := make(map[string]bool, len(targets))
	for _, t := range targets {
		here[t.Path] = true
	}
	var list []*file
	files := map[int64]*file{}
	of := func(told archive.Gone) *file {
		f := files[told.ID]
		if f == nil {
			f = &file{path: told.Path, kind: told.Kind, project: told.Project, role: told.Role, began: told.Began}
			files[told.ID] = f
			list = append(list, f)
		}
		return f
	}
	err := a.GoneResponses(ctx, roots, here, func(told archive.Gone, r archive.Response) {
		f := of(told)
		f.rows = append(f.rows, response{key: responseKey(r.Key), at: r.At, model: r.Model, session: r.Session,
			role: r.Role, Usage: r.Usage, whole: true})
	}, func(told archive.Gone, s archive.Sum) {
		f := of(told)
		f.sums = append(f.sums, programSum{s.At, s.Sum})
	})
	slices.SortFunc(list, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return list, err
}

// part is a piece of a file for one worker.
type part struct {
	file     *file
	from, to int64
}

// partBytes is how much of a file one worker takes.
const partBytes = 32 << 20

// readFiles brings what is known up to date.
func readFiles(
	ctx context.Context, targets []source.File, known map[string]*file, u *Report,
) (files []*file, changed bool, err error) {
	var parts []part
	for _, t := range targets {
		k := known[t.Path]
		if k != nil && k.size == t.Size && k.mtime == t.MTime {
			files = append(files, k)
			u.Files, u.Bytes = u.Files+1, u.Bytes+t.Size
			continue
		}
		f := &file{path: t.Path, size: t.Size, mtime: t.MTime}
		if k != nil && k.kind == claude.Kind.Name && t.Size > k.size && k.pos <= t.Size {
			*f = *k
			f.size, f.mtime = t.Size, t.MTime
		} else if f.kind, err = source.Kind(t.Path); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				u.Problems = append(u.Problems, err.Error())
			}
			continue
		}
		if f.kind == "" || f.kind == source.Log {
			continue
		}
		changed = true
		files = append(files, f)
		u.Files, u.Bytes, u.Read = u.Files+1, u.Bytes+t.Size, u.Read+t.Size-f.pos
		if f.kind != claude.Kind.Name || t.Size-f.pos <= 2*partBytes {
			parts = append(parts, part{f, f.pos, t.Size})
			continue
		}
		for from := f.pos; from < t.Size; from += partBytes {
			parts = append(parts, part{f, from, min(from+partBytes, t.Size)})
		}
	}
	slices.SortFunc(files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return files, changed, scanParts(ctx, parts, u)
}

// scanParts reads the parts with as many workers as there are processors.
func scanParts(ctx context.Context, parts []part, u *Report) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := 0
	take := func() (part, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(parts) || ctx.Err() != nil {
			return part{}, false
		}
		next++
		return parts[next-1], true
	}
	for range min(runtime.GOMAXPROCS(0), len(parts)) {
		wg.Go(func() {
			var buf []byte
			for p, ok := take(); ok; p, ok = take() {
				piece := &file{path: p.file.path, kind: p.file.kind}
				var err error
				buf, err = piece.scan(buf, p.from, p.to)
				mu.Lock()
				p.file.merge(piece, p.from)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					u.Problems = append(u.Problems, fmt.Sprintf("%s: %v", p.file.path, err))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

func (u *file) merge(piece *file, from int64) {
	u.rows, u.sums = append(u.rows, piece.rows...), append(u.sums, piece.sums...)
	u.pos = max(u.pos, piece.pos)
	if u.project == "" || from == 0 && piece.project != "" {
		u.project = piece.project
	}
	if from == 0 {
		u.began = piece.began
	}
	if piece.role != "" {
		u.role = piece.role
	}
}

// place is what one file tells of a response.
type place struct {
	file *file
	row  *response
}

// compare puts the one first that counts: that which has more; then that of the
// session that began first, because a fork copies what it was made from; then
// the program's own file before a record of it.
func (p place) compare(q place) int {
	record := func(f *file) int {
		if f.kind == source.Record || f.kind == source.Bundle {
			return 1
		}
		return 0
	}
	return cmp.Or(-cmp.Compare(p.row.Output, q.row.Output), -cmp.Compare(p.row.Input, q.row.Input),
		cmp.Compare(p.file.began, q.file.began), cmp.Compare(record(p.file), record(q.file)),
		strings.Compare(p.file.path, q.file.path))
}

// sum adds up, each response once: see place.compare.
func (u *Report) sum(files []*file, o Options) {
	rows := 0
	for _, f := range files {
		rows += len(f.rows)
	}
	best := make(map[[16]byte]place, rows)
	order := make([][16]byte, 0, rows)
	for _, f := range files {
		for i := range f.rows {
			r := &f.rows[i]
			have, ok := best[r.key]
			if !ok {
				order = append(order, r.key)
			} else {
				u.Copies++
			}
			if p := (place{f, r}); !ok || p.compare(have) < 0 {
				best[r.key] = p
			}
		}
	}
	for _, p := range unwritten(files, best) {
		best[p.row.key] = p
		order = append(order, p.row.key)
	}
	groups := map[string]*Group{}
	prices := map[string]*price.Price{} // nil when none is known
	var day dayName
	for _, key := range order {
		p := best[key]
		at := time.UnixMicro(p.row.at)
		if !o.Since.IsZero() && at.Before(o.Since) || !o.Until.IsZero() && !at.Before(o.Until) {
			continue
		}
		name := groupName(o.By, p.file, p.row, &day)
		g := groups[name]
		if g == nil {
			g = &Group{Name: name}
			groups[name] = g
		}
		cost, ok := prices[p.row.model]
		if !ok {
			if known, ok := o.Prices.Of(p.row.model); ok {
				cost = &known
			} else {
				u.Unpriced = append(u.Unpriced, p.row.model)
			}
			prices[p.row.model] = cost
		}
		g.add(p.row, cost)
		u.Total.add(p.row, cost)
	}
	u.Total.Name = "total"
	u.Groups = []Group{}
	for _, g := range groups {
		u.Groups = append(u.Groups, *g)
	}
	slices.SortFunc(u.Groups, func(a, b Group) int {
		if o.By == "day" {
			return strings.Compare(a.Name, b.Name)
		}
		return cmp.Or(-cmp.Compare(a.Total, b.Total), strings.Compare(a.Name, b.Name))
	})
	slices.Sort(u.Unpriced)
}

func (g *Group) add(r *response, p *price.Price) {
	g.Responses++
	g.Input, g.Output = g.Input+r.Input, g.Output+r.Output
	g.CacheRead, g.CacheWrite = g.CacheRead+r.CacheRead, g.CacheWrite+r.CacheWrite
	g.CacheWrite1h, g.Searches = g.CacheWrite1h+r.CacheWrite1h, g.Searches+r.Searches
	g.Total += r.Total()
	if p == nil {
		g.Unpriced++
		return
	}
	g.CostUSD += p.Cost(r.Usage)
}

// dayName remembers the name of the day before: rows are mostly in order.
type dayName struct {
	n    int64
	name string
}

func (d *dayName) of(at int64) string {
	const micros = 24 * 3600 * 1_000_000
	if n := at / micros; n != d.n || d.name == "" {
		d.n, d.name = n, time.UnixMicro(at).UTC().Format(time.DateOnly)
	}
	return d.name
}

func groupName(by string, f *file, r *response, day *dayName) string {
	name := ""
	switch by {
	case "day":
		if r.at != 0 {
			name = day.of(r.at)
		}
	case "project":
		if name = f.project; name == "" {
			name = session.Of(f.path, claude.Kind).Project
		}
	case "model":
		name = r.model
	case "role":
		if name = r.role; name == "" {
			name = f.role
		}
	case "session":
		name = r.session
	}
	if name == "" {
		return "unknown"
	}
	return name
}
