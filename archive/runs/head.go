package runs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"conclave/transcript"
)

// Head is what is to be known of a run before its entries are read.
type Head struct {
	Epoch int                     `json:"epoch"`
	Lanes []Lane                  `json:"lanes"`
	Types map[transcript.Type]int `json:"types"`
	Tools []Tool                  `json:"tools"`
	Time  []Share                 `json:"time"`
	Edits []Edit                  `json:"edits"`
	// Threads are the runs of the same session, where its subagents have runs of
	// their own.
	Threads []Thread `json:"threads,omitempty"`
	// MoreEdits are those before the ones listed.
	MoreEdits int `json:"more_edits,omitempty"`
}

// Lane is the entries of one agent of a run.
type Lane struct {
	Name    string    `json:"name"`
	Parent  string    `json:"parent,omitempty"` // the lane that started it
	Call    *int      `json:"call,omitempty"`   // the number of the call by which it did
	Role    string    `json:"role,omitempty"`
	Entries int       `json:"entries"`
	Began   time.Time `json:"began,omitzero"`
	LastAt  time.Time `json:"last_at,omitzero"`
}

// Tool is how one tool was used. Seconds are the time between calls and results.
type Tool struct {
	Name    string  `json:"name"`
	Calls   int     `json:"calls"`
	Failed  int     `json:"failed"`
	Seconds float64 `json:"seconds"`
}

// Share is how long the main lane was at something: until a person wrote
// ("person"), until a tool gave back ("tools"), until the model had thought
// ("thinking") or said or called something ("model").
type Share struct {
	Category string  `json:"category"`
	Seconds  float64 `json:"seconds"`
}

// Edit is a file that a call changed: one that failed changed none.
type Edit struct {
	Change
	Entry int       `json:"entry"`
	At    time.Time `json:"at,omitzero"`
}

// maxEdits is how many calls that edit are looked into.
const maxEdits = 100

// Head sums up a run. What the entries say is summed up once; which other runs it
// has to do with may change without them.
func (s *Shelf) Head(ctx context.Context, h *Sheet) (Head, error) {
	s.mu.Lock()
	known := h.head
	s.mu.Unlock()
	if known == nil {
		sum, err := s.sumUp(ctx, h)
		if err != nil {
			return sum, err
		}
		known = &sum
		s.mu.Lock()
		h.head = known
		s.mu.Unlock()
	}
	out := *known
	var err error
	out.Threads, err = s.threads(ctx, h)
	return out, err
}

func (s *Shelf) sumUp(ctx context.Context, h *Sheet) (Head, error) {
	out := Head{Epoch: h.Epoch, Types: map[transcript.Type]int{}, Lanes: []Lane{}}
	lanes := make([]Lane, len(h.Lanes))
	origins := make([]int64, len(h.Lanes))
	for i := range h.Total() {
		e := h.at(i)
		out.Types[types[e.typ]]++
		l := &lanes[e.lane]
		if l.Entries++; l.Began.IsZero() {
			l.Began = stamp(e.at)
		}
		if l.Entries == 1 {
			origins[e.lane] = e.origin
		}
		if e.at != 0 {
			l.LastAt = stamp(e.at)
		}
	}
	s.mu.Lock()
	for i := range lanes {
		if role := s.originOf(origins[i]).seat; role != "main" && role != "subagent" {
			lanes[i].Role = role
		}
	}
	s.mu.Unlock()
	for i := range lanes {
		lanes[i].Name = h.Lanes[i]
		if lanes[i].Entries > 0 {
			out.Lanes = append(out.Lanes, lanes[i])
		}
	}
	slices.SortStableFunc(out.Lanes, func(a, b Lane) int { return a.Began.Compare(b.Began) })
	if err := s.hang(ctx, h, out.Lanes); err != nil {
		return out, err
	}
	out.Tools, out.Time = h.toolUse(), h.shares()
	edited := h.edited()
	out.MoreEdits = max(0, len(edited)-maxEdits)
	var err error
	out.Edits, err = s.edits(ctx, h, edited[out.MoreEdits:])
	return out, err
}

// edited are the numbers of the calls that edit, but for those whose result, which
// may come much later, says that they failed.
func (h *Sheet) edited() (calls []int) {
	failed := map[int]bool{}
	for i := range h.Total() {
		switch e := h.at(i); {
		case e.flags&FlagEdit != 0:
			calls = append(calls, i)
		case e.call >= 0 && e.flags&FlagError != 0:
			failed[int(e.call)] = true
		}
	}
	return slices.DeleteFunc(calls, func(n int) bool { return failed[n] })
}

// mainLane is the lane of the run's own agent.
func mainLane(h *Sheet) string {
	if slices.Contains(h.Lanes, transcript.Main) || len(h.Lanes) == 0 {
		return transcript.Main
	}
	return h.Lanes[0]
}

func (h *Sheet) toolUse() []Tool {
	tools := make([]Tool, len(h.Tools))
	for i := range h.Total() {
		e := h.at(i)
		switch {
		case types[e.typ] == transcript.ToolUse && e.tool > 0:
			tools[e.tool-1].Calls++
		case types[e.typ] == transcript.ToolResult && e.call >= 0:
			call := h.at(int(e.call))
			if call.tool == 0 {
				continue
			}
			t := &tools[call.tool-1]
			t.Seconds += seconds(call.at, e.at)
			if e.flags&FlagError != 0 {
				t.Failed++
			}
		}
	}
	used := []Tool{}
	for i, t := range tools {
		if t.Name = h.Tools[i]; t.Calls > 0 {
			used = append(used, t)
		}
	}
	slices.SortFunc(used, func(a, b Tool) int { return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Name, b.Name)) })
	return used
}

func seconds(from, to int64) float64 {
	if from == 0 || to <= from {
		return 0
	}
	return float64(to-from) / 1e6
}

func (h *Sheet) shares() []Share {
	spent, last := map[string]float64{}, int64(0)
	main := mainLane(h)
	for i := range h.Total() {
		e := h.at(i)
		if h.Lanes[e.lane] != main {
			continue
		}
		category := ""
		switch types[e.typ] {
		case transcript.UserMessage:
			category = "person"
		case transcript.ToolResult:
			category = "tools"
		case transcript.Thinking:
			category = "thinking"
		case transcript.AssistantMessage, transcript.ToolUse:
			category = "model"
		default:
			continue
		}
		spent[category] += seconds(last, e.at)
		last = max(last, e.at)
	}
	list := []Share{}
	for _, c := range []string{"model", "thinking", "tools", "person"} {
		if spent[c] > 0 {
			list = append(list, Share{c, spent[c]})
		}
	}
	return list
}

// edits reads what calls changed, the latest first.
func (s *Shelf) edits(ctx context.Context, h *Sheet, at []int) ([]Edit, error) {
	list := make([]entry, len(at))
	for i, n := range at {
		list[i] = *h.at(n)
	}
	rows, err := s.rows(ctx, list)
	if err != nil {
		return nil, err
	}
	found := []Edit{}
	for i, n := range slices.Backward(at) {
		row, ok := rows[list[i].id]
		if !ok {
			continue
		}
		shown, err := s.a.Show(row.Ref)
		if err != nil {
			continue // the entry itself says so
		}
		for _, c := range changes(shown.Input()) {
			found = append(found, Edit{c, n, stamp(list[i].at)})
		}
	}
	return found, nil
}
