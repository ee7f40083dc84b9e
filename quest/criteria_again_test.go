package quest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a list of criteria is rendered to is read as the same list: a stranger who
// has the text of a quest's criteria finds out which they are. (One that begins a
// code block and does not end it takes up what stands below it.)
func TestCriteriaTextIsReadAgain(t *testing.T) {
	line := rapid.SampledFrom([]string{"1. It runs.", "2. It stops (check: `make stop`).", "3) It is small", "- a bullet", "  - an inner one",
		"more of it", "    and indented", "", "### Deliverables", "### Transformation", "4. [x] ticked", "prose",
		"1. (transformation) Mara has grown.", "* star", "\ttab", "   2. nested"})
	rapid.Check(t, func(t *rapid.T) {
		text := "1. The first.\n" + strings.Join(rapid.SliceOfN(line, 1, 12).Draw(t, "lines"), "\n") + "\n"
		list, err := ReadCriteria("text", []byte(text))
		if err != nil {
			return
		}
		again, err := ReadCriteria("again", []byte(CriteriaText(list)))
		if err != nil {
			t.Fatalf("%q: rendered, it cannot be read: %v", text, err)
		}
		if len(again) != len(list) {
			t.Fatalf("%q: %d criteria, and %d of the rendered ones", text, len(list), len(again))
		}
		for i, c := range list {
			if again[i].Text != c.Text || again[i].Check != c.Check || again[i].Number != c.Number {
				t.Fatalf("%q: criterion %d is %q, rendered %q", text, c.Number, c.Text, again[i].Text)
			}
		}
	})
}
