package offline

import (
	"slices"
	"strings"
	"testing"

	"conclave/agent"
)

// framed begins the definition of a quest.
func framed(t *testing.T, mode, first string) (rig, string) {
	t.Helper()
	r := start(t, "gandalf", mapFS(map[string]string{}), purpose("Quest definition"))
	return r, r.say(t, "A person wants to begin a quest of the mode "+mode+" and tells you what it is about. In your working directory: x.\n\n"+first)
}

// TestGandalfReadsAPaste: twelve lines at once are a quest, and each line is
// filed where it says that it belongs.
func TestGandalfReadsAPaste(t *testing.T) {
	paste := `# The harbour ledger

A ledger for the port, kept by whoever is on duty.
The old one was lost in the flood.

Why: the harbour master has to answer for every berth by May.

Done means:
- every berth has a line (check: ` + "`test -s ledger.csv`" + `)
- the sums are exact. Really exact
1. ` + "`README.md` exists" + `

Risk: nobody keeps it up after the first week.`
	r, text := framed(t, "Ship", paste)
	for _, want := range []string{
		"**The harbour ledger**\n\nA ledger for the port, kept by whoever is on duty.\nThe old one was lost in the flood.\n\nthe harbour master has to answer for every berth by May.",
		"1. every berth has a line (check: `test -s ledger.csv`)\n2. the sums are exact. Really exact\n3. `README.md` exists\n",
		"The Dragon you expect: nobody keeps it up after the first week.",
		"No command shows 2 yet.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the draft lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "?") {
		t.Errorf("nothing is missing, and he asks: %s", text)
	}
	p := handedIn(t, r)
	if p.Title != "The harbour ledger" || len(p.Criteria) != 3 || p.Dragon != "nobody keeps it up after the first week." {
		t.Errorf("handed in: %+v", p)
	}
}

// TestWhatAMessageIsAbout: the shapes in which people write things down.
func TestWhatAMessageIsAbout(t *testing.T) {
	for _, c := range []struct {
		words                              string
		title, idea, why, criteria, dragon string // lists joined by |
	}{
		{"I want to ship v2 of our CLI. It should have:\n- faster startup\n- a man page\nBecause users complain.\nWhat could go wrong: we break scripts.",
			"I want to ship v2 of our CLI", "I want to ship v2 of our CLI. It should have:", "Because users complain.", "faster startup|a man page", "we break scripts."},
		{"We need X so that Y works. Success means Z is green by June. The main risk is Bob.",
			"We need X so that Y works", "We need X so that Y works.", "", "Z is green by June", "The main risk is Bob."},
		{"Plan the holiday with the kids\n\nGoals\n\n* everybody has slept in a tent\n* we stay under 2000 (check: `test 1`)\n\nRisks\n\n* rain",
			"Plan the holiday with the kids", "Plan the holiday with the kids", "", "everybody has slept in a tent|we stay under 2000 (check: `test 1`)", "rain"},
		{"Write the second act.\r\nDone when:\r\n1) twelve chapters stand\r\n2) Ana has read them\r\nDragon: I rewrite act one again",
			"Write the second act", "Write the second act.", "", "twelve chapters stand|Ana has read them", "I rewrite act one again"},
		{"## Why\nNobody reads the docs\n## Done\n- a quick start\n## Risk\n- scope", "", "", "Nobody reads the docs", "a quick start", "scope"},
		{"**Goal:** migrate to Postgres\n**Done means:** all tests pass; the old one is gone\n**Risk:** data loss\n**Deadline:** end of March",
			"migrate to Postgres", "migrate to Postgres", "Deadline: end of March", "all tests pass|the old one is gone", "data loss"},
		{"Title: Faster CI\nAbout: our pipeline takes 40 minutes\nFor: everybody who waits\nDone: it takes ten",
			"Faster CI", "our pipeline takes 40 minutes", "For: everybody who waits", "it takes ten", ""},
		{"A tool with a README. It's done when the CI is green. I'm worried about scope.",
			"A tool with a README", "A tool with a README.", "", "the CI is green", "I'm worried about scope."},
		{"Write the handbook. Done means: HANDBOOK.md exists; a newcomer can deploy in an hour. Risk: nobody reads it. Why: everybody asks.",
			"Write the handbook", "Write the handbook.", "everybody asks.", "HANDBOOK.md exists|a newcomer can deploy in an hour", "nobody reads it."},
		{"Explain what done means to the team", "Explain what done means to the team", "Explain what done means to the team", "", "", ""},
		{"Risk assessment for the port", "Risk assessment for the port", "Risk assessment for the port", "", "", ""},
		{"Run it:\n```\n- done: x\n```", "Run it:", "Run it:\n```\n- done: x\n```", "", "", ""},
	} {
		d := &draft{}
		d.hear(c.words, partIdea)
		got := []string{d.named(), strings.Join(d.idea, "|"), strings.Join(d.why, "|"), strings.Join(d.criteria, "|"), strings.Join(d.dragon, "|")}
		if want := []string{c.title, c.idea, c.why, c.criteria, c.dragon}; !slices.Equal(got, want) || len(d.odd) > 0 {
			t.Errorf("%q\nis read as %q, odd %q\nwant       %q", c.words, got, d.odd, want)
		}
	}
}

// TestGandalfAsksOnlyForWhatIsMissing, and for one thing at a time.
func TestGandalfAsksOnlyForWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		mode, first, asks string
	}{
		{"Ship", "A pier", "stranger could check"},
		{"Ship", "A pier. Done means it stands for ten years.", "Who needs this"},
		{"Ship", "A pier because the old one rots. Done means it stands.", "Who needs this"},
		{"Ship", "A pier.\nBecause the old one rots.\nDone when it stands.", "make it fail"},
		{"Ship", "A pier.\nDone means:\n- it stands\nThe risk is the tide.", "Who needs this"},
		{"Ship", "A pier.\n- it stands\n- it is dry\nThe risk is the tide.", "Who needs this"},
		{"Grow", "To build piers", "who will you be"},
		{"Grow & Ship", "A pier\nDone means:\n- it stands", "cannot do today"},
		{"Ship", "- it stands\n- it is dry", "What will you deliver?"},
		{"Ship", "", "What will you deliver?"},
		{"Grow", "", "What do you want to learn"},
	} {
		_, text := framed(t, c.mode, c.first)
		if !strings.Contains(text, c.asks) || strings.Count(text, "?") > 2 {
			t.Errorf("%s, %q: %s\nwant a question with %q", c.mode, c.first, text, c.asks)
		}
	}
}

// TestGandalfFilesNothingWhereItDoesNotBelong: a line that says what it is
// about is no answer to another question, and that one is asked again.
func TestGandalfFilesNothingWhereItDoesNotBelong(t *testing.T) {
	r, _ := framed(t, "Ship", "A pier")
	if text := r.say(t, "the risk is the tide"); !strings.Contains(text, "That is taken in. One thing is still open.\n\nWhat will be there when it is done, that a stranger could check") {
		t.Errorf("a risk is taken for what done means: %s", text)
	}
	if text := r.say(t, "It stands\nBecause the old one rots."); strings.Contains(text, "stranger could check") || !strings.Contains(text, "1. It stands\n") ||
		!strings.Contains(text, "you expect: the risk is the tide") || strings.Contains(text, "2.") {
		t.Errorf("what was said about done and why: %s", text)
	}
	r, _ = framed(t, "Ship", "A pier")
	r.say(t, "It stands")
	if text := r.say(t, "- the port\n- everybody"); !strings.Contains(text, "make it fail") {
		t.Errorf("who needs it, as a list: %s", text)
	}
	p := handedIn(t, r)
	if len(p.Criteria) != 1 || !strings.Contains(p.Narrative, "the port\neverybody") {
		t.Errorf("handed in: %+v", p)
	}
	for _, words := range []string{"ok", "it is right", "yes, that's it", "sounds good", "go ahead", "agreed"} {
		if text := r.say(t, words); strings.Contains(text, "I cannot tell") || strings.Contains(text, "?") {
			t.Errorf("%q is no content: %s", words, text)
		}
	}
	if again := handedIn(t, r); again.Narrative != p.Narrative || len(again.Criteria) != 1 || again.Dragon != "" {
		t.Errorf("agreement became content: %+v", again)
	}
}

func TestGandalfReplacesAndAdds(t *testing.T) {
	r, _ := framed(t, "Grow & Ship", "A pier\nWhy: the port asks\nDone:\n- it stands\n- it is dry\nLearning: I can drive piles\nDragon: the tide")
	for _, c := range []struct {
		say    string
		want   []string
		absent string
	}{
		{"why: the town asks", []string{"A pier\n\nthe town asks\n"}, "the port asks"},
		{"also why: and the fish", []string{"the town asks\n\nand the fish"}, ""},
		{"dragon: the winter", []string{"you expect: the winter\n"}, "the tide"},
		{"also dragon: the money", []string{"you expect: the winter the money"}, ""},
		{"criterion 2: it is dry in June", []string{"2. it is dry in June\n"}, "2. it is dry\n"},
		{"change 1 to it stands still", []string{"1. it stands still\n"}, ""},
		{"3: I can drive piles alone", []string{"3. I can drive piles alone (transformation)"}, ""},
		{"also: a crane", []string{"4. a crane\n"}, ""},
		{"add a lamp", []string{"5. a lamp\n"}, ""},
		{"drop 4 and 5", []string{"3. I can drive piles alone"}, "a crane"},
		{"1. it stands firm", []string{"1. it stands firm\n"}, "it stands still"},
		{"drop the dragon", []string{"1. it stands firm"}, "you expect"},
		{"title: The Long Pier", []string{"**The Long Pier**"}, ""},
		{"- a bench\n- a bin", []string{"4. a bench\n5. a bin\n"}, ""},
		{"criteria:\n- it stands", []string{"1. I can drive piles alone (transformation)\n2. it stands\n"}, "a bench"},
		{"make it bluer", []string{"I cannot tell where “make it bluer” belongs"}, "**The Long Pier**"},
		{"9: nothing", []string{"I cannot tell where “9: nothing” belongs"}, ""},
	} {
		text := r.say(t, c.say)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q gives\n%s\nwithout %q", c.say, text, want)
			}
		}
		if c.absent != "" && strings.Contains(text, c.absent) {
			t.Errorf("%q leaves %q:\n%s", c.say, c.absent, text)
		}
		if strings.HasSuffix(strings.TrimSpace(text), "?") || strings.Contains(text, "model behind me") {
			t.Errorf("%q is answered with a question, or with the confession again: %s", c.say, text)
		}
	}
}

func TestGandalfSkipsWhatIsNotKnown(t *testing.T) {
	r, _ := framed(t, "Ship", "A pier. It stands for ten years.")
	for _, words := range []string{"skip", "I don't know yet"} {
		r.say(t, words)
	}
	if text := r.say(t, "-"); !strings.Contains(text, "1. It stands for ten years\n") {
		t.Errorf("with nothing but the first message: %s", text)
	}
	r, _ = framed(t, "Ship", "A pier. It stands for ten years.")
	if text := r.say(t, "that's all"); !strings.Contains(text, "1. It stands for ten years\n") {
		t.Errorf("that's all: %s", text)
	}
	r, _ = framed(t, "Ship", "A pier.\nDone means:\n- it stands\nThe risk is the tide.")
	if text := r.say(t, "it is right"); !strings.Contains(text, "1. it stands\n\nThe Dragon you expect: The risk is the tide.") {
		t.Errorf("agreed before everything was asked: %s", text)
	}
}

// TestGandalfOffersTheCouncilsSteps, and takes those that the person names.
func TestGandalfOffersTheCouncilsSteps(t *testing.T) {
	report := "# Council Report\n\n## Consensus\n\n1. no step\n\n## Recommended Next Steps\n\n1. Pin `left-pad` (the Rabbit, from `package.json:3`; costs minutes).\n2. Write the plan (the Owl, from `plan.md:1`).\n3. Test `a.go`\n"
	begin := func(first string) (rig, string) {
		r := start(t, "gandalf", mapFS(map[string]string{"council-report.md": report}), purpose("Quest definition"))
		return r, r.say(t, "A person wants to begin a quest of the mode Ship, from the findings of a council, and tells you what it is about. In your working directory: x.\n\n"+first)
	}
	r, text := begin("Mend what they saw")
	if !strings.Contains(text, "I have read the report of the council") || !strings.Contains(text, "1. Pin `left-pad`\n2. Write the plan\n3. Test `a.go`") || strings.Contains(text, "no step") {
		t.Errorf("the steps are not offered: %s", text)
	}
	if text := r.say(t, "1 and 3"); !strings.Contains(text, "Who needs this") {
		t.Errorf("after the choice: %s", text)
	}
	if text := r.say(t, "that's all"); !strings.Contains(text, "in the council's where you took them") {
		t.Errorf("whose words are they? %s", text)
	}
	var got []string
	for _, c := range handedIn(t, r).Criteria {
		got = append(got, c.Text)
	}
	if !slices.Equal(got, []string{"Pin `left-pad`", "Test `a.go`"}) {
		t.Errorf("taken: %q", got)
	}
	r, _ = begin("Mend it")
	r.say(t, "all")
	if p := handedIn(t, r); len(p.Criteria) != 3 {
		t.Errorf("all: %+v", p)
	}
	r, _ = begin("Mend it")
	r.say(t, "The build is green")
	if p := handedIn(t, r); len(p.Criteria) != 1 || p.Criteria[0].Text != "The build is green" {
		t.Errorf("own words: %+v", p)
	}
	plain := start(t, "gandalf", mapFS(map[string]string{"council-report.md": report}), purpose("Quest definition"))
	if text := plain.send(t, agent.Message{Text: "A person wants to begin a quest of the mode Ship and tells you what it is about. In your working directory: x.\n\nA pier"}).Text; strings.Contains(text, "council") {
		t.Errorf("a quest that is not begun from the council: %s", text)
	}
}

// TestGandalfAsksNobody: where nobody will answer he asks nothing.
func TestGandalfAsksNobody(t *testing.T) {
	r := start(t, "gandalf", mapFS(map[string]string{}), purpose("Quest definition"))
	text := r.say(t, "A person wants to begin a quest of the mode Ship and tells you what it is about. They agree beforehand and answer no questions, so ask none: say x. In your working directory: x.\n\nWrite the handbook. Done means: HANDBOOK.md exists")
	if strings.Contains(text, "?") || strings.Contains(text, "To change it") || !strings.Contains(text, "1. HANDBOOK.md exists") {
		t.Errorf("he says: %s", text)
	}
}
