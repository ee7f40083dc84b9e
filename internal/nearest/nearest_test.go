package nearest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	known := []string{"player", "gm", "journal-keeper", "gandalf"}
	for word, want := range map[string]string{
		"playr": "player", "palyer": "player", "gm": "gm", "journalkeeper": "journal-keeper", "Gandlaf": "gandalf",
		"dragon": "", "": "gm", strings.Repeat("x", 1<<20): "",
	} {
		if got := Of(word, known); got != want {
			t.Errorf("%.20q: %q, not %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for pair, want := range map[[2]string]int{
		{"", ""}: 0, {"a", ""}: 1, {"kitten", "sitting"}: 3, {"ab", "ba"}: 1, {"Zoë", "Zoe"}: 1,
	} {
		if got := Distance(pair[0], pair[1]); got != want || Distance(pair[1], pair[0]) != want {
			t.Errorf("%q: %d, not %d", pair, got, want)
		}
	}
}
