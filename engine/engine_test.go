package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"conclave/engine"
	"conclave/engine/enginetest"
	"conclave/internal/lockfile"
	sampling "conclave/internal/sample"
)

// simple is a flow without input that returns what run returns.
func simple(name string, version int, run func(*engine.Run) (any, error)) engine.Flow {
	return engine.Flow{Name: name, Version: version, Run: func(r *engine.Run, _ json.RawMessage) (json.RawMessage, error) {
		v, err := run(r)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}}
}

func mustOpen(t testing.TB, o engine.Options) *engine.Engine {
	t.Helper()
	if o.Scope == "" {
		o.Scope = "test"
	}
	e, err := engine.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func mustClose(t testing.TB, e *engine.Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSecondWriterIsRefusedByName(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	first := mustOpen(t, engine.Options{Dir: dir, Purpose: "consult the cat"})
	_, err := engine.Open(t.Context(), engine.Options{Dir: dir, Scope: "test"})
	var held *lockfile.HeldError
	if !errors.As(err, &held) || held.Holder.PID != os.Getpid() || held.Holder.Purpose != "consult the cat" {
		t.Fatalf("second open: %v", err)
	}
	if !strings.Contains(err.Error(), "consult the cat") {
		t.Errorf("the error does not name the holder: %v", err)
	}

	waited := make(chan error, 1)
	go func() {
		e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Scope: "test", Wait: true})
		if err == nil {
			err = e.Close()
		}
		waited <- err
	}()
	select {
	case err := <-waited:
		t.Fatalf("did not wait: %v", err)
	default:
	}
	mustClose(t, first)
	if err := <-waited; err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
	mustClose(t, first) // again
}

func TestScopesRunSideBySide(t *testing.T) {
	dir := enginetest.Workspace(t, "quest", "table-ashfall")
	var other atomic.Int32
	halting := simple("f", 1, func(r *engine.Run) (any, error) {
		return engine.Do(r, "s", func(context.Context) (int, error) { return 0, engine.Halt(errors.New("later")) })
	})
	counting := simple("f", 1, func(r *engine.Run) (any, error) {
		return engine.Do(r, "s", func(context.Context) (int, error) { return int(other.Add(1)), nil })
	})
	quest := mustOpen(t, engine.Options{Dir: dir, Scope: "quest", Flows: []engine.Flow{halting}})
	var cut *engine.CutError
	if _, err := quest.Start(t.Context(), "f", "one", nil); !errors.As(err, &cut) {
		t.Fatal(err)
	}
	mustClose(t, quest)
	table := mustOpen(t, engine.Options{Dir: dir, Scope: "table-ashfall", Flows: []engine.Flow{counting}})
	if open, err := table.Pending(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("the table sees %v, %v", open, err)
	}
	if _, err := table.Resume(t.Context(), "one"); !errors.Is(err, engine.ErrUnknown) {
		t.Errorf("the table resumes a quest's: %v", err)
	}
	if _, err := table.Start(t.Context(), "f", "one", nil); err != nil || other.Load() != 1 {
		t.Errorf("%v, ran %d", err, other.Load())
	}
	again := mustOpen(t, engine.Options{Dir: dir, Scope: "quest", Flows: []engine.Flow{counting}})
	if _, err := again.Resume(t.Context(), "one"); err != nil || other.Load() != 2 {
		t.Errorf("%v, ran %d", err, other.Load())
	}
}

// Opening, looking, listing, starting and resuming others runs nothing of an
// interaction that lies open.
func TestNothingRunsUnasked(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	var ran atomic.Int32
	halt := true
	o := engine.Options{Dir: dir, Scope: "test", Flows: []engine.Flow{
		simple("f", 1, func(r *engine.Run) (any, error) {
			return engine.Do(r, "s "+r.ID(), func(context.Context) (int, error) {
				if halt {
					return 0, engine.Halt(errors.New("not now"))
				}
				return int(ran.Add(1)), nil
			})
		})}}
	e := mustOpen(t, o)
	for _, id := range []string{"a", "b", "c"} {
		if _, err := e.Start(t.Context(), "f", id, id); err == nil {
			t.Fatal("was not cut")
		}
	}
	mustClose(t, e)
	halt = false

	before := listing(t, dir)
	st, err := engine.Peek(t.Context(), o)
	if after := listing(t, dir); after != before {
		t.Errorf("peek left %s; before %s", after, before)
	}
	if err != nil || len(st.Open) != 3 || string(st.Open[0].Input) != `"a"` || st.Open[0].Flow != "f/v1" || st.Holder != nil {
		t.Fatalf("peek: %+v, %v", st, err)
	}
	if time.Since(st.Open[0].Started).Abs() > time.Hour {
		t.Errorf("started %v", st.Open[0].Started)
	}
	e = mustOpen(t, o)
	if st, err := engine.Peek(t.Context(), o); err != nil || st.Holder == nil || st.Holder.PID != os.Getpid() {
		t.Errorf("peek while open: %+v, %v", st, err)
	}
	if ran.Load() != 0 {
		t.Fatalf("ran %d steps of its own accord", ran.Load())
	}
	if _, err := e.Resume(t.Context(), "b"); err != nil || ran.Load() != 1 {
		t.Errorf("resume b: %v, %d steps", err, ran.Load())
	}
	if _, err := e.Start(t.Context(), "f", "d", nil); err != nil || ran.Load() != 2 {
		t.Errorf("start d: %v, %d steps", err, ran.Load())
	}
	open, err := e.Pending(t.Context())
	if err != nil || len(open) != 2 || open[0].ID != "a" || open[1].ID != "c" {
		t.Errorf("pending: %+v, %v", open, err)
	}
	for _, i := range open { // while launched: through the queue
		if _, err := e.Resume(t.Context(), i.ID); err != nil {
			t.Error(err)
		}
	}
	if ran.Load() != 4 {
		t.Errorf("%d steps in all", ran.Load())
	}
}

// listing is every file in dir with its size.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintf(&all, "%s %d; ", d.Name(), info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestPeekLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	st, err := engine.Peek(t.Context(), engine.Options{Dir: dir, Scope: "quest"})
	if err != nil || len(st.Open) != 0 || st.Holder != nil {
		t.Errorf("%+v, %v", st, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// waiting is a person who has not answered yet.
type waiting struct{ asked chan engine.Question }

func (w waiting) Ask(ctx context.Context, q engine.Question) (string, error) {
	w.asked <- q
	<-ctx.Done()
	return "", ctx.Err()
}

type answers string

func (a answers) Ask(context.Context, engine.Question) (string, error) { return string(a), nil }

// Each restart of the library underneath used to cost one of 100 attempts,
// after which the answer was lost.
func TestManyRestartsWhileAQuestionWaits(t *testing.T) {
	sampling.Long(t)
	dir := enginetest.Workspace(t, "test")
	var before atomic.Int32
	flow := simple("ask", 1, func(r *engine.Run) (any, error) {
		if _, err := engine.Do(r, "before", func(context.Context) (int32, error) { return before.Add(1), nil }); err != nil {
			return nil, err
		}
		return engine.Ask(r, "name", engine.Question{Text: "who goes there?"})
	})
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, ".conclave", "engine", "test.db"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	w := waiting{make(chan engine.Question, 1)}
	var first int64
	n := restarts
	if testing.Short() {
		n = 20
	}
	for i := range n {
		e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Scope: "test", Flows: []engine.Flow{flow}, Asker: w})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-w.asked; cancel() }()
		if i == 0 {
			_, err = e.Start(ctx, "ask", "q", nil)
		} else {
			_, err = e.Resume(ctx, "q")
		}
		var cut *engine.CutError
		if !errors.As(err, &cut) || !errors.Is(err, context.Canceled) {
			t.Fatalf("restart %d: %v", i, err)
		}
		mustClose(t, e)
		if i == 2 {
			first = size()
		}
	}
	if last := size(); last != first {
		t.Errorf("the database grew from %d to %d bytes", first, last)
	}
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{flow}, Asker: answers("a friend")})
	got, err := e.Resume(t.Context(), "q")
	if err != nil || string(got) != `"a friend"` || before.Load() != 1 {
		t.Errorf("%s, %v; the step before ran %d times", got, err, before.Load())
	}
}

func TestQuestionWithoutAPerson(t *testing.T) {
	e := mustOpen(t, engine.Options{Dir: enginetest.Workspace(t, "test"), Flows: []engine.Flow{
		simple("ask", 1, func(r *engine.Run) (any, error) { return engine.Ask(r, "x", engine.Question{Text: "well?"}) })}})
	_, err := e.Start(t.Context(), "ask", "q", nil)
	if !errors.Is(err, engine.ErrNobody) || !strings.Contains(err.Error(), "well?") {
		t.Error(err)
	}
	if open, err := e.Pending(t.Context()); err != nil || len(open) != 1 {
		t.Errorf("%v, %v", open, err)
	}
}

func TestEnvironmentDoesNotOverride(t *testing.T) {
	variables := map[string]string{"DBOS__VMID": "shared", "DBOS__APPVERSION": "other", "DBOS__CLOUD": "true"}
	for name, value := range variables {
		t.Setenv(name, value)
	}
	dir := enginetest.Workspace(t, "test")
	flow := simple("f", 1, func(r *engine.Run) (any, error) {
		return engine.Do(r, "s", func(context.Context) (int, error) { return 0, engine.Halt(errors.New("stop")) })
	})
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{flow}})
	for name := range variables {
		if v, ok := os.LookupEnv(name); ok {
			t.Errorf("%s is still %q", name, v)
		}
	}
	if _, err := e.Start(t.Context(), "f", "x", nil); err == nil {
		t.Fatal("was not cut")
	}
	mustClose(t, e)
	if executor, version := provenance(t, dir, "x"); executor == "shared" || version == "other" || len(executor) < 20 {
		t.Errorf("executor %q, version %q", executor, version)
	}
}

func TestPruneKeepsWhatIsOpen(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	hold := true
	flows := []engine.Flow{
		simple("parent", 1, func(r *engine.Run) (any, error) {
			_, err := engine.Parallel(r, "b", 2, func(b *engine.Run, i int) (int, error) {
				return engine.Do(b, "s", func(context.Context) (int, error) { return i, nil })
			})
			if err != nil {
				return nil, err
			}
			return nil, engine.Spawn(r, "child", engine.Child{ID: r.ID() + ".child"})
		}),
		simple("child", 1, func(r *engine.Run) (any, error) {
			return engine.Do(r, "s", func(context.Context) (int, error) {
				if hold {
					return 0, engine.Halt(errors.New("held"))
				}
				return 1, nil
			})
		}),
	}
	e := mustOpen(t, engine.Options{Dir: dir, Flows: flows})
	for i := range 3 {
		hold = i == 1
		if _, err := e.Start(t.Context(), "parent", fmt.Sprint("p", i), nil); err != nil {
			t.Fatal(err)
		}
		if err := e.Drain(t.Context()); (err != nil) != hold {
			t.Fatalf("p%d: %v", i, err)
		}
	}
	if n, err := e.Prune(t.Context(), 1); err != nil || n != 1 {
		t.Errorf("pruned %d, %v; want p0 alone", n, err)
	}
	if _, err := e.Resume(t.Context(), "p0"); !errors.Is(err, engine.ErrUnknown) {
		t.Errorf("p0: %v", err)
	}
	hold = false
	mustClose(t, e)
	e = mustOpen(t, engine.Options{Dir: dir, Flows: flows})
	open, err := e.Pending(t.Context())
	if err != nil || len(open) != 1 || open[0].ID != "p1.child" || open[0].Parent != "p1" {
		t.Fatalf("%+v, %v", open, err)
	}
	if _, err := e.Resume(t.Context(), "p1.child"); err != nil {
		t.Error(err)
	}
	if n, err := e.Prune(t.Context(), 0); err != nil || n != 2 {
		t.Errorf("pruned %d, %v; want p1 and p2", n, err)
	}
	if left := count(t, dir, "workflow_status"); left != 0 {
		t.Errorf("%d rows are left", left)
	}
}

// Looking keeps nobody out.
func TestPeekDoesNotDisturbOpen(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	o := engine.Options{Dir: dir, Scope: "test"}
	done := make(chan struct{})
	looked := make(chan error, 1)
	go func() {
		for {
			select {
			case <-done:
				looked <- nil
				return
			default:
			}
			if _, err := engine.Peek(context.Background(), o); err != nil {
				looked <- err
				return
			}
		}
	}()
	for range 20 {
		e, err := engine.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		mustClose(t, e)
	}
	close(done)
	if err := <-looked; err != nil {
		t.Error(err)
	}
}

// What was cut in this very process goes on in it: a parent whose branch and
// whose child wait for the end of the session they were cut in.
func TestResumeInTheSameProcess(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	step := func(r *engine.Run, v int) (int, error) {
		return engine.Do(r, "s", func(context.Context) (int, error) {
			if broken.Load() {
				return 0, engine.Halt(errors.New("the disk is full"))
			}
			return v, nil
		})
	}
	e := mustOpen(t, engine.Options{Dir: enginetest.Workspace(t, "test"), Flows: []engine.Flow{
		simple("child", 1, func(r *engine.Run) (any, error) { return step(r, 1) }),
		simple("parent", 1, func(r *engine.Run) (any, error) {
			if err := engine.Spawn(r, "child", engine.Child{ID: "c"}); err != nil {
				return nil, err
			}
			parts, err := engine.Parallel(r, "p", 3, func(b *engine.Run, i int) (int, error) { return step(b, i) })
			if err != nil {
				return nil, err
			}
			return len(parts), nil
		}),
	}})
	if _, err := e.Start(t.Context(), "parent", "p", nil); err == nil {
		t.Fatal("was not cut")
	}
	if err := e.Drain(t.Context()); err == nil {
		t.Fatal("the child was not cut")
	}
	if _, err := e.Resume(t.Context(), "p"); err == nil {
		t.Fatal("was not cut again")
	}
	_ = e.Drain(t.Context()) // of the child, if it was started again: it is cut as before
	broken.Store(false)
	if got, err := e.Resume(t.Context(), "p"); err != nil || string(got) != "3" {
		t.Errorf("the parent: %s, %v", got, err)
	}
	if got, err := e.Resume(t.Context(), "c"); err != nil || string(got) != "1" {
		t.Errorf("the child: %s, %v", got, err)
	}
}
