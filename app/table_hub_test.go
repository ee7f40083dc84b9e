package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/engine"
	"conclave/internal/sample"
	"conclave/table"
	tableflow "conclave/table/flow"
)

// typist is a person who types whatever comes to mind: an answer when they are
// asked, or that they leave; words of their own accord, now or when they are
// nudged, or just when it is too late for them.
type typist struct {
	name string
	mind *mind
}

// mind is what all of them have typed.
type mind struct {
	mu     sync.Mutex
	rnd    *rand.Rand
	typed  []string
	nudged chan struct{}
}

func (m *mind) oneIn(n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rnd.IntN(n) == 0
}

func (m *mind) types(who string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := fmt.Sprintf("%s-%d.", who, len(m.typed))
	m.typed = append(m.typed, line)
	return line, nil
}

func (p *typist) Ask(ctx context.Context, q Question) (string, error) {
	switch {
	case q.Who != "" && p.mind.oneIn(4):
		return "/quit", nil
	case q.Who != "", p.mind.oneIn(3):
		return p.mind.types(p.name)
	}
	select {
	case <-p.mind.nudged:
		return p.mind.types(p.name)
	case <-ctx.Done():
		if p.mind.oneIn(2) {
			return p.mind.types(p.name) // too late
		}
		return "", context.Cause(ctx)
	}
}

// hubRig is a hub without a table, and what its screens show.
type hubRig struct {
	*tableHub
	t     *testing.T
	mind  *mind
	mu    sync.Mutex
	shown map[*App][]string
}

func newHubRig(t *testing.T, seed uint64) *hubRig {
	r := &hubRig{t: t, shown: map[*App][]string{}}
	r.mind = &mind{rnd: rand.New(rand.NewPCG(seed, 12)), nudged: make(chan struct{})}
	own := r.screen()
	r.tableHub = newTableHub(own.app, t.TempDir(), "ash", own)
	r.stays, r.human = true, func(string) bool { return true }
	return r
}

func (r *hubRig) screen(seats ...string) *tableScreen {
	a := &App{Person: &typist{strings.Join(seats, "+"), r.mind}}
	a.Show = func(e Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.shown[a] = append(r.shown[a], fmt.Sprint(e))
	}
	k, err := a.newAsker("")
	if err != nil {
		r.t.Fatal(err)
	}
	return a.newTableScreen(seats, k)
}

func (r *hubRig) saw(s *tableScreen) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.shown[s.app], "\n")
}

// TestNoWordIsLost: people come and go, are asked, speak of their own accord and
// leave, in any order. Every line that somebody typed is an answer, begins a
// cycle, or is shown to them as not said; none is two of these.
func TestNoWordIsLost(t *testing.T) {
	for _, seed := range sample.Pick(t, 1000, 20, 60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { noWordIsLost(t, newHubRig(t, uint64(seed))) })
	}
}

func noWordIsLost(t *testing.T, r *hubRig) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var found []string
	var mu sync.Mutex
	take := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, line)
	}
	seats := []string{"ada", "ben", "cleo"}
	var at sync.WaitGroup
	for _, seat := range seats {
		at.Go(func() { // who leaves comes back
			for ctx.Err() == nil {
				s := r.screen(seat)
				err := r.stay(ctx, s, nil)
				for line := range strings.Lines(r.saw(s)) {
					if _, words, ok := strings.Cut(strings.TrimSpace(line), "This was not said: "); ok {
						take(strings.TrimSuffix(words, "}"))
					}
				}
				if errors.Is(err, errOver) {
					return
				}
				if err != nil {
					t.Errorf("%s: %v", seat, err)
				}
			}
		})
	}
	for range 15 { // now the table listens, and now it asks some of them
		if r.mind.oneIn(2) {
			heard := make(chan struct{})
			go func() {
				select {
				case r.mind.nudged <- struct{}{}:
				case <-heard:
				}
			}()
			_, words, err := r.listen(ctx)
			close(heard)
			if err != nil {
				t.Fatalf("listen: %v", err)
			}
			take(words)
			continue
		}
		var asks sync.WaitGroup
		for _, seat := range seats {
			if r.mind.oneIn(2) {
				asks.Go(func() {
					answer, err := r.Ask(ctx, engine.Question{Who: seat, Text: "?"})
					if err != nil {
						t.Errorf("asked %s: %v", seat, err)
					}
					take(answer)
				})
			}
		}
		asks.Wait()
	}
	r.close(false)
	at.Wait()
	if ctx.Err() != nil {
		t.Fatal("it took too long")
	}
	slices.Sort(found)
	slices.Sort(r.mind.typed)
	if !slices.Equal(found, r.mind.typed) {
		t.Errorf("typed %q\nfound %q", r.mind.typed, found)
	}
}

// One seat is one person's; the refusal says where they sit.
func TestOneSeatOnePerson(t *testing.T) {
	r := newHubRig(t, 1)
	first := r.screen("ada", "ben")
	first.where = "the terminal of process 12"
	if err := r.join(first); err != nil {
		t.Fatal(err)
	}
	second := r.screen("ben")
	err := r.join(second)
	if KindOf(err) != No || !strings.Contains(err.Error(), "ben sits already, at the terminal of process 12") {
		t.Errorf("the second: %v", err)
	}
	r.part(first)
	if err := r.join(second); err != nil {
		t.Errorf("after the first left: %v", err)
	}
	r.close(false)
	third := r.screen("ada")
	if err := r.join(third); !errors.Is(err, errOver) {
		t.Errorf("a table that is left: %v", err)
	}
}

// People are asked at once where each of them sits at a screen of their own, and
// in turn where two share one or somebody is awaited.
func TestApart(t *testing.T) {
	own := (&App{}).newTableScreen([]string{"bram", "corin"}, nil)
	h := newTableHub(own.app, t.TempDir(), "ash", own)
	h.screens = append(h.screens, (&App{}).newTableScreen([]string{"dora"}, nil))
	for seats, want := range map[string]bool{"bram": true, "bram dora": true, "bram corin": false, "dora emil": false} {
		if got := h.apart(strings.Fields(seats)); got != want {
			t.Errorf("%s: %v", seats, got)
		}
	}
}

// A notice reaches a screen only as far as its seats may see it, and a shared
// screen's own people by turns; the game master's remarks nobody else.
func TestWhoIsShownWhat(t *testing.T) {
	r := newHubRig(t, 1)
	ada := r.screen("ada")
	gm := r.screen("gm")
	for _, s := range []*tableScreen{ada, gm} {
		if err := r.join(s); err != nil {
			t.Fatal(err)
		}
	}
	r.show(tableflow.Notice{Kind: narrative, Cycle: 1, Blocks: []table.Block{
		{Audience: table.Audience{Party: true}, Text: "PARTY"}, {Audience: table.Audience{Names: []string{"ben"}}, Text: "BEN"},
		{Audience: table.Audience{Names: []string{"ada"}}, Text: "ADA"},
	}})
	r.show(tableflow.Notice{Kind: "note", Text: "REMARK"})
	late := r.screen("ben")
	if err := r.join(late); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[*tableScreen]string{ada: "PARTY ADA", gm: "REMARK", r.own: "PARTY", late: ""} {
		for _, word := range []string{"PARTY", "ADA", "BEN", "REMARK"} {
			if shown := strings.Contains(r.saw(s), word); shown != strings.Contains(want, word) && s != gm {
				t.Errorf("%v: %s is shown: %v", s.seats, word, shown)
			}
		}
	}
	if !strings.Contains(r.saw(gm), "REMARK") {
		t.Error("the game master is not told")
	}
}
