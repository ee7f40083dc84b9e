package app

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"conclave/archive/runs"
	"conclave/archive/search"
	"conclave/transcript"
)

// NowItem is something that runs or waits for a person.
type NowItem struct {
	Kind      string     `json:"kind"` // run, quest, table or job
	Workspace string     `json:"workspace"`
	Here      bool       `json:"here,omitempty"` // of the workspace that is served
	Run       string     `json:"run,omitempty"`  // in which the last words stand
	Job       string     `json:"job,omitempty"`  // that is at it here
	Verb      string     `json:"verb,omitempty"` // of a job
	Asked     bool       `json:"asked,omitempty"`
	Name      string     `json:"name,omitempty"` // of a table
	Title     string     `json:"title"`
	State     runs.State `json:"state"`
	Phase     int        `json:"phase,omitempty"` // of a quest
	PhaseIs   string     `json:"phase_name,omitempty"`
	Next      []string   `json:"next,omitempty"`    // what a quest offers to the person
	Awaited   []string   `json:"awaited,omitempty"` // whom a table waits for
	Fault     string     `json:"fault,omitempty"`   // why a quest cannot go on
	Role      string     `json:"role,omitempty"`
	Agent     string     `json:"agent,omitempty"`
	Cost      *float64   `json:"cost_usd"`                // as far as prices are known; nil: none is
	AtLeast   bool       `json:"cost_at_least,omitempty"` // something was spent of which nobody knows the price
	Last      string     `json:"last"`
	At        time.Time  `json:"at,omitzero"`
}

// NowJob is something that a face runs for the person.
type NowJob struct {
	ID, Verb string
	Args     []json.RawMessage
	Began    time.Time
	Asked    bool   // a question of it waits
	Question string // its words
}

// Now is what runs or waits for a person, over all workspaces that the archive
// knows, and what was left off within a day: the latest first. A quest that is not
// over is one line with everything that is said for it, and so is a table in
// session, and a job of the face that asks.
func (l *Library) Now(ctx context.Context, jobs []NowJob) ([]NowItem, error) {
	now := time.Now()
	recent := func(r *runs.Run) bool { return !r.Sealed && now.Sub(r.LastAt) <= 24*time.Hour }
	list, err := l.shelf.Select(ctx, runs.Filter{}, now, func(r *runs.Run) bool {
		return recent(r) && r.State != runs.Stale || r.Quest != "" || r.Campaign != ""
	})
	if err != nil {
		return nil, environmentError("%w", err)
	}
	board := nowBoard{}
	for i, root := range l.places.at(l.shelf.Places) {
		board.place(root, i == 0, l.places.look(root))
	}
	for _, j := range jobs {
		board.job(j)
	}
	for i := range list {
		if r := &list[i]; !board.takes(r) && recent(r) && r.State != runs.Stale {
			board.add(runItem(r))
		}
	}
	return board.list(), nil
}

// Workspaces is in how many workspaces Now looks.
func (l *Library) Workspaces() int { return len(l.places.at(l.shelf.Places)) }

func runItem(r *runs.Run) *NowItem {
	item := &NowItem{Kind: "run", Workspace: cmp.Or(r.Workspace, r.Project), Run: r.ID, Title: r.Title, State: r.State,
		Role: r.Role, Agent: r.Agent, Cost: r.Cost, AtLeast: r.AtLeast, Last: r.Last, At: r.LastAt}
	item.Name = r.Campaign
	return item
}

// nowBoard gathers what belongs together.
type nowBoard struct {
	here  string
	lines []*nowLine
}

// nowLine is an item, and which runs are its own.
type nowLine struct {
	*NowItem
	quest string    // as records name it
	since time.Time // of a job without a quest: its runs have begun since
	spent float64
	more  bool // something was spent of which nobody knows the price
}

func (b *nowBoard) add(item *NowItem) *nowLine {
	l := &nowLine{NowItem: item}
	if item.Kind != "run" {
		l.Cost = &l.spent
	}
	b.lines = append(b.lines, l)
	return l
}

// place puts up a workspace's quest and tables.
func (b *nowBoard) place(root string, here bool, p *place) {
	if here {
		b.here = root
	}
	if q := p.quest; q != nil {
		b.add(&NowItem{Kind: "quest", Workspace: root, Here: here, Title: q.title, State: runs.Waiting,
			Phase: int(q.phase), PhaseIs: q.phase.String(), Next: q.next, Fault: q.fault, At: q.at}).quest = q.id
	}
	for _, t := range p.tables {
		b.add(&NowItem{Kind: "table", Workspace: root, Here: here, Name: t.name, Title: t.name, State: runs.Waiting,
			Awaited: t.awaited, Last: t.scene, At: t.at})
	}
}

// job puts up a job, or notes at what it is for that it runs.
func (b *nowBoard) job(j NowJob) {
	kind, name := jobFor(j.Verb, j.Args)
	var line *nowLine
	for _, l := range b.lines {
		if l.Here && l.Kind == kind && l.Name == name {
			line = l
		}
	}
	if line == nil {
		line = b.add(&NowItem{Kind: "job", Workspace: b.here, Here: true, Name: name, At: j.Began})
		if kind == "quest" {
			line.since = j.Began
		}
	}
	line.Job, line.Verb, line.State = j.ID, j.Verb, runs.Working
	if j.Asked {
		line.Asked, line.State, line.Next = true, runs.Waiting, nil
		if kind == "quest" {
			line.Last = j.Question
		} // what a seat of a table is asked is that seat's
	}
	if j.Began.After(line.At) {
		line.At = j.Began
	}
}

// takes adds a run to the line that it belongs to, if there is one.
func (b *nowBoard) takes(r *runs.Run) bool {
	for _, l := range b.lines {
		if l.owns(r) {
			l.take(r)
			return true
		}
	}
	return false
}

func (l *nowLine) owns(r *runs.Run) bool {
	switch {
	case r.Workspace == "" || linked(r.Workspace) != linked(l.Workspace):
		return false
	case r.Campaign != "":
		return l.Kind != "quest" && l.Name == r.Campaign
	case l.Kind == "quest":
		return r.Quest == l.quest
	}
	return !l.since.IsZero() && r.Quest != "" && !r.Began.Before(l.since)
}

// take counts a run; they come in order, the latest first.
func (l *nowLine) take(r *runs.Run) {
	l.more = l.more || r.Cost == nil || r.AtLeast
	if r.Cost != nil {
		l.spent += *r.Cost
	}
	if l.Cost, l.AtLeast = &l.spent, l.more; l.more && l.spent == 0 {
		l.Cost, l.AtLeast = nil, false
	}
	if r.State == runs.Working && !r.Sealed && !l.Asked {
		l.State, l.Next = runs.Working, nil
	}
	if l.Run != "" {
		return
	}
	l.Run, l.Role, l.Agent = r.ID, r.Role, r.Agent
	if r.LastAt.After(l.At) {
		l.At = r.LastAt
	}
	if l.Last == "" {
		l.Last = r.Last
	}
}

// list is everything, the latest first.
func (b *nowBoard) list() []NowItem {
	items := []NowItem{}
	for _, l := range b.lines {
		items = append(items, *l.NowItem)
	}
	slices.SortStableFunc(items, func(a, b NowItem) int { return b.At.Compare(a.At) })
	return items
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
			if n, ok := l.shelf.Number(ctx, h.Run, h.Source, h.Seq, false); ok {
				hit.Entry = &n
			}
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

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
