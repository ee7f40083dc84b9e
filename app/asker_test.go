package app

import (
	"strings"
	"testing"

	"conclave/engine"
	"conclave/quest/flow"
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
		if got, _ := splitAnswers(text); strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("%q splits into %q, want %q", text, got, want)
		}
	}
}

// TestEmptyLinesInATalk: an empty line in a file of answers says nothing; it ends
// a talk where nothing or an agreement follows.
func TestEmptyLinesInATalk(t *testing.T) {
	for text, want := range map[string]string{
		"one\n\ntwo\n":            "one|two|" + flow.EndTalk,
		"one\n\n\n two\n":         "one| two|" + flow.EndTalk,
		"one\n\nYes, that's it\n": "one|" + flow.EndTalk,
		"one\n\n1\n":              "one|" + flow.EndTalk,
		"one\n\n":                 "one|" + flow.EndTalk,
		"one\n---\n---\ntwo\n":    "one|" + flow.EndTalk, // an empty block was meant
	} {
		k := &asker{}
		k.answers, k.byLine = splitAnswers(text)
		var got []string
		for len(got) == 0 || got[len(got)-1] != flow.EndTalk {
			answer, err := k.Ask(t.Context(), engine.Question{Default: flow.EndTalk})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, answer)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q says %q, want %s", text, got, want)
		}
	}
	k := &asker{file: "a.txt", answers: []string{"", "two\nthree", "", "four"}}
	if got := k.leftOver(); !strings.Contains(got, "2 answers in a.txt") || !strings.Contains(got, "two") || strings.Contains(got, "three") {
		t.Errorf("what is left is said as %q", got)
	}
	if got := (&asker{answers: []string{"", " "}}).leftOver(); got != "" {
		t.Errorf("empty lines are left: %q", got)
	}
}
