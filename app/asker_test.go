package app

import (
	"strings"
	"testing"
)

func TestSplitAnswers(t *testing.T) {
	for text, want := range map[string][]string{
		"":                           {},
		"one\ntwo\n":                 {"one", "two"},
		"one\n\nthree\n":             {"one", "", "three"},
		"a\nb\n---\nc\n":             {"a\nb", "c"},
		"---\na\n---\n---\n\nd\n":    {"a", "", "\nd"},
		"windows\r\nlines\r\n":       {"windows", "lines"},
		"no newline at the end":      {"no newline at the end"},
		"x\n--- not alone\n---\ny\n": {"x\n--- not alone", "y"},
	} {
		if got := splitAnswers(text); strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("%q splits into %q, want %q", text, got, want)
		}
	}
}
