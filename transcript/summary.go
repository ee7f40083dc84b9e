package transcript

import "time"

// Summary is the statistics of a run.
type Summary struct {
	TotalEntries    int            `json:"total_entries"`
	EntriesByType   map[Type]int   `json:"entries_by_type"`
	EntriesBySource map[string]int `json:"entries_by_source"`
	Sources         []string       `json:"sources"` // in order of appearance
	FirstTimestamp  *time.Time     `json:"first_timestamp,omitempty"`
	LastTimestamp   *time.Time     `json:"last_timestamp,omitempty"`
}

// Summarise returns the statistics of entries.
func Summarise(entries []Entry) Summary {
	var t tally
	for i := range entries {
		t.add(t.source(entries[i].Source), &entries[i])
	}
	return t.summary()
}

// tally counts entries as they come, without a look into a map for most.
type tally struct {
	total       int
	types       map[Type]*int
	lastType    Type
	lastCount   *int
	sources     []*sourceTally // in order of appearance
	byName      map[string]*sourceTally
	last        *sourceTally
	first, late time.Time
}

type sourceTally struct {
	name    string
	quoted  []byte
	entries int64
}

// source finds the tally of a source; it counts nothing yet.
func (t *tally) source(name string) *sourceTally {
	if t.last != nil && t.last.name == name {
		return t.last
	}
	s := t.byName[name]
	if s == nil {
		if t.byName == nil {
			t.byName = map[string]*sourceTally{}
		}
		s = &sourceTally{name: name, quoted: appendString(nil, name)}
		t.byName[name] = s
	}
	t.last = s
	return s
}

func (t *tally) add(s *sourceTally, e *Entry) {
	if s.entries++; s.entries == 1 {
		t.sources = append(t.sources, s)
	}
	if t.lastCount == nil || t.lastType != e.Type {
		t.lastType, t.lastCount = e.Type, t.count(e.Type)
	}
	*t.lastCount++
	if t.total++; t.total == 1 {
		t.first = e.Timestamp
	}
	t.late = e.Timestamp
}

func (t *tally) count(kind Type) *int {
	if t.types == nil {
		t.types = map[Type]*int{}
	}
	if t.types[kind] == nil {
		t.types[kind] = new(int)
	}
	return t.types[kind]
}

// take continues from an earlier summary.
func (t *tally) take(s *Summary) {
	t.total = s.TotalEntries
	for kind, n := range s.EntriesByType {
		*t.count(kind) = n
	}
	for _, name := range s.Sources {
		source := t.source(name)
		source.entries = int64(s.EntriesBySource[name])
		t.sources = append(t.sources, source)
	}
	if s.FirstTimestamp != nil {
		t.first, t.late = *s.FirstTimestamp, *s.LastTimestamp
	}
}

func (t *tally) summary() Summary {
	s := Summary{TotalEntries: t.total, EntriesByType: map[Type]int{}, EntriesBySource: map[string]int{}, Sources: []string{}}
	for kind, n := range t.types {
		s.EntriesByType[kind] = *n
	}
	for _, source := range t.sources {
		s.EntriesBySource[source.name] = int(source.entries)
		s.Sources = append(s.Sources, source.name)
	}
	if t.total > 0 {
		first, last := t.first, t.late
		s.FirstTimestamp, s.LastTimestamp = &first, &last
	}
	return s
}
