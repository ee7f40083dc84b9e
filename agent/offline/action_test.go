package offline

import (
	"regexp"
	"strings"
	"testing"
)

// A commit cannot be moved, whatever its first letter is.
func TestMovedAction(t *testing.T) {
	moved := regexp.MustCompile(movedAction)
	for line, want := range map[string]bool{
		"      - uses: actions/checkout@v4":                     true,
		"uses: actions/checkout@5.0.1":                          true,
		"- uses: a/b/.github/x@main # latest":                   true,
		"- uses: actions/checkout@v4.1.0-rc.1":                  true,
		"- uses: a/b@" + strings.Repeat("4b", 20):               false,
		"- uses: a/b@" + strings.Repeat("d4", 20) + " # v5.0.1": false,
		"- uses: a/b@" + strings.Repeat("9", 7) + "abc":         false,
		"- uses: ./local":                                       false,
	} {
		if moved.MatchString(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
