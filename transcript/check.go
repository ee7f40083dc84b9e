package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/internal/jsontext"
)

// Violation says which invariant a log breaks, and where.
type Violation struct {
	Line      int    `json:"line"`      // from 1
	Invariant string `json:"invariant"` // its name in the specification
	Reason    string `json:"reason"`
}

func (v *Violation) Error() string {
	return fmt.Sprintf("line %d: %s: %s", v.Line, v.Invariant, v.Reason)
}

// The invariants, by the names that the specification gives them.
const (
	envelopeCompleteness = "envelope completeness"
	sequenceMonotonicity = "sequence monotonicity"
	typeVocabulary       = "type vocabulary"
	nonBlockingEmission  = "non-blocking emission"
	adapterLabeling      = "adapter labelling"
	sourceConsistency    = "source consistency"
)

// Checker checks a log against the six invariants, line by line.
type Checker struct {
	line    int
	tally   tally
	last    map[[2]string]int64 // prompt name and source → last number
	adapter map[string]string   // prompt name → adapter
	counts  map[string]int      // prompt name → entries since its start
}

// NewChecker returns a checker at the beginning of a log.
func NewChecker() *Checker {
	return &Checker{last: map[[2]string]int64{},
		adapter: map[string]string{}, counts: map[string]int{}}
}

// summary returns the statistics of the lines so far.
func (c *Checker) summary() Summary { return c.tally.summary() }

// Line takes the next line and returns the first violation in it.
func (c *Checker) Line(line []byte) *Violation {
	c.line++
	event, context, err := envelope(line)
	if err != nil {
		return c.violation(envelopeCompleteness, "not a log record: %v", err)
	}
	if !strings.HasPrefix(event, eventPrefix) {
		return nil
	}
	head := jsontext.Members(line, "timestamp", "level")
	if stamp := jsontext.Text(head[0]); !utcTime(stamp) {
		return c.violation(envelopeCompleteness, "the record's timestamp %q is no ISO-8601 time in UTC", stamp)
	}
	level := jsontext.Text(head[1])
	switch {
	case event == eventError && level != "WARNING":
		return c.violation(nonBlockingEmission, "a transcript error of level %s: errors are warnings, they never fail a run", level)
	case event != eventError && level != "DEBUG":
		return c.violation(envelopeCompleteness, "%s has the level %s: it is a DEBUG record", event, level)
	}
	switch event {
	case EventEntry:
		return c.entry(context)
	case EventStart:
		return c.start(context)
	case EventStop:
		return c.stop(context)
	}
	return nil
}

// utcTime says whether a time is one in UTC, with its offset written.
func utcTime(stamp string) bool {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return false
	}
	_, offset := at.Zone()
	return offset == 0
}

func (c *Checker) violation(invariant, format string, args ...any) *Violation {
	return &Violation{c.line, invariant, fmt.Sprintf(format, args...)}
}

func (c *Checker) entry(context []byte) *Violation {
	e, err := parseContext(context)
	if err != nil {
		return c.violation(envelopeCompleteness, "%v", err)
	}
	if stamp := jsontext.Text(jsontext.Get(context, "timestamp")); !utcTime(stamp) {
		return c.violation(envelopeCompleteness, "timestamp %q is not in UTC", stamp)
	}
	if !e.Type.Valid() {
		return c.violation(typeVocabulary, "entry_type %q is none of the nine", e.Type)
	}
	if v := c.label(e.PromptName, e.Adapter); v != nil {
		return v
	}
	if !ValidSource(e.Source) {
		return c.violation(sourceConsistency, "source %q is neither main nor subagent:{id}", e.Source)
	}
	if e.Adapter == AdapterCodex && e.Source != Main {
		return c.violation(sourceConsistency, "%s has the source %q, it has main only", e.Adapter, e.Source)
	}
	key := [2]string{e.PromptName, e.Source}
	if want := c.last[key] + 1; e.Sequence != want {
		return c.violation(sequenceMonotonicity, "%s of %q has number %d, expected %d", e.Source, e.PromptName, e.Sequence, want)
	}
	c.last[key] = e.Sequence
	c.counts[e.PromptName]++
	c.tally.add(c.tally.source(e.Source), &e)
	return nil
}

// label: a run is one adapter's from its first record to its last, and the
// name is one of those that are registered.
func (c *Checker) label(prompt, adapter string) *Violation {
	if !registered(adapter) {
		return c.violation(adapterLabeling, "adapter %q is not registered (known: %s)", adapter, strings.Join(Adapters(), ", "))
	}
	if was, ok := c.adapter[prompt]; ok && was != adapter {
		return c.violation(adapterLabeling, "%q changes from %s to %s", prompt, was, adapter)
	}
	c.adapter[prompt] = adapter
	return nil
}

func registered(adapter string) bool { return slices.Contains(Adapters(), adapter) }

type markers struct {
	PromptName      string         `json:"prompt_name"`
	Adapter         string         `json:"adapter"`
	TotalEntries    *int           `json:"total_entries"`
	EntriesBySource map[string]int `json:"entries_by_source"`
}

func (c *Checker) start(context []byte) *Violation {
	var m markers
	if err := json.Unmarshal(context, &m); err != nil || m.PromptName == "" || m.Adapter == "" {
		return c.violation(envelopeCompleteness, "a start without prompt_name and adapter")
	}
	return c.label(m.PromptName, m.Adapter)
}

// stop: what the run says of itself must be what is there. A difference is an
// entry that was lost on the way to this log.
func (c *Checker) stop(context []byte) *Violation {
	var m markers
	if err := json.Unmarshal(context, &m); err != nil || m.TotalEntries == nil {
		return c.violation(envelopeCompleteness, "a stop without its summary")
	}
	if have := c.counts[m.PromptName]; have != *m.TotalEntries {
		return c.violation(nonBlockingEmission, "the run counted %d entries, this log holds %d", *m.TotalEntries, have)
	}
	for _, source := range slices.Sorted(maps.Keys(m.EntriesBySource)) {
		if have := c.last[[2]string{m.PromptName, source}]; have != int64(m.EntriesBySource[source]) {
			return c.violation(nonBlockingEmission, "the run counted %d entries of %s, this log holds %d", m.EntriesBySource[source], source, have)
		}
	}
	return nil
}

// Check runs a Checker over lines and returns the first violation, nil if
// there is none, and the statistics of what was read. A log without entries
// is a violation too: there is nothing that could be right about it.
func Check(lines func(yield func([]byte) bool)) (Summary, error) {
	c := NewChecker()
	var found *Violation
	lines(func(line []byte) bool {
		found = c.Line(line)
		return found == nil
	})
	if found != nil {
		return c.summary(), found
	}
	if c.tally.total == 0 {
		return c.summary(), errors.New("no transcript entries")
	}
	return c.summary(), nil
}
