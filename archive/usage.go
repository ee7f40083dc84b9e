package archive

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

	"conclave/internal/price"
)

// UsageOptions say what to count. The zero value counts everything.
type UsageOptions struct {
	Since, Until time.Time
	// Cache is a file in which what was counted is kept; "" keeps nothing. It
	// can be deleted at any time.
	Cache string
	// By is what to sum by: day, project, model, role or session; "" is day.
	By string
}

// Usage is how many tokens were used, and what they cost.
type Usage struct {
	Groups []UsageGroup `json:"groups"`
	Total  UsageGroup   `json:"total"`
	// Unpriced are models without a known price: the costs do without them.
	Unpriced []string `json:"unpriced_models,omitempty"`
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`  // of these files
	Read     int64    `json:"read"`   // of which were read now
	Copies   int      `json:"copies"` // responses that were told of more than once
	Problems []string `json:"problems,omitempty"`
}

// UsageGroup is a sum.
type UsageGroup struct {
	Name       string  `json:"name"`
	Responses  int     `json:"responses"`
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Total      int64   `json:"total_tokens"`
	CostUSD    float64 `json:"cost_usd"`
	// Unpriced is how many responses were of models without a known price.
	Unpriced int `json:"unpriced_responses,omitempty"`
}

// ErrNoSuchGroup is returned for an unknown By.
var ErrNoSuchGroup = errors.New("usage can be summed by day, project, model, role or session")

// CountUsage counts the tokens that the files below roots tell of, each
// response once, however many files have it. It reads the files themselves and
// needs no archive.
func CountUsage(ctx context.Context, roots []string, o UsageOptions) (Usage, error) {
	if o.By == "" {
		o.By = "day"
	}
	if !slices.Contains([]string{"day", "project", "model", "role", "session"}, o.By) {
		return Usage{}, fmt.Errorf("%q: %w", o.By, ErrNoSuchGroup)
	}
	targets, err := find(roots)
	if err != nil {
		return Usage{}, err
	}
	known := readUsageCache(o.Cache)
	var u Usage
	files, changed, err := readUsage(ctx, targets, known, &u)
	if err != nil {
		return u, err
	}
	if o.Cache != "" && (changed || len(files) != len(known)) {
		// A cache that cannot be written is no reason to keep the answer back.
		if err := writeUsageCache(o.Cache, files, known); err != nil {
			u.Problems = append(u.Problems, err.Error())
		}
	}
	u.sum(files, o)
	return u, nil
}

// part is a piece of a file for one worker.
type part struct {
	file     *usageFile
	from, to int64
}

// partBytes is how much of a file one worker takes.
const partBytes = 32 << 20

// readUsage brings what is known up to date.
func readUsage(ctx context.Context, targets []target, known map[string]*usageFile, u *Usage) (files []*usageFile, changed bool, err error) {
	var parts []part
	for _, t := range targets {
		k := known[t.path]
		if k != nil && k.size == t.size && k.mtime == t.mtime {
			files = append(files, k)
			u.Files, u.Bytes = u.Files+1, u.Bytes+t.size
			continue
		}
		f := &usageFile{path: t.path, size: t.size, mtime: t.mtime}
		if k != nil && k.kind == kindClaude && t.size > k.size && k.pos <= t.size {
			*f = *k
			f.size, f.mtime = t.size, t.mtime
		} else if f.kind, err = sniff(t.path); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				u.Problems = append(u.Problems, err.Error())
			}
			continue
		}
		if f.kind == "" || f.kind == kindLog {
			continue
		}
		changed = true
		files = append(files, f)
		u.Files, u.Bytes, u.Read = u.Files+1, u.Bytes+t.size, u.Read+t.size-f.pos
		if f.kind != kindClaude || t.size-f.pos <= 2*partBytes {
			parts = append(parts, part{f, f.pos, t.size})
			continue
		}
		for from := f.pos; from < t.size; from += partBytes {
			parts = append(parts, part{f, from, min(from+partBytes, t.size)})
		}
	}
	slices.SortFunc(files, func(a, b *usageFile) int { return strings.Compare(a.path, b.path) })
	return files, changed, scanParts(ctx, parts, u)
}

// scanParts reads the parts with as many workers as there are processors.
func scanParts(ctx context.Context, parts []part, u *Usage) error {
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
				piece := &usageFile{path: p.file.path, kind: p.file.kind}
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

func (u *usageFile) merge(piece *usageFile, from int64) {
	u.rows = append(u.rows, piece.rows...)
	u.pos = max(u.pos, piece.pos)
	if u.project == "" || from == 0 && piece.project != "" {
		u.project = piece.project
	}
	if piece.role != "" {
		u.role = piece.role
	}
}

// sum adds up, each response once: of copies that which has more, and then
// that of the first file.
func (u *Usage) sum(files []*usageFile, o UsageOptions) {
	type place struct {
		file *usageFile
		row  *usageRow
	}
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
			if !ok || r.output > have.row.output || r.output == have.row.output && r.input > have.row.input {
				best[r.key] = place{f, r}
			}
		}
	}
	groups := map[string]*UsageGroup{}
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
			g = &UsageGroup{Name: name}
			groups[name] = g
		}
		cost, ok := prices[p.row.model]
		if !ok {
			if known, ok := price.Of(p.row.model); ok {
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
	u.Groups = []UsageGroup{}
	for _, g := range groups {
		u.Groups = append(u.Groups, *g)
	}
	slices.SortFunc(u.Groups, func(a, b UsageGroup) int {
		if o.By == "day" {
			return strings.Compare(a.Name, b.Name)
		}
		return cmp.Or(-cmp.Compare(a.Total, b.Total), strings.Compare(a.Name, b.Name))
	})
	slices.Sort(u.Unpriced)
}

func (g *UsageGroup) add(r *usageRow, p *price.Price) {
	g.Responses++
	g.Input, g.Output = g.Input+r.input, g.Output+r.output
	g.CacheRead, g.CacheWrite = g.CacheRead+r.cacheRead, g.CacheWrite+r.cacheWrite
	g.Total += r.input + r.output + r.cacheRead + r.cacheWrite
	if p == nil {
		g.Unpriced++
		return
	}
	g.CostUSD += p.Cost(r.input, r.output, r.cacheRead, r.cacheWrite)
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

func groupName(by string, f *usageFile, r *usageRow, day *dayName) string {
	name := ""
	switch by {
	case "day":
		if r.at != 0 {
			name = day.of(r.at)
		}
	case "project":
		if name = f.project; name == "" {
			name = f.slug()
		}
	case "model":
		name = r.model
	case "role":
		name = f.role
	case "session":
		name = r.session
	}
	if name == "" {
		return "unknown"
	}
	return name
}
