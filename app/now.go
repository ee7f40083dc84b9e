package app

import (
	"context"
	"strings"
	"time"

	"conclave/archive/runs"
	"conclave/archive/search"
	"conclave/transcript"
)

// NowItem is something that runs or waits for a person.
type NowItem struct {
	Kind      string     `json:"kind"` // run, quest or table
	Workspace string     `json:"workspace"`
	Run       string     `json:"run,omitempty"`
	Name      string     `json:"name,omitempty"` // of a table
	Title     string     `json:"title"`
	State     runs.State `json:"state"`
	Role      string     `json:"role,omitempty"`
	Agent     string     `json:"agent,omitempty"`
	Cost      *float64   `json:"cost_usd,omitempty"`
	Last      string     `json:"last"`
	At        time.Time  `json:"at,omitzero"`
}

// Now is what runs or waits for a person, over all workspaces that the archive
// knows, and what was left off within a day: the latest first.
func (l *Library) Now(ctx context.Context) ([]NowItem, error) {
	now := time.Now()
	items := []NowItem{}
	for _, state := range []runs.State{runs.Working, runs.Waiting, runs.Idle} {
		list, err := l.shelf.List(ctx, runs.Filter{State: state, Since: now.Add(-24 * time.Hour), N: 200}, now)
		if err != nil {
			return nil, environmentError("%w", err)
		}
		for _, r := range list.Items {
			if r.Sealed {
				continue // it is over
			}
			kind := "run"
			if r.Kind == runs.KindTable {
				kind = runs.KindTable
			}
			items = append(items, NowItem{Kind: kind, Workspace: r.Project, Run: r.ID, Title: r.Title, State: r.State,
				Role: r.Role, Agent: r.Agent, Cost: r.Cost, Last: r.Last, At: r.LastAt})
		}
	}
	return items, nil
}

// Hits are what a search in the whole archive found.
type Hits struct {
	Hits []RunHit `json:"hits"`
	More bool     `json:"more"`
}

// RunHit is an entry that was found. Entry is its number in its run where that is
// known without reading the run; Lane and Seq always tell it (see NumberOf).
type RunHit struct {
	search.Hit
	Entry *int      `json:"entry,omitempty"`
	Lane  string    `json:"lane"`
	Title string    `json:"title"`
	At    time.Time `json:"at,omitzero"`
}

// FindEntries finds entries of the whole archive, the best first.
func (l *Library) FindEntries(ctx context.Context, q Search) (Hits, error) {
	out := Hits{Hits: []RunHit{}}
	if strings.TrimSpace(q.Words) == "" {
		return out, usageError("%w", ErrNoWords)
	}
	for _, n := range q.Types {
		if t := transcript.Type(n); t.Valid() {
			q.In = append(q.In, t)
		} else {
			return out, usageError("there is no entry type %q: want one of %v", n, transcript.Types())
		}
	}
	var err error
	if q.Query.Since, err = pointInTime("since", q.Since); err != nil {
		return out, err
	}
	if q.Query.Until, err = pointInTime("until", q.Until); err != nil {
		return out, err
	}
	found, err := search.Find(ctx, l.archive, q.Query)
	if err != nil {
		return out, environmentError("%w", err)
	}
	out.More = found.More
	now := time.Now()
	for _, h := range found.Hits {
		hit := RunHit{Hit: h, Lane: h.Source, At: h.Time}
		if r, ok, err := l.shelf.One(ctx, h.Run, now); err == nil && ok {
			hit.Title = r.Title
			if n, ok := l.shelf.Number(ctx, h.Run, h.Source, h.Seq, r.Entries <= quickly); ok {
				hit.Entry = &n
			}
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

// quickly is how many entries a run may have whose order is found out for a hit.
const quickly = 2000

// NumberOf is the number of an entry in its run, by its lane and its place there.
func (l *Library) NumberOf(ctx context.Context, id, lane string, seq int64) (int, error) {
	shelf, name, _, err := l.find(ctx, id)
	if err != nil {
		return 0, err
	}
	n, ok := shelf.Number(ctx, name, lane, seq, true)
	if !ok {
		return 0, ErrNoEntry
	}
	return n, nil
}

// Heat is how much was done on which day, and in which hour of the week.
type Heat = runs.Heat

// Heat counts by the days and hours of a place that is so many minutes east of
// Greenwich.
func (l *Library) Heat(ctx context.Context, east int, since string) (Heat, error) {
	if east < -14*60 || east > 14*60 {
		return Heat{}, usageError("no place is %d minutes east of Greenwich", east)
	}
	from, err := pointInTime("since", since)
	if err != nil {
		return Heat{}, err
	}
	h, err := l.shelf.Heat(ctx, time.FixedZone("", 60*east), from)
	if err != nil {
		return h, environmentError("%w", err)
	}
	return h, nil
}
