package runs

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/archive/archivetest"
	"conclave/internal/sample"
)

// lanesOfRun writes the lines of several agents of one session.
type lanesOfRun struct {
	root  string
	lines int
	open  []string // calls without a result
}

func (l *lanesOfRun) path(agent int) string {
	dir := filepath.Join(l.root, "projects", "-p")
	if agent == 0 {
		return filepath.Join(dir, captured+".jsonl")
	}
	return filepath.Join(dir, captured, "subagents", fmt.Sprintf("agent-a%d.jsonl", agent))
}

// line is the next line of an agent: a prompt, a call, or the result of one.
func (l *lanesOfRun) line(agent int, at time.Time, what int) string {
	l.lines++
	n := l.lines
	head := fmt.Sprintf(`"uuid":"u%d","sessionId":%q`, n, captured)
	if agent > 0 {
		head += fmt.Sprintf(`,"isSidechain":true,"agentId":"a%d"`, agent)
	}
	if !at.IsZero() {
		head += fmt.Sprintf(`,"timestamp":%q`, at.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	switch {
	case what == 1:
		l.open = append(l.open, fmt.Sprintf("toolu_%d", n))
		tool, input := "Bash", `{"command":"ls"}`
		if n%2 == 0 {
			tool, input = "Edit", fmt.Sprintf(`{"file_path":"/p/%d","old_string":"a","new_string":"b"}`, n)
		}
		return fmt.Sprintf(`{"type":"assistant",%s,"message":{"id":"msg_%d","role":"assistant","model":"claude-opus-5-5",`+
			`"content":[{"type":"tool_use","id":"toolu_%[2]d","name":%q,"input":%s}],`+
			`"usage":{"input_tokens":%[2]d,"output_tokens":3}}}`+"\n", head, n, tool, input)
	case what == 2 && len(l.open) > 0:
		call := l.open[0]
		l.open = l.open[1:]
		return fmt.Sprintf(`{"type":"user",%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,`+
			`"content":"a file","is_error":%v}]}}`+"\n", head, call, n%3 == 0)
	}
	return fmt.Sprintf(`{"type":"user",%s,"message":{"role":"user","content":"line %d"}}`+"\n", head, n)
}

// told is what a sheet says of its entries.
func (h *Sheet) told() (list []Entry) {
	for n := range h.Total() {
		list = append(list, h.bare(n))
	}
	return list
}

// Lanes of one run grow in any order, with times that go back and some without any:
// after each step the run is what somebody reads who comes then, an epoch that stays
// says that numbers stand, and no sheet that somebody holds has changed.
func TestLanesGrowLikeReadingOnce(t *testing.T) {
	draw := sample.Rand(t)
	for n := range sample.Count(2, 3, 300) {
		t.Run(fmt.Sprint(n), func(t *testing.T) { lanesGrow(t, draw) })
	}
}

func lanesGrow(t *testing.T, draw *rand.Rand) {
	l := &lanesOfRun{root: t.TempDir()}
	a := archivetest.Open(t)
	s := shelf(t, a)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	one := func(of ...int) int { return of[draw.IntN(len(of))] }
	type held struct {
		sheet *Sheet
		told  []Entry
	}
	var sheets []held
	for step := range 2 + draw.IntN(12) {
		var paths []string
		for range one(1, 2) {
			agent, text := draw.IntN(4), ""
			for range one(1, 1, 3, 40, 600) {
				at = at.Add(time.Duration(one(1, 1, 1, 0, -5)) * time.Second)
				when := at
				if draw.IntN(10) == 0 {
					when = time.Time{}
				}
				text += l.line(agent, when, draw.IntN(3))
			}
			appendTo(t, l.path(agent), text)
			paths = append(paths, l.path(agent))
		}
		if _, err := a.RefreshFiles(t.Context(), paths); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Update(t.Context(), paths...); err != nil {
			t.Fatal(err)
		}
		once := shelf(t, a)
		h, fresh := s.sheet(t, captured), once.sheet(t, captured)
		got, want := h.told(), fresh.told()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("step %d: %d entries, read once %d, or others", step, len(got), len(want))
		}
		if got, want := h.edited(), fresh.edited(); !slices.Equal(got, want) {
			t.Fatalf("step %d: the edits are %v, read once %v", step, got, want)
		}
		for _, old := range sheets {
			if !reflect.DeepEqual(old.sheet.told(), old.told) {
				t.Fatalf("step %d: a sheet of %d entries that somebody holds has changed", step, len(old.told))
			}
			for n := range max(min(len(old.told)-Unsettled, len(got)), 0) {
				if x, y := old.told[n], got[n]; h.Epoch == old.sheet.Epoch && (x.Lane != y.Lane || x.Seq != y.Seq) {
					t.Fatalf("step %d: entry %d is another one, and the epoch the same", step, n)
				}
			}
		}
		sheets = append(sheets, held{h, got})
	}
}

// A call whose result failed has changed no file, also when the result comes after
// the sheet was made, and long after the call.
func TestFailedEditsAreNone(t *testing.T) {
	l := &lanesOfRun{root: t.TempDir()}
	a := archivetest.Open(t)
	s := shelf(t, a)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	grow := func(want int, kinds ...int) {
		t.Helper()
		for _, what := range kinds {
			at = at.Add(time.Second)
			appendTo(t, l.path(0), l.line(0, at, what))
		}
		if _, err := a.RefreshFiles(t.Context(), []string{l.path(0)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Update(t.Context(), l.path(0)); err != nil {
			t.Fatal(err)
		}
		head, err := s.Head(t.Context(), s.sheet(t, captured))
		if err != nil {
			t.Fatal(err)
		}
		if len(head.Edits) != want {
			t.Errorf("after %d lines %d edits, want %d", l.lines, len(head.Edits), want)
		}
	}
	grow(1, 0, 1) // line 2 edits
	grow(0, 2)    // line 3 says that it failed
	grow(1, 1, 2) // line 4 edits, and it succeeds
	grow(2, 1)    // line 6 edits
	grow(2, make([]int, 3002)...)
	if h := s.sheet(t, captured); len(h.base) < 10 {
		t.Errorf("%d entries are settled: the next result is of a call that may change", len(h.base))
	}
	grow(1, 2) // line 3009 says that it failed
}

// What grows at its end shares with what it was all that is not read again.
func TestGrowthCostsWhatIsAdded(t *testing.T) {
	l := &lanesOfRun{root: t.TempDir()}
	a := archivetest.Open(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	grow := func(agent, lines int) {
		var text strings.Builder
		for range lines {
			at = at.Add(time.Second)
			text.WriteString(l.line(agent, at, l.lines%3))
		}
		appendTo(t, l.path(agent), text.String())
		if _, err := a.RefreshFiles(t.Context(), []string{l.path(agent)}); err != nil {
			t.Fatal(err)
		}
	}
	grow(1, 2000)
	grow(0, sample.Count(3_000, 8_000, 30_000))
	s := shelf(t, a)
	h := s.sheet(t, captured)
	anew := 0
	for step := range 60 {
		agent := step % 2 * 2 // the main one, and one that has just begun
		grow(agent, 1)
		if _, err := s.Update(t.Context(), l.path(agent)); err != nil {
			t.Fatal(err)
		}
		next := s.sheet(t, captured)
		if next == h || next.Epoch != h.Epoch || next.Total() <= h.Total() {
			t.Fatalf("step %d: %d entries and then %d, epochs %d and %d", step, h.Total(), next.Total(), h.Epoch, next.Epoch)
		}
		if &next.base[0] != &h.base[0] {
			anew++
		}
		if len(next.tail) > maxTail {
			t.Errorf("step %d: %d of %d entries are new for one line", step, len(next.tail), next.Total())
		}
		h = next
	}
	if anew > 3 { // as its memory grows
		t.Errorf("everything was put together %d times for 60 lines", anew)
	}
	grown, _, err := s.One(t.Context(), captured, at)
	if err != nil {
		t.Fatal(err)
	}
	once, _, err := shelf(t, a).One(t.Context(), captured, at)
	if err != nil {
		t.Fatal(err)
	}
	if grown.Entries != once.Entries || grown.Tokens != once.Tokens || grown.Title != once.Title || grown.Last != once.Last ||
		!grown.Began.Equal(once.Began) || !grown.LastAt.Equal(once.LastAt) || grown.State != once.State {
		t.Errorf("grown %+v\nread once %+v", grown, once)
	}
}

// Long runs are read before somebody asks for them, short ones are not.
func TestReadAhead(t *testing.T) {
	s, long, _ := large(t, 30, 2*longRun)
	if err := s.ReadAhead(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if len(s.sheets) != 1 || s.sheets[0].Run != long {
		t.Fatalf("%d runs were read ahead, want %s alone", len(s.sheets), long)
	}
	if h := s.sheets[0]; h.head == nil || h.packed[Look] == nil {
		t.Error("its head or its columns are still to be made")
	}
}
