package offline

import (
	"io/fs"
	"strings"
	"testing"

	"conclave/agent"
)

func TestConsultationAnswersWhatWasAsked(t *testing.T) {
	files := harbour()
	work, err := fs.Sub(files, "workspace")
	if err != nil {
		t.Fatal(err)
	}
	framing := "The person who leads this quest consults you. Quest: Harbour. Phase 3, Campaign Execution.\nIn your working directory: quest/ holds the parts of the quest. Whoever speaks of a file cites it as `path:line`.\n\n"
	r := start(t, "owl", files, purpose("Phase 3 advisory"))
	first := r.say(t, framing+"What of the crane?")
	for _, want := range []string{"“crane” stands in 1 line of 1 file: `docs/plan.md:5` (`- [ ] crane`)", "**overdue tasks**"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first answer lacks %q:\n%s", want, first)
		}
	}
	second := r.say(t, "And `ledger/book.go`, does it round, or is there a zeppelin?")
	for _, want := range []string{"`ledger/book.go` has 6 lines", "zeppelin", "rounds down"} {
		if !strings.Contains(second, want) {
			t.Errorf("the second answer lacks %q:\n%s", want, second)
		}
	}
	if strings.Contains(second, "overdue") {
		t.Errorf("the second answer repeats the findings:\n%s", second)
	}
	if third := r.say(t, "Where is the submarine?"); !strings.Contains(third, "No line") || !strings.Contains(third, "bears “submarine”") {
		t.Errorf("what is not there: %s", third)
	}
	if fourth := r.say(t, "And then?"); !strings.Contains(fourth, "I look for words") {
		t.Errorf("a question without words: %s", fourth)
	}
	if fifth := r.say(t, "And the licence?"); !strings.Contains(fifth, "nothing more to show") {
		t.Errorf("a question about a field without a finding: %s", fifth)
	}
	for _, text := range []string{first, second} {
		if checkCitations(t, text, work, files) == 0 {
			t.Error("nothing is cited")
		}
	}
}

func TestWordsOfAQuestion(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"What about the harbour's ledger?", "harbour's ledger"},
		{"Is `x/y.go` the same as \"night watch\"?", "x/y.go night watch|watch night"},
		{"why is it so?", ""},
		{"Does CI run pier.yml and the TLS part?", "pier.yml TLS pier yml"},
	} {
		got := searchWords(c.text)
		for _, w := range strings.Fields(strings.Split(c.want, "|")[0]) {
			if !strings.Contains(strings.Join(got, " "), w) {
				t.Errorf("%q gives %q, without %q", c.text, got, w)
			}
		}
		if c.want == "" && len(got) > 0 {
			t.Errorf("%q gives %q", c.text, got)
		}
	}
}

func TestOwnWords(t *testing.T) {
	for _, c := range [][2]string{
		{"just this", "just this"},
		{"The person who leads this quest consults you.\n\nAll mine.\n\nAnd this.", "All mine.\n\nAnd this."},
		{"The quest \"Pier\" is over: the Dragon is slain. In your working directory: x\n\nThe mode is Grow: give.\n\nLet us look back.", "Let us look back."},
		{"A person wants to begin a quest of the mode Ship and tells you. In your working directory: y", ""},
	} {
		if got := ownWords(c[0]); got != c[1] {
			t.Errorf("%q gives %q, want %q", c[0], got, c[1])
		}
	}
}

// TestResumed: a session that is told the conversation so far goes on with it;
// one that is not says what it lacks.
func TestResumed(t *testing.T) {
	ship := func(s *agent.Spec) { s.System = "The quest is of the mode Ship." }
	whole := start(t, "gandalf", mapFS(map[string]string{}), ship)
	told := []string{"A ledger for the harbour.", "The ledger sums exactly\n`README.md` exists", "The port needs it."}
	var said []string
	for _, m := range told {
		said = append(said, whole.say(t, m))
	}
	last := whole.say(t, "Nobody reads it.")

	past := "Your session was interrupted and begins anew. This is the conversation so far, word for word; continue it.\n"
	for i := range told {
		past += "\n--- you were told:\n" + told[i] + "\n\n--- you said:\n" + said[i] + "\n"
	}
	again := start(t, "gandalf", mapFS(map[string]string{}), ship, func(s *agent.Spec) { s.Resume = "offline-gandalf-3" })
	if got := again.say(t, past+"\n\nNobody reads it."); got != last {
		t.Errorf("resumed, it says\n%s\nand not\n%s", got, last)
	}
	if id := again.session.Info().SessionID; id != "offline-gandalf-4" {
		t.Errorf("the session is %s", id)
	}

	asleep := start(t, "gandalf", mapFS(map[string]string{}), ship, func(s *agent.Spec) { s.Resume = "offline-gandalf-3" })
	got := asleep.say(t, "Nobody reads it.")
	if !strings.Contains(got, "did not reach me") || strings.Contains(got, "model") {
		t.Errorf("without the words before it: %s", got)
	}
}

// TestNamesWithBlanks: a file that is named is told of, also where its name cannot be
// cited, and no part of that name is called missing.
func TestNamesWithBlanks(t *testing.T) {
	t.Parallel()
	files := mapFS(map[string]string{"lies mich.md": "# Hallo\n\nBitte.\n"})
	said := start(t, "cat", nested{"workspace", files}, purpose("consult")).say(t, "What is in `lies mich.md`?")
	if !strings.Contains(said, "- `lies mich.md` has 3 lines; lines of such a name I cannot cite.") || strings.Contains(said, "No line of") {
		t.Errorf("it says %s", said)
	}
}

// TestWordsAreDenied: that no line bears a word is said of the files that were
// searched, and only where none does: a line that is too long to be quoted, or
// lies under a name that cannot be cited, bears it all the same.
func TestWordsAreDenied(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words ", 40) + "to maintain it "
	for name, c := range map[string]struct {
		files map[string]string
		want  string
		lacks string
	}{
		"far to the right": {map[string]string{"UPGRADING.md": long + "\n"},
			"“maintain” stands in 1 line of 1 file: `UPGRADING.md:1`.", "No line"},
		"in a very long one": {map[string]string{"a.md": strings.Repeat(long, 9) + "\n"},
			"“maintain” stands in 1 line of 1 file", "No line"},
		"under a name with blanks": {map[string]string{"New Leave.md": "We maintain it.\n", "b.md": "x\n"},
			"“maintain” stands in 1 line of 1 file, in none whose name I can cite.", "No line"},
		"in a licence alone": {map[string]string{"LICENSE": "MIT License\n\nwhoever may maintain it\n", "b.md": "x\n"},
			"No line of the 1 file that I searched bears “maintain” as a word.", "stands"},
		"in no word of its own": {map[string]string{"b.md": "The maintainers.\n"},
			"No line of the 1 file that I searched bears “maintain” as a word.", "stands"},
	} {
		t.Run(name, func(t *testing.T) {
			said := start(t, "bear", nested{"workspace", mapFS(c.files)}, purpose("consult")).say(t, "Who will maintain it?")
			if !strings.Contains(said, c.want) || strings.Contains(said, c.lacks) {
				t.Errorf("it says %s\nand should say %q", said, c.want)
			}
		})
	}
}
