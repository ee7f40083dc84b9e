package runs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"conclave/archive"
	"conclave/internal/jsontext"
	"conclave/session"
	"conclave/transcript"
)

// Thread is a run that was started by another, or started others: of a program
// that keeps each of its subagents as a session of its own.
type Thread struct {
	Run     string    `json:"run"`
	Parent  string    `json:"parent,omitempty"` // the run that started it
	Call    *int      `json:"call,omitempty"`   // the number of the call by which the run at hand did
	Name    string    `json:"name,omitempty"`   // as the program calls it
	Title   string    `json:"title"`
	Entries int       `json:"entries"`
	Began   time.Time `json:"began,omitzero"`
	LastAt  time.Time `json:"last_at,omitzero"`
}

// maxStarts is how many calls are looked into to find out what they started.
const maxStarts = 1000

// hang finds out which lane started each subagent's, and by which call: what the
// record of its first entry says, what the program gave back to the call, what it
// notes beside the subagent's file, or the words that the call had for it. Where
// nothing tells, it was the main lane.
func (s *Shelf) hang(ctx context.Context, h *Sheet, lanes []Lane) error {
	main := mainLane(h)
	for i := range lanes {
		if l := &lanes[i]; l.Name != main && l.Name != transcript.Main && l.Name != "" {
			l.Parent = main
		}
	}
	if len(lanes) < 2 {
		return nil
	}
	f, err := s.newFamily(ctx, h)
	if err != nil {
		return err
	}
	by := map[string]*Lane{}
	for i := range lanes {
		by[lanes[i].Name] = &lanes[i]
	}
	for i := range lanes {
		l := &lanes[i]
		if l.Parent == "" {
			continue
		}
		link, ok := f.of(l.Name)
		if !ok {
			continue
		}
		if link.call >= 0 {
			call := link.call
			l.Call, link.parent = &call, h.Lanes[h.at(call).lane]
		}
		if link.parent != l.Name && by[link.parent] != nil {
			l.Parent = link.parent
		}
	}
	for i := range lanes { // who would hang from itself by others hangs from the main lane
		seen := map[string]bool{}
		for at := &lanes[i]; at != nil && at.Parent != ""; at = by[at.Parent] {
			if seen[at.Name] {
				at.Parent = main
				break
			}
			seen[at.Name] = true
		}
	}
	return nil
}

// family is what is known of who started whom in a run.
type family struct {
	calls map[string]int // of calls that start agents, by their ids
	links map[string]link
}

// link is the call that started a lane, or only whose it was.
type link struct {
	call   int // -1: not known
	parent string
}

func (f *family) of(lane string) (link, bool) {
	l, ok := f.links[lane]
	return l, ok
}

// called links a lane to a call by the call's id.
func (f *family) called(lane, id string) bool {
	n, ok := f.calls[id]
	if ok && f.links[lane].call <= 0 {
		f.links[lane] = link{call: n}
	}
	return ok
}

// newFamily finds out what calls of a run have started.
func (s *Shelf) newFamily(ctx context.Context, h *Sheet) (*family, error) {
	f := &family{calls: map[string]int{}, links: map[string]link{}}
	starts := make([]bool, len(h.Tools)+1)
	for i, name := range h.Tools {
		starts[i+1] = session.StartsAgent(name)
	}
	var calls, results []int
	first, prompts := map[uint16]int{}, map[uint16]int{}
	for i := range h.Total() {
		e := h.at(i)
		if _, ok := first[e.lane]; !ok {
			first[e.lane] = i
		}
		switch types[e.typ] {
		case transcript.UserMessage:
			if _, ok := prompts[e.lane]; !ok {
				prompts[e.lane] = i
			}
		case transcript.ToolUse:
			if starts[e.tool] && len(calls) < maxStarts {
				calls = append(calls, i)
				f.calls[e.toolID] = i
			}
		case transcript.ToolResult:
			if e.call >= 0 && starts[h.at(int(e.call)).tool] && len(results) < maxStarts {
				results = append(results, i)
			}
		}
	}
	main := mainLane(h)
	var begins, begun []int
	for n, name := range h.Lanes {
		if i, ok := first[uint16(n)]; ok && name != main {
			begins = append(begins, i)
			if p, ok := prompts[uint16(n)]; ok {
				begun = append(begun, p)
			}
		}
	}
	for _, step := range []func() error{
		func() error { return s.byRecord(ctx, h, f, begins) },
		func() error { return s.byResult(ctx, h, f, results) },
		func() error { return s.byNote(h, f, begins) },
		func() error { return s.byWords(ctx, h, f, calls, begun) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// shown reads entries, each as it can be shown; those that are gone are left out.
func (s *Shelf) shown(ctx context.Context, h *Sheet, at []int, take func(n int, e *archive.Shown)) error {
	for part := range slices.Chunk(at, 500) {
		list := make([]entry, len(part))
		for i, n := range part {
			list[i] = *h.at(n)
		}
		rows, err := s.rows(ctx, list)
		if err != nil {
			return err
		}
		for i, n := range part {
			row, ok := rows[list[i].id]
			if !ok {
				continue
			}
			if e, err := s.a.Show(row.Ref); err == nil { // else the entry itself says so
				take(n, e)
			}
		}
	}
	return nil
}

// byRecord: who recorded a session wrote down where a subagent hangs.
func (s *Shelf) byRecord(ctx context.Context, h *Sheet, f *family, begins []int) error {
	return s.shown(ctx, h, begins, func(n int, e *archive.Shown) {
		lane := h.Lanes[h.at(n).lane]
		if e.Log && !f.called(lane, jsontext.Text(jsontext.Get(e.Detail, "parent_tool_use_id"))) {
			if parent := jsontext.Text(jsontext.Get(e.Detail, "parent")); parent != "" {
				f.links[lane] = link{-1, parent}
			}
		}
	})
}

// byResult: what a call gave back names the subagent.
func (s *Shelf) byResult(ctx context.Context, h *Sheet, f *family, results []int) error {
	return s.shown(ctx, h, results, func(n int, e *archive.Shown) {
		if id := jsontext.Text(jsontext.Get(e.Raw, "toolUseResult", "agentId")); id != "" {
			f.called(transcript.Subagent(id), h.at(n).toolID)
		}
	})
}

// byNote: the program notes it beside the subagent's file, if that is still there.
func (s *Shelf) byNote(h *Sheet, f *family, begins []int) error {
	for _, n := range begins {
		lane := h.Lanes[h.at(n).lane]
		if l, ok := f.links[lane]; ok && l.call >= 0 {
			continue
		}
		s.mu.Lock()
		src := s.sources[h.at(n).source]
		s.mu.Unlock()
		if src == nil {
			continue
		}
		k := session.OfName(src.kind)
		if k == nil || k.Note == nil {
			continue
		}
		note, ok, err := k.Note(session.Of(src.path, k))
		if err != nil || !ok {
			continue
		}
		if !f.called(lane, note.ToolUseID) && note.Parent != "" {
			f.links[lane] = link{-1, note.Parent}
		}
	}
	return nil
}

// byWords: a call and the first prompt of a lane have the same words. Of several
// calls with the same words the first that is left is the one.
func (s *Shelf) byWords(ctx context.Context, h *Sheet, f *family, calls, begun []int) error {
	taken := map[int]bool{}
	for _, l := range f.links {
		taken[l.call] = true
	}
	begun = slices.DeleteFunc(begun, func(n int) bool {
		l, ok := f.links[h.Lanes[h.at(n).lane]]
		return ok && l.call >= 0
	})
	calls = slices.DeleteFunc(calls, func(n int) bool { return taken[n] })
	if len(begun) == 0 || len(calls) == 0 {
		return nil
	}
	asked := map[string][]int{}
	err := s.shown(ctx, h, calls, func(n int, e *archive.Shown) {
		if words := text(e.Input(), "prompt", "message"); words != "" {
			asked[words] = append(asked[words], n)
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(begun)
	return s.shown(ctx, h, begun, func(n int, e *archive.Shown) {
		words, lane := string(e.Text()), h.at(n).lane
		i := slices.IndexFunc(asked[words], func(call int) bool { return h.at(call).lane != lane })
		if i < 0 {
			return
		}
		f.links[h.Lanes[lane]] = link{call: asked[words][i]}
		asked[words] = slices.Delete(asked[words], i, i+1)
	})
}

// threads are the runs of the session that a run is a thread of, if there are
// others.
func (s *Shelf) threads(ctx context.Context, h *Sheet) ([]Thread, error) {
	s.mu.Lock()
	list := []*Run{}
	if one := s.known(h.Run); one.Session != "" && s.isThread(&one) {
		for id := range s.byRun {
			if r := s.known(id); r.Session == one.Session && r.Agent == one.Agent && s.isThread(&r) {
				list = append(list, &r)
			}
		}
	}
	err := s.titles(ctx, list)
	s.mu.Unlock()
	if err != nil || len(list) < 2 {
		return nil, err
	}
	slices.SortFunc(list, func(a, b *Run) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID)) })
	var all []Thread
	for _, r := range list {
		t := Thread{Run: r.ID, Title: r.Title, Entries: r.Entries, Began: r.Began, LastAt: r.LastAt}
		if t.Name, t.Parent, err = s.threadOf(ctx, r.main); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, s.threadCalls(ctx, h, all)
}

// isThread: it is a session's own file, of a program of which each subagent has
// one.
func (s *Shelf) isThread(r *Run) bool {
	src := s.sources[r.main]
	if src == nil {
		return false
	}
	k := session.OfName(src.kind)
	return k != nil && k.Threads != nil
}

// threadOf is what the first line of a source says of its thread.
func (s *Shelf) threadOf(ctx context.Context, id int64) (name, parent string, err error) {
	s.mu.Lock()
	src := s.sources[id]
	s.mu.Unlock()
	if src == nil {
		return "", "", nil
	}
	for row, err := range s.a.Rows(ctx, "WHERE i.source = ? ORDER BY i.id LIMIT 1", id) {
		if err != nil {
			return "", "", err
		}
		if e, err := s.a.Show(row.Ref); err == nil {
			name, parent = session.OfName(src.kind).Threads(e.Line)
		}
	}
	return name, parent, nil
}

// threadCalls finds the calls of a run that started threads.
func (s *Shelf) threadCalls(ctx context.Context, h *Sheet, all []Thread) error {
	var results []int
	for i := range h.Total() {
		e := h.at(i)
		if e.call < 0 || types[e.typ] != transcript.ToolResult || len(results) == maxStarts {
			continue
		}
		if t := h.at(int(e.call)).tool; t > 0 && session.StartsAgent(h.Tools[t-1]) {
			results = append(results, i)
		}
	}
	return s.shown(ctx, h, results, func(n int, e *archive.Shown) {
		id := jsontext.Text(jsontext.Get(e.Text(), "agent_id"))
		for i := range all {
			if t := &all[i]; t.Run == id && t.Parent == h.Run {
				call := int(h.at(n).call)
				t.Call = &call
			}
		}
	})
}
