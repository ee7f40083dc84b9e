package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"conclave/engine"
	"conclave/engine/enginetest"
)

// coded is an error that a flow decides on.
type coded struct {
	Code string
	N    int
}

func (c *coded) Error() string       { return "coded " + c.Code }
func (c *coded) FailureCode() string { return c.Code }

// What a flow sees of an error is the same at first and when it is replayed.
func TestErrorsAreSeenAsRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"plain":  {errors.New("plain"), ""},
		"coded":  {&coded{"full", 3}, "full"},
		"edited": {&engine.EditedError{Path: "a.md", Op: engine.Write, Want: "x", Got: "y"}, "edited"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := enginetest.Workspace(t, "test")
			var seen []error
			halt := true
			flow := simple("f", 1, func(r *engine.Run) (any, error) {
				_, err := engine.Do(r, "fails", func(context.Context) (int, error) { return 0, c.err })
				seen = append(seen, err)
				return engine.Do(r, "then", func(context.Context) (int, error) {
					if halt {
						return 0, engine.Halt(errors.New("stop"))
					}
					return 1, nil
				})
			})
			e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{flow}})
			if _, err := e.Start(t.Context(), "f", "x", nil); err == nil {
				t.Fatal("was not cut")
			}
			halt = false
			if _, err := e.Resume(t.Context(), "x"); err != nil { // within one process
				t.Fatal(err)
			}
			if len(seen) != 2 {
				t.Fatalf("seen %v", seen)
			}
			for i, err := range seen {
				var edited *engine.EditedError
				if err == nil || err.Error() != c.err.Error() || engine.CodeOf(err) != c.code || errors.As(err, &edited) != (name == "edited") {
					t.Errorf("time %d: %#v", i, err)
				}
			}
		})
	}
}

func TestFlowErrorEndsTheInteraction(t *testing.T) {
	e := mustOpen(t, engine.Options{Dir: enginetest.Workspace(t, "test"), Flows: []engine.Flow{
		simple("f", 1, func(*engine.Run) (any, error) { return nil, &coded{"no", 1} })}})
	var c *coded
	if _, err := e.Start(t.Context(), "f", "x", nil); !errors.As(err, &c) {
		t.Errorf("first: %v", err)
	}
	if _, err := e.Resume(t.Context(), "x"); engine.CodeOf(err) != "no" || err.Error() != "coded no" {
		t.Errorf("recorded: %v", err)
	}
	if open, err := e.Pending(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("pending %v, %v", open, err)
	}
}

func TestInterruptStopsTheStepAndKeepsTheRest(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	begun, stopped := make(chan struct{}), false
	first := 0
	flow := simple("f", 1, func(r *engine.Run) (any, error) {
		if _, err := engine.Do(r, "first", func(context.Context) (int, error) { first++; return 1, nil }); err != nil {
			return nil, err
		}
		return engine.Do(r, "long", func(ctx context.Context) (string, error) {
			if stopped {
				return "done", nil
			}
			close(begun)
			<-ctx.Done()
			stopped = true
			return "", ctx.Err()
		})
	})
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{flow}})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-begun; cancel(errors.New("ctrl-c")) }()
	_, err := e.Start(ctx, "f", "x", nil)
	var cut *engine.CutError
	if !errors.As(err, &cut) || !strings.Contains(err.Error(), "ctrl-c") || !stopped {
		t.Fatalf("%v, step stopped: %v", err, stopped)
	}
	if got, err := e.Resume(t.Context(), "x"); err != nil || string(got) != `"done"` || first != 1 {
		t.Errorf("%s, %v; first ran %d times", got, err, first)
	}
}

func TestCloseStopsWhatRuns(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	begun := make(chan struct{})
	flow := simple("f", 1, func(r *engine.Run) (any, error) {
		return engine.Do(r, "long", func(ctx context.Context) (string, error) {
			close(begun)
			<-ctx.Done()
			return "", ctx.Err()
		})
	})
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{flow}})
	result := make(chan error, 1)
	go func() {
		_, err := e.Start(t.Context(), "f", "x", nil)
		result <- err
	}()
	<-begun
	mustClose(t, e)
	var cut *engine.CutError
	if err := <-result; !errors.As(err, &cut) {
		t.Errorf("start: %v", err)
	}
	if _, err := e.Start(t.Context(), "f", "y", nil); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	if st, err := engine.Peek(t.Context(), engine.Options{Dir: dir, Scope: "test"}); err != nil || len(st.Open) != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestStepWithinAStepIsRefused(t *testing.T) {
	e := mustOpen(t, engine.Options{Dir: enginetest.Workspace(t, "test"), Flows: []engine.Flow{
		simple("f", 1, func(r *engine.Run) (any, error) {
			return engine.Do(r, "outer", func(context.Context) (int, error) {
				return engine.Do(r, "inner", func(context.Context) (int, error) { return 1, nil })
			})
		})}})
	if _, err := e.Start(t.Context(), "f", "x", nil); err == nil || !strings.Contains(err.Error(), `step "inner" within a step`) {
		t.Error(err)
	}
}

func TestChangedFlowIsNoticed(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	step := "old name"
	flow := simple("f", 1, func(r *engine.Run) (any, error) {
		if _, err := engine.Do(r, step, func(context.Context) (int, error) { return 1, nil }); err != nil {
			return nil, err
		}
		return engine.Do(r, "stop", func(context.Context) (int, error) { return 0, engine.Halt(errors.New("stop")) })
	})
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{flow}})
	if _, err := e.Start(t.Context(), "f", "x", nil); err == nil {
		t.Fatal("was not cut")
	}
	step = "new name"
	_, err := e.Resume(t.Context(), "x")
	var cut *engine.CutError
	if !errors.As(err, &cut) || !strings.Contains(err.Error(), "changed without a new version") {
		t.Error(err)
	}
}

func TestParallelResults(t *testing.T) {
	e := mustOpen(t, engine.Options{Dir: enginetest.Workspace(t, "test"), Flows: []engine.Flow{
		simple("f", 1, func(r *engine.Run) (any, error) {
			// All are there at once: each waits for the others.
			gate := make(chan struct{}, 6)
			return engine.Parallel(r, "seat", 6, func(b *engine.Run, i int) (int, error) {
				return engine.Do(b, "meet", func(ctx context.Context) (int, error) {
					gate <- struct{}{}
					for len(gate) < 6 {
						select {
						case <-ctx.Done():
							return 0, ctx.Err()
						case <-time.After(time.Millisecond):
						}
					}
					if i == 3 {
						return 0, errors.New("no")
					}
					return i, nil
				})
			})
		})}})
	got, err := e.Start(t.Context(), "f", "x", nil)
	if err != nil || !strings.HasPrefix(string(got), `[{"Value":0,"Err":null},{"Value":1`) || !strings.Contains(string(got), `{"Value":0,"Err":{"message":"no"}}`) {
		t.Errorf("%s, %v", got, err)
	}
}

// A branch that halts cuts the whole; the others' results are kept.
func TestBranchHaltCutsTheInteraction(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	halt := true
	ran := make([]int, 3)
	flow := simple("f", 1, func(r *engine.Run) (any, error) {
		res, err := engine.Parallel(r, "seat", 3, func(b *engine.Run, i int) (int, error) {
			if _, err := engine.Do(b, "first", func(context.Context) (int, error) { ran[i]++; return 1, nil }); err != nil {
				return 0, err
			}
			return engine.Do(b, "second", func(context.Context) (int, error) {
				if i == 1 && halt {
					return 0, engine.Halt(errors.New("seat 1 is away"))
				}
				return i, nil
			})
		})
		return len(res), err
	})
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{flow}})
	if _, err := e.Start(t.Context(), "f", "x", nil); err == nil || !strings.Contains(err.Error(), "seat 1 is away") {
		t.Fatal(err)
	}
	halt = false
	mustClose(t, e)
	e = mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{flow}})
	if got, err := e.Resume(t.Context(), "x"); err != nil || string(got) != "3" {
		t.Errorf("%s, %v", got, err)
	}
	if ran[1] != 1 {
		t.Errorf("the first step of the halted branch ran %d times", ran[1])
	}
}
