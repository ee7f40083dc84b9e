package flow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/agent"
	"conclave/engine"
	"conclave/internal/sample"
	"conclave/policy"
	"conclave/table/look"
	"conclave/table/seating"
	"conclave/table/story"
)

// takes is how long an agent of the benchmark thinks.
const takes = 10 * time.Millisecond

// benchTable is a table of six seats: a GM who asks five players each cycle.
func benchTable(b testing.TB, dir, name string, think time.Duration) *Table {
	b.Helper()
	var names, prompts []string
	for i := range 5 {
		who := fmt.Sprintf("hero-%d", i+1)
		names = append(names, who)
		prompts = append(prompts, prompt(who, "QUICK_REACTION"))
		if err := writeFile(filepath.Join(dir, "campaigns", name, "party", who+".md"), "# Hero "+fmt.Sprint(i+1)+"\n\nBond: the road.\n"); err != nil {
			b.Fatal(err)
		}
	}
	if err := writeFile(filepath.Join(dir, "campaigns", name, "story-state.md"), strings.Repeat("The miller drowned the heir in the mill race. ", 40)); err != nil {
		b.Fatal(err)
	}
	signal := gmContext + strings.Join(prompts, "") + "[AWAIT_AI_PLAYERS: " + strings.Join(names, ", ") + "]"
	wait := func(text string) func(context.Context, string) (string, error) {
		return func(context.Context, string) (string, error) {
			timer := time.NewTimer(think)
			<-timer.C
			return text, nil
		}
	}
	gm := &quiet{func(ctx context.Context, m string) (string, error) {
		if strings.HasPrefix(m, "Event: responses") {
			return wait("They go on.\n[TO: hero-1]\nYou see a light.\n[/TO]")(ctx, m)
		}
		return wait(signal)(ctx, m)
	}}
	player, keeper := &quiet{wait("I go on.")}, &quiet{wait(entry("The road"))}
	if err := writeFile(filepath.Join(dir, ".conclave", "engine", look.Scope(name)+".db"), freshDatabase(b)); err != nil {
		b.Fatal(err)
	}
	t, err := Open(context.Background(), Options{Workspace: dir, Campaign: name, Auto: true, RoomBase: filepath.Join(dir, ".rooms"), JournalWait: time.Nanosecond,
		Cast: func(role policy.Role, _ string, _ bool) (seating.Actor, error) {
			a := map[policy.Role]agent.Agent{policy.GM: gm, policy.Player: player, policy.JournalKeeper: keeper}[role]
			return seating.Actor{Agent: a, InProcess: true}, nil
		}})
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// quiet is a talker that keeps nothing.
type quiet struct {
	reply func(context.Context, string) (string, error)
}

func (q *quiet) Adapter() string { return "scripted" }

func (q *quiet) Start(context.Context, agent.Spec) (agent.Session, error) { return q, nil }

func (q *quiet) Info() agent.Info { return agent.Info{Adapter: "scripted", SessionID: "quiet"} }

func (q *quiet) Stop(context.Context) error { return nil }

func (q *quiet) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	text, err := q.reply(ctx, m.Text)
	return &replied{agent.Reply{Text: text}}, err
}

// turnsOf a cycle: two of the GM, five players, five keepers.
const turnsOf = 12

// BenchmarkEightTables plays eight tables of six seats at once, agents taking
// 10 ms a turn. It reports what the engine adds to a turn: the time of a cycle
// less that of the turns which must follow each other (GM, players, GM),
// divided by the turns of all tables that were taken meanwhile.
func BenchmarkEightTables(b *testing.B) {
	const tables = 8
	dir := b.TempDir()
	var all []*Table
	for i := range tables {
		all = append(all, benchTable(b, dir, fmt.Sprintf("table-%d", i+1), takes))
	}
	defer func() {
		for _, t := range all {
			if err := t.Close(); err != nil {
				b.Error(err)
			}
		}
	}()
	var mu sync.Mutex
	var cycles []time.Duration
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, t := range all {
		wg.Go(func() {
			for range b.N {
				began := time.Now()
				if _, err := t.Say(context.Background(), story.Input{Kind: story.InputContinue}); err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				cycles = append(cycles, time.Since(began))
				mu.Unlock()
			}
			if err := t.Drain(context.Background()); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(cycles)
	median := cycles[len(cycles)/2]
	b.ReportMetric(float64((median-3*takes).Microseconds())/1000/(turnsOf*tables), "ms/turn-added")
	b.ReportMetric(float64(median.Microseconds())/1000, "ms/cycle")
}

// TestSoakMemory plays many cycles and watches the memory that is in use.
func TestSoakMemory(t *testing.T) {
	sample.Long(t)
	cycles := 25
	soak := os.Getenv("CONCLAVE_SOAK") != ""
	switch {
	case soak && underRace:
		cycles = 500 // and all of them without the race detector
	case soak:
		cycles = 10_000
	case testing.Short() || underRace:
		cycles = 5
	}
	dir := t.TempDir()
	tb := benchTable(t, dir, "long", 0)
	defer tb.Close()
	inUse := func() uint64 {
		if err := tb.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	var early uint64
	began := time.Now()
	for i := range cycles {
		if _, err := tb.Say(t.Context(), story.Input{Kind: story.InputContinue}); err != nil {
			t.Fatal(err)
		}
		if i == cycles/5 {
			early = inUse()
		}
		if (i+1)%(cycles/5) == 0 {
			t.Logf("%d cycles: %v each of late", i+1, time.Since(began)/time.Duration(cycles/5))
			began = time.Now()
		}
	}
	late := inUse()
	t.Logf("%d cycles: %d KiB in use after a fifth of them, %d KiB at the end", cycles, early>>10, late>>10)
	if late > early+early/2+8<<20 {
		t.Errorf("memory grows: %d KiB, then %d KiB", early>>10, late>>10)
	}
	if n := len(tb.seats.Set.Runs()); n > 0 {
		t.Errorf("%d seats are still open", n)
	}
	if st, err := engine.Peek(t.Context(), engine.Options{Dir: dir, Scope: look.Scope("long")}); err != nil || len(st.Open) > 0 {
		t.Errorf("open in the end: %v, %v", st.Open, err)
	}
}
