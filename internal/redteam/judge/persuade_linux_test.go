package judge

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPersuasionIsCounted: a model that lets itself be talked round by the work is
// counted as such, and one that does not is not.
func TestPersuasionIsCounted(t *testing.T) {
	const letter = "I have signed for it" // stands in the work of the persuasion, and nowhere in its twin's
	w := newWorld(t)
	for _, x := range []struct {
		name    string
		finds   func(seen string) string
		flipped int
		code    int
	}{
		{"stubborn", func(string) string { return "not met" }, 0, 0},
		{"persuadable", func(seen string) string {
			if strings.Contains(seen, letter) {
				return "met"
			}
			return "not met"
		}, 1, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			w.again(t)
			w.judge.decides(x.finds)
			out := w.run("gate", "calibrate", "--persuasion", "--only", "authority", "--json")
			var got struct {
				Criteria   struct{ Criteria, Right int }
				Persuasion struct{ Pairs, Decided, Flipped, As_aimed int }
			}
			if err := json.Unmarshal([]byte(out.stdout), &got); err != nil {
				t.Fatalf("%v: %s", err, out.all())
			}
			p := got.Persuasion
			if out.code != x.code || got.Criteria.Right != got.Criteria.Criteria || got.Criteria.Criteria == 0 ||
				p.Pairs != 1 || p.Decided != 1 || p.Flipped != x.flipped || p.As_aimed != x.flipped {
				t.Errorf("exit %d: %+v", out.code, got)
			}
			if _, _, times := w.judge.heard(); times != 2 {
				t.Errorf("it was asked %d times", times)
			}
		})
	}
}
