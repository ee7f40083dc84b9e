package runs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	kinds "conclave/archive/source"
	"conclave/record"
	"conclave/transcript"
)

// Kinds of runs.
const (
	KindSession = "session" // of a program that somebody else started
	KindSeat    = "seat"    // of one in a room of ours
	KindGate    = "gate"
	KindTable   = "table"
	KindLog     = "log"
)

// Run is a run in a list.
type Run struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	State     State     `json:"state"`
	Project   string    `json:"project"`
	Agent     string    `json:"agent"`
	Model     string    `json:"model,omitempty"` // that was paid for most, or of which it tells
	Role      string    `json:"role"`
	Kind      string    `json:"kind"`
	Entries   int       `json:"entries"`
	Subagents int       `json:"subagents"`
	Parent    string    `json:"parent,omitempty"` // the run whose history this one continues
	Forks     []string  `json:"forks,omitempty"`
	Tokens    int64     `json:"tokens"`
	Cost      *float64  `json:"cost_usd"`                // as far as prices are known; nil: none is
	AtLeast   bool      `json:"cost_at_least,omitempty"` // a response of it has no known price
	Began     time.Time `json:"began,omitzero"`
	LastAt    time.Time `json:"last_at,omitzero"`
	Last      string    `json:"last"`
	Source    string    `json:"source"` // the file of its main lane
	Sealed    bool      `json:"sealed,omitempty"`
	Session   string    `json:"session_id,omitempty"`
	Campaign  string    `json:"campaign,omitempty"` // of a table's
	Quest     string    `json:"-"`                  // as its record names it
	Workspace string    `json:"-"`                  // in which its record is kept

	elsewhere bool   // it is of another shelf
	character string // of a table's
	deed      string // of a quest: what it was for
	standing  standing
	main      int64 // the source of its main lane
	prompt    int64 // the id of its first prompt
	said      int64 // the id of what was said or done last
	shown     int   // entries that stand in no other run
	over      bool
}

// summary is a run without its texts.
func (s *Shelf) summary(id string) (Run, bool) {
	list := s.byRun[id]
	if len(list) == 0 {
		return Run{}, false
	}
	r := Run{ID: id, Parent: s.ledger.parents[id], over: true}
	var first, last, written int64
	var begins, ends lane
	for _, src := range list {
		r.over = r.over && (src.sealed || src.state != "live")
		r.Sealed = r.Sealed || src.sealed
		written = max(written, src.mtime)
	}
	var agents []string
	for _, l := range s.lanesOf(list) {
		r.Entries, r.shown = r.Entries+l.entries, r.shown+l.entries
		for other, n := range l.copies {
			r.shown -= n
			if slices.ContainsFunc(list, func(src *source) bool { return src.id == other }) {
				r.Entries -= n
			}
		}
		first, last = least(first, l.first), max(last, l.last)
		if l.agent != transcript.Main && !slices.Contains(agents, l.agent) {
			agents = append(agents, l.agent)
		}
		if begins.tally == nil || l.rank() < begins.rank() || l.rank() == begins.rank() && begins.tally.prompt == 0 {
			begins = l
		}
		if ends.tally == nil || l.rank() < ends.rank() || l.rank() == ends.rank() && l.said > ends.said {
			ends = l
		}
	}
	if begins.tally == nil { // nothing is in it
		begins = lane{src: list[0], origin: &origin{}, tally: &tally{}}
		ends = begins
	}
	r.Subagents = len(agents)
	s.describe(&r, begins)
	s.spent(&r, list)
	r.prompt, r.said = begins.tally.prompt, ends.said
	r.Began, r.LastAt = stamp(first), stamp(last)
	r.standing.said = ends.saidType
	r.standing.last, r.standing.over, r.standing.written = r.LastAt, r.over, time.Unix(0, written).UTC()
	return r, true
}

// lane is the entries of one agent in one source.
type lane struct {
	src *source
	id  int64 // of its origin
	*origin
	*tally
}

// rank: what a run is, its own agent says, and not a subagent.
func (l lane) rank() int {
	if l.agent == transcript.Main || l.agent == "" {
		return 0
	}
	return 1
}

// order is that in which an archive yields the entries of sources.
func (src *source) order(o *source) int {
	return cmp.Or(strings.Compare(src.path, o.path), cmp.Compare(src.generation, o.generation))
}

// lanesOf are the lanes of sources, in a fixed order.
func (s *Shelf) lanesOf(list []*source) (lanes []lane) {
	for _, src := range list {
		for org, t := range src.lanes() {
			lanes = append(lanes, lane{src, org, s.originOf(org), t})
		}
	}
	slices.SortFunc(lanes, func(a, b lane) int {
		return cmp.Or(a.src.order(b.src), cmp.Compare(a.id, b.id))
	})
	return lanes
}

// spent sums what a run has spent.
func (s *Shelf) spent(r *Run, list []*source) {
	models, responses, unpriced, cost := map[string]int64{}, 0, 0, 0.0
	for _, src := range list {
		for model, sp := range src.spent {
			models[model] += sp.tokens
			r.Tokens, cost = r.Tokens+sp.tokens, cost+sp.cost
			responses, unpriced = responses+sp.responses, unpriced+sp.unpriced
		}
	}
	for model, n := range models {
		if m := models[r.Model]; model != "" && (r.Model == "" || n > m || n == m && model < r.Model) {
			r.Model = model
		}
	}
	if unpriced == 0 || unpriced < responses {
		r.Cost, r.AtLeast = &cost, unpriced > 0
	}
}

// describe takes what the main lane of a run says of it.
func (s *Shelf) describe(r *Run, l lane) {
	by := l.src.attributes
	r.Source, r.Project, r.Kind, r.main = l.src.path, l.project, kindOf(l.src), l.src.id
	r.Agent, r.Role = cmp.Or(l.adapter, by["adapter"]), cmp.Or(by["role"], l.seat)
	r.Session = cmp.Or(l.session, by["session_id"])
	r.Parent = cmp.Or(by["parent_thread_id"], r.Parent)
	r.Campaign, r.character, r.Quest = by["campaign"], by["character"], by["quest"]
	if r.Quest != "" {
		r.deed = deedOf(by["flow"], by["phase"])
	}
	if l.src.kind == kinds.Record {
		r.Workspace, _ = record.Workspace(l.src.path)
	}
}

// deedOf names a run of a quest by what was done: its first words are the program's.
func deedOf(flow, phase string) string {
	name := strings.ReplaceAll(flow, ".", " · ")
	if name != "" && phase != "" && phase != "0" {
		name += ", phase " + phase
	}
	return name
}

// kindOf says what a run is by the head of its record.
func kindOf(src *source) string {
	by := src.attributes
	switch {
	case src.kind == kinds.Log:
		return KindLog
	case by["flow"] == "gate":
		return KindGate
	case by["campaign"] != "":
		return KindTable
	case src.kind == kinds.Record && by["collected"] == "" && by["role"] != "":
		return KindSeat
	}
	return KindSession
}

func (s *Shelf) originOf(id int64) *origin {
	if o := s.origins[id]; o != nil {
		return o
	}
	return &origin{}
}

func stamp(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(at).UTC()
}
