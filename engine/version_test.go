package engine_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/engine"
	"conclave/engine/enginetest"
)

var record = flag.Bool("record-history", false, "write the histories in testdata anew; only ever for a new version")

// greetV1 is a flow as it was when testdata/greet-v1.db was recorded. It must
// stay as it is: that is the point.
func greetV1(ask func() error) engine.Flow {
	return simple("greet", 1, func(r *engine.Run) (any, error) {
		who, err := engine.Do(r, "who", func(context.Context) (string, error) { return "the recorded one", nil })
		if err != nil {
			return nil, err
		}
		parts, err := engine.Parallel(r, "part", 2, func(b *engine.Run, i int) (string, error) {
			return engine.Do(b, "word", func(context.Context) (string, error) { return []string{"good", "evening"}[i], nil })
		})
		if err != nil {
			return nil, err
		}
		if err := engine.Commit(r, "first", []engine.Change{{Op: engine.Write, Path: "who.md", Data: []byte(who)}}); err != nil {
			return nil, err
		}
		_, err = engine.Do(r, "wait", func(context.Context) (int, error) { return 1, ask() })
		if err != nil {
			return nil, err
		}
		return parts[0].Value + " " + parts[1].Value + ", " + who, nil
	})
}

func greetV2() engine.Flow {
	return simple("greet", 2, func(r *engine.Run) (any, error) {
		return engine.Do(r, "at once", func(context.Context) (string, error) { return "hello", nil })
	})
}

const history = "testdata/greet-v1.db"

// recordHistory is how the history came to be.
func recordHistory(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{greetV1(func() error { return engine.Halt(errors.New("recorded up to here")) })}})
	if _, err := e.Start(t.Context(), "greet", "g1", nil); err == nil {
		t.Fatal("was not cut")
	}
	mustClose(t, e)
	if err := move(filepath.Join(dir, ".conclave/engine/test.db"), history); err != nil {
		t.Fatal(err)
	}
}

func move(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// An interaction that an older program began is completed by this one, with
// the old version of its flow; new ones take the new version.
func TestHistoryOfThePreviousVersion(t *testing.T) {
	if *record {
		recordHistory(t)
	}
	dir := t.TempDir()
	if err := move(history, filepath.Join(dir, ".conclave/engine/test.db")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "who.md", "the recorded one")
	o := engine.Options{Dir: dir, Scope: "test", Flows: []engine.Flow{greetV2()}}
	if st, err := engine.Peek(t.Context(), o); err != nil || len(st.Open) != 1 || st.Open[0].Flow != "greet/v1" {
		t.Fatalf("%+v, %v", st, err)
	}
	e := mustOpen(t, o)
	if _, err := e.Resume(t.Context(), "g1"); !errors.Is(err, engine.ErrNoFlow) || !strings.Contains(err.Error(), "greet/v1") {
		t.Errorf("without the old version: %v", err)
	}
	mustClose(t, e)

	o.Flows = append(o.Flows, greetV1(func() error { return nil }))
	e = mustOpen(t, o)
	if got, err := e.Resume(t.Context(), "g1"); err != nil || string(got) != `"good evening, the recorded one"` {
		t.Errorf("the old one: %s, %v", got, err)
	}
	if got, err := e.Start(t.Context(), "greet", "g2", nil); err != nil || string(got) != `"hello"` {
		t.Errorf("a new one: %s, %v", got, err)
	}
	if got := get(dir, "who.md"); got != "the recorded one" {
		t.Errorf("who.md is %q", got)
	}
}
