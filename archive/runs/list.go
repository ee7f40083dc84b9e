package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Filter chooses runs; its zero value chooses all. Text is looked for in what a
// list shows of a run: every word of it has to be there, as it stands or as a part.
type Filter struct {
	Text, Project, Agent, Role, Kind string
	State                            State
	Since, Until                     time.Time       // by its last entry
	Only                             map[string]bool // nil: any
	Sort                             string          // see ErrSort; "-" before it turns it round
	From, N                          int             // N: at most so many, 0 is 100
	Also                             []Run           // of other shelves: they stand in the same list
}

// MaxListed is how many runs are listed at a time.
const MaxListed = 1000

// List is a part of a list of runs.
type List struct {
	Total int   `json:"total"`
	From  int   `json:"from"`
	Items []Run `json:"items"`
}

// ErrSort: there is no such order.
var ErrSort = errors.New("runs can be sorted by last, began, entries, tokens, cost, title or project")

// List lists runs, those with the latest entries first.
func (s *Shelf) List(ctx context.Context, f Filter, now time.Time) (List, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.filtered(ctx, f, now)
	if err != nil {
		return List{}, err
	}
	for _, r := range f.Also {
		r.elsewhere = true
		all = append(all, &r)
	}
	if err := s.sort(ctx, all, f.Sort); err != nil {
		return List{}, err
	}
	out := List{Total: len(all), From: max(f.From, 0), Items: []Run{}}
	all = all[min(out.From, len(all)):]
	all = all[:min(len(all), cmp.Or(max(f.N, 0), 100), MaxListed)]
	if err := s.titles(ctx, all); err != nil {
		return List{}, err
	}
	forks := s.forks()
	for _, r := range all {
		if !r.elsewhere {
			r.Forks = forks[r.ID]
		}
		out.Items = append(out.Items, *r)
	}
	return out, nil
}

// Select is every run that f chooses and of which want is true, the latest first,
// with its texts. want is called with what is known without them.
func (s *Shelf) Select(ctx context.Context, f Filter, now time.Time, want func(*Run) bool) ([]Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.filtered(ctx, f, now)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r *Run) bool { return !want(r) })
	if err := errors.Join(s.sort(ctx, all, ""), s.titles(ctx, all)); err != nil {
		return nil, err
	}
	list := make([]Run, len(all))
	for i, r := range all {
		list[i] = *r
	}
	return list, nil
}

// Places are the directories in which runs were, and the workspaces that keep
// records of some: the one with the latest first.
func (s *Shelf) Places() (dirs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := map[string]time.Time{}
	for id := range s.byRun {
		r := s.known(id)
		for _, dir := range []string{r.Project, r.Workspace} {
			if at, ok := last[dir]; filepath.IsAbs(dir) && (!ok || r.LastAt.After(at)) {
				last[dir] = r.LastAt
			}
		}
	}
	return slices.SortedFunc(maps.Keys(last), func(a, b string) int {
		return cmp.Or(last[b].Compare(last[a]), strings.Compare(a, b))
	})
}

// filtered are the runs that f chooses. Their texts are there only if f asks for
// them.
func (s *Shelf) filtered(ctx context.Context, f Filter, now time.Time) (all []*Run, err error) {
	words := strings.Fields(strings.ToLower(f.Text))
	for id := range s.byRun {
		r := s.known(id)
		if r.shown == 0 {
			continue
		}
		if f.Only != nil && !f.Only[id] || f.Agent != "" && r.Agent != f.Agent || f.Role != "" && r.Role != f.Role ||
			f.Kind != "" && r.Kind != f.Kind || f.Project != "" && r.Project != f.Project ||
			!f.Since.IsZero() && r.LastAt.Before(f.Since) || !f.Until.IsZero() && !r.LastAt.Before(f.Until) {
			continue
		}
		all = append(all, &r)
	}
	if err := s.stand(ctx, all, now); err != nil {
		return nil, err
	}
	if f.State != "" {
		all = slices.DeleteFunc(all, func(r *Run) bool { return r.State != f.State })
	}
	if len(words) == 0 {
		return all, nil
	}
	if err := s.titles(ctx, all); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r *Run) bool {
		text := strings.ToLower(strings.Join([]string{r.Title, r.Last, r.Project, r.Agent, r.Role, r.ID, r.Model}, "\n"))
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}), nil
}

// known is the summary of a run, made anew only when the run has changed.
func (s *Shelf) known(id string) Run {
	r, ok := s.made[id]
	if !ok {
		r, _ = s.summary(id)
		s.made[id] = r
	}
	return r
}

// stand says how runs stand.
func (s *Shelf) stand(ctx context.Context, list []*Run, now time.Time) error {
	for i := range list {
		st := &list[i].standing
		if st.said == toolUse && now.Sub(st.last) <= staleAfter && !st.over {
			tool, err := s.texts.tool(ctx, s.a, list[i].said)
			if err != nil {
				return err
			}
			st.tool = tool
		}
		list[i].State = st.state(now)
	}
	return nil
}

func (s *Shelf) sort(ctx context.Context, all []*Run, by string) error {
	by, back := strings.CutPrefix(by, "-")
	less := map[string]func(a, b *Run) int{
		"":        func(a, b *Run) int { return b.LastAt.Compare(a.LastAt) },
		"last":    func(a, b *Run) int { return b.LastAt.Compare(a.LastAt) },
		"began":   func(a, b *Run) int { return b.Began.Compare(a.Began) },
		"entries": func(a, b *Run) int { return cmp.Compare(b.Entries, a.Entries) },
		"tokens":  func(a, b *Run) int { return cmp.Compare(b.Tokens, a.Tokens) },
		"cost":    func(a, b *Run) int { return cmp.Compare(costOf(b), costOf(a)) },
		"title":   func(a, b *Run) int { return strings.Compare(a.Title, b.Title) },
		"project": func(a, b *Run) int { return strings.Compare(a.Project, b.Project) },
	}[by]
	if less == nil {
		return fmt.Errorf("%q: %w", by, ErrSort)
	}
	if by == "title" {
		if err := s.titles(ctx, all); err != nil {
			return err
		}
	}
	slices.SortFunc(all, func(a, b *Run) int {
		n := less(a, b)
		if back {
			n = -n
		}
		return cmp.Or(n, b.LastAt.Compare(a.LastAt), strings.Compare(a.ID, b.ID))
	})
	return nil
}

func costOf(r *Run) float64 {
	if r.Cost == nil {
		return -1
	}
	return *r.Cost
}

// Facets are how many runs there are of each kind.
type Facets struct {
	Project map[string]int `json:"project"`
	Agent   map[string]int `json:"agent"`
	Role    map[string]int `json:"role"`
	Kind    map[string]int `json:"kind"`
	State   map[State]int  `json:"state"`
	Total   int            `json:"total"`
}

// Facets counts all runs, and those of other shelves.
func (s *Shelf) Facets(ctx context.Context, now time.Time, also []Run) (Facets, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.filtered(ctx, Filter{}, now)
	for i := range also {
		all = append(all, &also[i])
	}
	f := Facets{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[State]int{}, len(all)}
	for i := range all {
		r := all[i]
		f.Project[r.Project]++
		f.Agent[r.Agent]++
		f.Role[r.Role]++
		f.Kind[r.Kind]++
		f.State[r.State]++
	}
	return f, err
}

// One is a run by its name; ok is false when there is none.
func (s *Shelf) One(ctx context.Context, id string, now time.Time) (r Run, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok = s.summary(id); !ok {
		return r, false, nil
	}
	one := []*Run{&r}
	if err := errors.Join(s.stand(ctx, one, now), s.titles(ctx, one)); err != nil {
		return r, true, err
	}
	r.Forks = s.forks()[id]
	return r, true, nil
}

// forks are the runs that have copied their history from each run.
func (s *Shelf) forks() map[string][]string {
	m := map[string][]string{}
	for child, parent := range s.ledger.parents {
		m[parent] = append(m[parent], child)
	}
	for _, list := range m {
		slices.Sort(list)
	}
	return m
}
