package runs

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Heat is how much was done on which day, and in which hour of the week.
type Heat struct {
	Days []Day `json:"days"`
	// Week has for each hour of a week, from Monday's first on, the tokens of all
	// weeks.
	Week [7 * 24]int64 `json:"week"`
}

// Day is what was done on one.
type Day struct {
	Day       string  `json:"day"`
	Responses int     `json:"responses"`
	Tokens    int64   `json:"tokens"`
	Cost      float64 `json:"cost_usd"`
	Unpriced  int     `json:"unpriced_responses,omitempty"`
	Entries   int     `json:"entries"`
}

// Heat counts responses by the days and hours of a place, and the entries of the
// runs that had their last one on a day.
func (s *Shelf) Heat(_ context.Context, place *time.Location, since time.Time) (Heat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var h Heat
	days := map[string]*Day{}
	day := func(at time.Time) *Day {
		name := at.Format(time.DateOnly)
		if days[name] == nil {
			days[name] = &Day{Day: name}
		}
		return days[name]
	}
	count := func(e *entryCost) {
		if e.at == 0 || e.at < since.UnixMicro() && !since.IsZero() {
			return
		}
		at := time.UnixMicro(e.at).In(place)
		d := day(at)
		d.Responses++
		d.Tokens += e.Total()
		d.Cost += e.cost
		if !e.priced {
			d.Unpriced++
		}
		h.Week[(int(at.Weekday())+6)%7*24+at.Hour()] += e.Total()
	}
	for _, e := range s.ledger.held {
		count(e)
	}
	for _, e := range s.ledger.rest {
		count(e)
	}
	for _, src := range s.sources {
		for _, t := range src.lanes() {
			if t.last != 0 && (since.IsZero() || t.last >= since.UnixMicro()) {
				day(time.UnixMicro(t.last).In(place)).Entries += t.entries
			}
		}
	}
	h.Days = []Day{}
	for _, d := range days {
		h.Days = append(h.Days, *d)
	}
	slices.SortFunc(h.Days, func(a, b Day) int { return strings.Compare(a.Day, b.Day) })
	return h, nil
}

// Number is the number of an entry by its lane and its place there. A run whose
// sheet nobody holds is read only if that is wanted.
func (s *Shelf) Number(ctx context.Context, run, lane string, seq int64, read bool) (int, bool) {
	get := s.Held
	if read {
		get = s.Sheet
	}
	h, err := get(ctx, run)
	if err != nil || h == nil {
		return 0, false
	}
	i := h.index(func(e *entry) bool { return e.seq == seq && h.Lanes[e.lane] == lane })
	return i, i >= 0
}
