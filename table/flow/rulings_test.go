package flow

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// leftToFlow reads from the rules' own test which rulings, or parts of them,
// are about what happens when.
func leftToFlow(t *testing.T) map[string]string {
	t.Helper()
	src, err := os.ReadFile("../rulings_test.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t"([A-I]\d+b?)":\s+"(.*)",$`).FindAllStringSubmatch(string(src), -1) {
		out[m[1]] = m[2]
	}
	if len(out) < 50 {
		t.Fatalf("found only %d rulings that are left to the flow", len(out))
	}
	return out
}

// TestRulings runs a case for every ruling that is left to the flow, and fails
// for one that has none.
func TestRulings(t *testing.T) {
	t.Parallel()
	left := leftToFlow(t)
	cases := map[string]func(*testing.T){}
	for _, m := range []map[string]func(*testing.T){rulingsAB, rulingsC, rulingsD, rulingsE, rulingsF, rulingsGI} {
		maps.Copy(cases, m)
	}
	for _, id := range slices.Sorted(maps.Keys(left)) {
		run, ok := cases[id]
		if !ok {
			t.Errorf("%s is proven nowhere: %s", id, left[id])
			continue
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
		t.Logf("%-4s %s", id, left[id])
	}
	for id := range cases {
		if _, ok := left[id]; !ok {
			t.Errorf("%s is not left to the flow", id)
		}
	}
	t.Logf("%d rulings", len(left))
}

// ask is a GM's script that asks one character and then narrates.
func ask(who, kind, after string) string {
	return gmSays("Event: session-start", "Now.\n"+gmContext+prompt(who, kind)+"[AWAIT_AI_PLAYERS: "+who+"]") + gmSays("Event: responses", after)
}
