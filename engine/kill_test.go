package engine_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/engine"
	"conclave/engine/enginetest"
)

// The sample is killed at every step, every file change and every moment of a
// turn, and continued: the same files, no finished reply asked for again.
func TestKillEverywhere(t *testing.T) {
	labels := enginetest.KillEverywhere(t, enginetest.Program{
		Scopes:  []string{"sample"},
		Prepare: prepareSample,
		Run: func(ctx context.Context, dir string, crash func(string)) error {
			return (&sample{dir: dir, crash: crash}).run(ctx)
		},
		Check: checkSample,
		Twice: true,
	})
	for _, kind := range []string{"staged", "half of", "replied", "asking", "before rename", "recorded spawn", "returned council/v1"} {
		if !slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(l, kind) }) {
			t.Errorf("no point of kind %q was met", kind)
		}
	}
}

func checkSample(t *testing.T, dir string) {
	t.Helper()
	st, err := engine.Peek(t.Context(), engine.Options{Dir: dir, Scope: "sample"})
	if err != nil || len(st.Open) != 0 || st.Holder != nil {
		t.Errorf("in the end: %+v, %v", st, err)
	}
	temps, err := os.ReadDir(filepath.Join(dir, ".conclave", "tmp"))
	if err != nil || len(temps) != 0 {
		t.Errorf("temporary files left: %v, %v", temps, err)
	}
	begun, err := filepath.Glob(filepath.Join(dir, ".conclave", "seats", "*.begun"))
	if err != nil || len(begun) != 8 {
		t.Errorf("%d turns begun, %v; want 8", len(begun), err)
	}
	for _, f := range begun {
		data, err := os.ReadFile(f)
		if n := bytes.Count(data, []byte("\n")); err != nil || n < 1 || n > 3 {
			t.Errorf("%s: %d attempts, %v", f, n, err)
		}
	}
}
