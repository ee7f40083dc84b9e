package runs

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"conclave/archive"
	"conclave/archive/archivetest"
	"conclave/archive/search"
	"conclave/internal/sample"
	"conclave/transcript"
	"conclave/usage"
)

// fixtures is an archive of everything that was captured.
func fixtures(t *testing.T) (*archive.Archive, *Shelf) {
	t.Helper()
	a := archivetest.Open(t)
	if rep := archivetest.Refresh(t, a, filepath.Join("..", "..", "testdata", "fixtures")); rep.Changed == 0 {
		t.Fatal("there are no captures")
	}
	return a, shelf(t, a)
}

func shelf(t *testing.T, a *archive.Archive) *Shelf {
	t.Helper()
	s := New(a)
	if _, err := s.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Shelf) all(t *testing.T) []Run {
	t.Helper()
	l, err := s.List(t.Context(), Filter{N: MaxListed}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != l.Total {
		t.Fatalf("%d of %d runs", len(l.Items), l.Total)
	}
	return l.Items
}

func (s *Shelf) sheet(t *testing.T, run string) *Sheet {
	t.Helper()
	h, err := s.Sheet(t.Context(), run)
	if err != nil || h == nil {
		t.Fatalf("%s: %v", run, err)
	}
	return h
}

// Of every capture a page has the entries that an export has, no more, no fewer.
func TestEveryCapture(t *testing.T) {
	a, s := fixtures(t)
	list := s.all(t)
	if len(list) < 20 {
		t.Fatalf("only %d runs", len(list))
	}
	for _, r := range list {
		h := s.sheet(t, r.ID)
		want := map[transcript.Type]int{}
		n := 0
		for e, err := range a.Entries(context.Background(), r.ID) {
			if err != nil {
				t.Fatal(err)
			}
			want[e.Type]++
			n++
		}
		head, err := s.Head(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		for typ, k := range head.Types {
			if want[typ] != k {
				t.Errorf("%s: %d %s, an export has %d", r.ID, k, typ, want[typ])
			}
		}
		if h.Total() != n || r.Entries != n {
			t.Errorf("%s: %d places, %d in the list, an export has %d", r.ID, h.Total(), r.Entries, n)
		}
		lanes := 0
		for _, l := range head.Lanes {
			lanes += l.Entries
			if l.Parent != "" && !slices.ContainsFunc(head.Lanes, func(o Lane) bool { return o.Name == l.Parent }) {
				t.Errorf("%s: %s hangs from %s, which is not there", r.ID, l.Name, l.Parent)
			}
		}
		if lanes != n {
			t.Errorf("%s: %d entries in lanes, want %d", r.ID, lanes, n)
		}
		if r.Entries > 3 && r.Title == "" && want[transcript.UserMessage] > 0 {
			t.Errorf("%s: no title", r.ID)
		}
	}
}

// What all runs cost together is what usage counts, and so is every single one.
func TestCostsAreThoseOfUsage(t *testing.T) {
	a, s := fixtures(t)
	root := filepath.Join("..", "..", "testdata", "fixtures")
	u, err := usage.Count(t.Context(), []string{root}, usage.Options{By: "model", Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	var tokens int64
	var cost float64
	for id := range s.byRun {
		for _, src := range s.byRun[id] {
			for _, sp := range src.spent {
				tokens, cost = tokens+sp.tokens, cost+sp.cost
			}
		}
	}
	if tokens == 0 || tokens != u.Total.Total || math.Abs(cost-u.Total.CostUSD) > 1e-6 {
		t.Errorf("%d tokens for $%f, usage has %d for $%f", tokens, cost, u.Total.Total, u.Total.CostUSD)
	}
	var table strings.Builder
	for _, r := range s.allNames() {
		one, _ := s.summary(r)
		if one.Tokens > 0 {
			fmt.Fprintf(&table, "%s|%d\n", r, one.Tokens)
		}
	}
	archivetest.Same(t, "tokens of each run", table.String(),
		archivetest.Table(t, a, "SELECT bundle, sum(total) FROM usage GROUP BY bundle HAVING sum(total) > 0 ORDER BY bundle"))
}

// A run of which a part has no known price cost at least what the rest did; one
// without any price has no cost. The order by cost goes by what is known.
func TestCostInPart(t *testing.T) {
	root, a := t.TempDir(), archivetest.Open(t)
	for i, models := range [][]string{{"nobody-1"}, {"claude-opus-5", "nobody-1"}, {"claude-opus-5", "claude-opus-5"}, nil} {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		text := fmt.Sprintf(`{"type":"user","uuid":"u","sessionId":%q,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"Go."}}`+"\n", id)
		for n, model := range models {
			text += fmt.Sprintf(`{"type":"assistant","uuid":"a%d","sessionId":%q,"timestamp":"2026-01-01T00:00:01Z","message":{"id":"msg_%d",`+
				`"role":"assistant","model":%q,"content":[{"type":"text","text":"So."}],"usage":{"input_tokens":1000000,"output_tokens":3}}}`+"\n", n, id, 10*i+n, model)
		}
		appendTo(t, filepath.Join(root, "projects", "-p", id+".jsonl"), text)
	}
	archivetest.Refresh(t, a, root)
	list, err := shelf(t, a).List(t.Context(), Filter{N: MaxListed, Sort: "cost"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list.Items {
		cost := "none"
		if r.Cost != nil {
			cost = fmt.Sprintf("%.0f", *r.Cost)
		}
		got = append(got, fmt.Sprintf("%s %s %v", r.ID[len(r.ID)-1:], cost, r.AtLeast))
	}
	if want := []string{"2 10 false", "1 5 true", "3 0 false", "0 none false"}; !slices.Equal(got, want) {
		t.Errorf("costs are %q, want %q", got, want)
	}
}

func (s *Shelf) allNames() (names []string) {
	for id := range s.byRun {
		names = append(names, id)
	}
	slices.Sort(names)
	return names
}

// Windows of any size cover a run without a gap and without a repeat, and say what
// an export says.
func TestWindowsTile(t *testing.T) {
	a, s := fixtures(t)
	list := s.all(t)
	slices.SortFunc(list, func(a, b Run) int { return b.Entries - a.Entries })
	type exported struct {
		sheet *Sheet
		want  map[string]int
	}
	held := map[string]exported{}
	var drawn []Run // the longest, and others
	for _, i := range append([]int{0}, sample.Pick(t, len(list), 4, 6)...) {
		drawn = append(drawn, list[i])
	}
	for _, r := range drawn {
		want := map[string]int{}
		for e, err := range a.Entries(t.Context(), r.ID) {
			if err != nil {
				t.Fatal(err)
			}
			want[fmt.Sprint(e.Source, e.Sequence, e.Type, head(string(bytes.ToValidUTF8([]byte(e.Text), []byte("\uFFFD"))), MaxText))]++
		}
		held[r.ID] = exported{s.sheet(t, r.ID), want}
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SampledFrom(drawn).Draw(rt, "run")
		h, want := held[r.ID].sheet, held[r.ID].want
		got, from := map[string]int{}, 0
		for from < h.Total() {
			w, err := s.Window(t.Context(), h, from, max(h.Total()/12, rapid.IntRange(1, 600).Draw(rt, "n")))
			if err != nil {
				rt.Fatal(err)
			}
			for i, e := range w.Items {
				if e.N != from+i || e.Fault != "" {
					rt.Fatalf("%s: entry %d is number %d %s", r.ID, from+i, e.N, e.Fault)
				}
				got[fmt.Sprint(e.Lane, e.Seq, e.Type, e.Text)]++
			}
			from += len(w.Items)
		}
		if !maps.Equal(got, want) {
			rt.Fatalf("%s: the windows have %d different entries, an export %d, or other ones", r.ID, len(got), len(want))
		}
	})
}

// Whoever follows what grows, file by file and line by line, has in the end what
// somebody has who comes later.
func TestGrowingIsLikeReadingOnce(t *testing.T) {
	root := t.TempDir()
	a := archivetest.Open(t)
	s := shelf(t, a)
	var sessions [][]string
	for seed := range uint64(3) {
		sessions = append(sessions, strings.SplitAfter(string(archivetest.Session(t, seed+91, 400<<10)), "\n"))
	}
	path := func(i int) string {
		return filepath.Join(root, "projects", "-p", fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", i))
	}
	for step := range 12 {
		i := step % len(sessions)
		lines := sessions[i]
		part := lines[len(lines)*(step/3)/4 : len(lines)*(step/3+1)/4]
		appendTo(t, path(i), strings.Join(part, ""))
		if _, err := a.RefreshFiles(t.Context(), []string{path(i)}); err != nil {
			t.Fatal(err)
		}
		names, err := s.Update(t.Context(), path(i))
		if err != nil || len(names) != 1 {
			t.Fatalf("step %d: %v %v", step, names, err)
		}
		if h := s.sheet(t, names[0]); h.Epoch != 0 {
			t.Errorf("step %d: what was appended changed earlier numbers", step)
		}
	}
	fresh := shelf(t, a)
	for _, r := range fresh.all(t) {
		mine, _, err := s.One(t.Context(), r.ID, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if r.Entries < 20 || mine.Entries != r.Entries || mine.Tokens != r.Tokens || mine.Title != r.Title || mine.Last != r.Last ||
			!mine.Began.Equal(r.Began) || !mine.LastAt.Equal(r.LastAt) {
			t.Errorf("grown %+v\nread once %+v", mine, r)
		}
		got, err := s.sheet(t, r.ID).Columns(0, Whole)
		if err != nil {
			t.Fatal(err)
		}
		want, err := fresh.sheet(t, r.ID).Columns(0, Whole)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: other places than who reads once has", r.ID)
		}
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// What the index finds in a run is what reading all of it finds.
func TestFindIsLikeReading(t *testing.T) {
	a, s := fixtures(t)
	found := 0
	for _, r := range s.all(t) {
		h := s.sheet(t, r.ID)
		rows, err := s.rows(t.Context(), h.span(0, h.Total()))
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{"file ", "fact", `"the file"`, "Bash", "tool fin", "zzzzzz"} {
			hits, _, err := s.Find(t.Context(), h, words)
			if err != nil {
				t.Fatal(err)
			}
			holds, err := search.Matcher(a, strings.TrimSuffix(words, " "))
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(words, " ") || strings.HasSuffix(words, `"`) {
				continue // a whole word: there may be fewer
			}
			var want []int
			for i := range h.Total() {
				row := rows[h.at(i).id]
				if row.Doc == 0 {
					continue
				}
				if ok, err := holds(row); err != nil || ok {
					want = append(want, i)
				}
			}
			if !slices.Equal(hits, want) && len(hits)+len(want) > 0 {
				t.Errorf("%s: %q is in %v, want %v", r.ID, words, hits, want)
			}
			found += len(hits)
		}
	}
	if found == 0 {
		t.Error("nothing was found anywhere")
	}
}

// What a page is sent of the entries of a run is what they are.
func TestColumns(t *testing.T) {
	_, s := fixtures(t)
	for _, r := range s.all(t) {
		h := s.sheet(t, r.ID)
		for _, from := range []int{0, 1, h.Total() / 2, h.Total()} {
			columns := map[string][]float64{}
			var head columnsHead
			for _, part := range []Part{Look, Rest, Whole} {
				c, err := h.Columns(from, part)
				if err != nil {
					t.Fatal(err)
				}
				var got map[string][]float64
				head, got = readColumns(t, c.Data)
				for name, column := range got {
					if have, ok := columns[name]; ok && !slices.Equal(have, column) {
						t.Errorf("%s: %s is another one in a part", r.ID, name)
					}
					if columns[name] = column; part == Whole && len(got) != len(columns) {
						t.Errorf("%s: the parts have %d columns, all of them %d", r.ID, len(columns), len(got))
					}
				}
			}
			if head.Run != h.Run || head.From != min(from, h.Total()) || head.Total != h.Total() || !slices.Equal(head.Lanes, h.Lanes) {
				t.Fatalf("%s from %d: %+v", r.ID, from, head)
			}
			counts := map[[2]int]int{}
			for _, c := range head.Counts {
				counts[[2]int{c[0], c[1]}] += c[2]
			}
			for i, e := range h.span(head.From, h.Total()) {
				counts[[2]int{int(letters[e.typ]), int(e.flags)}]--
				want := map[string]float64{"at": float64(max(e.at/1000-head.Began, 0)), "size": float64(min(e.chars, 65535)),
					"tokens": float64(e.tokens), "call": float64(e.call), "lane": float64(e.lane), "tool": float64(e.tool) - 1,
					"type": float64(letters[e.typ]), "flag": float64(e.flags)}
				for name, column := range columns {
					if column[i] != want[name] {
						t.Fatalf("%s: %s of entry %d is %v, want %v", r.ID, name, head.From+i, column[i], want[name])
					}
				}
			}
			for of, n := range counts {
				if n != 0 {
					t.Errorf("%s from %d: of type %c with flags %d %d too many are counted", r.ID, from, of[0], of[1], n)
				}
			}
		}
	}
}

type columnsHead struct {
	Run         string
	From, Total int
	Began       int64
	Lanes       []string
	Columns     [][2]string
	Counts      [][3]int
}

// readColumns reads what Columns wrote, as its comment says it.
func readColumns(t *testing.T, data []byte) (head columnsHead, got map[string][]float64) {
	t.Helper()
	length := binary.LittleEndian.Uint32(data)
	if err := json.Unmarshal(data[4:4+length], &head); err != nil {
		t.Fatal(err)
	}
	rest, at := data[4+length:], 4+int(length)
	got = map[string][]float64{}
	for _, c := range head.Columns {
		list := map[string]any{"f64": new(float64), "u32": new(uint32), "i32": new(int32), "u16": new(uint16),
			"i16": new(int16), "u8": new(uint8)}
		width := binary.Size(list[c[1]])
		if at%width != 0 {
			t.Errorf("%s begins at %d", c[0], at)
		}
		for range head.Total - head.From {
			n, err := binary.Decode(rest, binary.LittleEndian, list[c[1]])
			if err != nil {
				t.Fatal(err)
			}
			rest, at = rest[n:], at+n
			got[c[0]] = append(got[c[0]], reflect.Indirect(reflect.ValueOf(list[c[1]])).Convert(reflect.TypeFor[float64]()).Float())
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes are left after %v", len(rest), head.Columns)
	}
	return head, got
}
