package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func flow(name string, run func(*Run) (any, error)) Flow {
	return Flow{Name: name, Version: 1, Run: func(r *Run, _ json.RawMessage) (json.RawMessage, error) {
		v, err := run(r)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}}
}

func open(t testing.TB, dir string, flows ...Flow) *Engine {
	t.Helper()
	e, err := Open(t.Context(), Options{Dir: dir, Scope: "test", Flows: flows})
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

func TestStart(t *testing.T) {
	dir := t.TempDir()
	calls := 0
	e := open(t, dir, flow("add", func(r *Run) (any, error) {
		a, err := Do(r, "a", func(context.Context) (int, error) { calls++; return 1, nil })
		if err != nil {
			return nil, err
		}
		all, err := DoEach(r, "each", 3, func(_ context.Context, i int) (int, error) { return i, nil })
		if err != nil {
			return nil, err
		}
		for _, x := range all {
			a += x.Value
		}
		bs, err := Parallel(r, "branch", 3, func(b *Run, i int) (int, error) {
			return Do(b, "x", func(context.Context) (int, error) { return i * 10, nil })
		})
		if err != nil {
			return nil, err
		}
		for _, x := range bs {
			a += x.Value
		}
		return a, Commit(r, "files", []Change{
			{Op: Write, Path: "d/a.txt", Data: []byte("one\n")},
			{Op: Append, Path: "d/a.txt", Data: []byte("two\n")},
			{Op: Rename, Path: "d/a.txt", To: "d/b.txt"},
		})
	}))
	got, err := e.Start(t.Context(), "add", "one", nil)
	if err != nil || string(got) != "34" || calls != 1 {
		t.Fatalf("got %s, %v, %d calls", got, err, calls)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "d/b.txt")); string(b) != "one\ntwo\n" {
		t.Errorf("file %q, %v", b, err)
	}
	if _, err := e.Start(t.Context(), "add", "one", nil); !errors.Is(err, ErrUsed) {
		t.Errorf("second start: %v", err)
	}
	if got, err := e.Resume(t.Context(), "one"); err != nil || string(got) != "34" {
		t.Errorf("resume of an ended one: %s, %v", got, err)
	}
	if n, err := e.Prune(t.Context(), 0); n != 1 || err != nil {
		t.Errorf("prune: %d, %v", n, err)
	}
}

func TestHaltAndResume(t *testing.T) {
	dir := t.TempDir()
	var runs int
	fail := true
	f := flow("f", func(r *Run) (any, error) {
		if _, err := Do(r, "first", func(context.Context) (int, error) { runs++; return 1, nil }); err != nil {
			return nil, err
		}
		return Do(r, "second", func(context.Context) (string, error) {
			if fail {
				return "", Halt(errors.New("no network"))
			}
			return "done", nil
		})
	})
	e := open(t, dir, f)
	_, err := e.Start(t.Context(), "f", "x", nil)
	var cut *CutError
	if !errors.As(err, &cut) || cut.ID != "x" {
		t.Fatalf("%v", err)
	}
	p, err := e.Pending(t.Context())
	if err != nil || len(p) != 1 || p[0].ID != "x" || p[0].Flow != "f/v1" {
		t.Fatalf("%v %v", p, err)
	}
	fail = false
	got, err := e.Resume(t.Context(), "x")
	if err != nil || string(got) != `"done"` || runs != 1 {
		t.Errorf("%s %v runs=%d", got, err, runs)
	}
}

func BenchmarkStep(b *testing.B) {
	e := open(b, b.TempDir(), flow("f", func(r *Run) (any, error) {
		for range b.N {
			if _, err := Do(r, "s", func(context.Context) (int, error) { return 1, nil }); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}))
	b.ResetTimer()
	if _, err := e.Start(b.Context(), "f", "x", nil); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkLaunch(b *testing.B) {
	dir := b.TempDir()
	for i := range b.N {
		e, err := Open(b.Context(), Options{Dir: dir, Scope: "test", Flows: []Flow{flow("f", func(r *Run) (any, error) { return 1, nil })}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.Start(b.Context(), "f", fmt.Sprint("x", i), nil); err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBranches is six branches of one step each, with what joins them.
func BenchmarkBranches(b *testing.B) {
	e := open(b, b.TempDir(), flow("f", func(r *Run) (any, error) {
		for range b.N {
			_, err := Parallel(r, "b", 6, func(br *Run, i int) (int, error) {
				return Do(br, "s", func(context.Context) (int, error) { return i, nil })
			})
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}))
	b.ResetTimer()
	if _, err := e.Start(b.Context(), "f", "x", nil); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEach is six steps at once.
func BenchmarkEach(b *testing.B) {
	e := open(b, b.TempDir(), flow("f", func(r *Run) (any, error) {
		for range b.N {
			if _, err := DoEach(r, "s", 6, func(_ context.Context, i int) (int, error) { return i, nil }); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}))
	b.ResetTimer()
	if _, err := e.Start(b.Context(), "f", "x", nil); err != nil {
		b.Fatal(err)
	}
}
