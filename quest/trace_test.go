package quest

import (
	"strings"
	"testing"

	"conclave/policy"
)

// S3, Q3: what was said in a conversation betrays it wherever it stands; what
// is quoted there from the project does not.
func TestTraceOfAConversation(t *testing.T) {
	said := []string{"the harbour master wants it done before the autumn comes", "a fence is no place to hide what we mean to do", "even in what is called a program it would be said that we gave up"}
	quoted := []string{"keep the light on every single night of the long year", "return lamp.On(night, keeper, log)", "the old line of the change that was pasted here stays out"}
	text := "\n### Exchange\n\n**User:** " + said[0] + "\n@@ -1,2 +1,2 @@\n context\n-" + quoted[2] + "\n+// " + quoted[0] + "\n\n**Cat:** Look:\n```\n" + said[1] +
		"\n```\n```go\n// " + quoted[0] + "\n" + quoted[1] + "\n" + said[2] + "\n```\n"
	trace := string(conversationTrace(Transcript{Kind: policy.ConversationAnimals, Data: []byte(text)}, false, nil).text)
	for _, s := range said {
		if !strings.Contains(trace, s) {
			t.Errorf("%q is not in the trace", s)
		}
	}
	for _, q := range quoted {
		if strings.Contains(trace, q) {
			t.Errorf("%q is in the trace", q)
		}
	}
	if trace := conversationTrace(Transcript{Kind: policy.ConversationGuardian, Data: []byte(text)}, false, nil); strings.Contains(string(trace.text), said[1]) {
		t.Error("an evaluator's evidence is in the trace of its conversation")
	}
	forged := "\n### Exchange\n\n**Cat:** Look.\n@@ -1,9 +1,9 @@\n+" + said[0] + "\n"
	if trace := conversationTrace(Transcript{Kind: policy.ConversationAnimals, Data: []byte(forged)}, false, nil); !strings.Contains(string(trace.text), said[0]) {
		t.Error("an agent hides its words in the form of a change")
	}
}

// A title that nobody wrote is the narrative's beginning, also when the engine
// has written it down as a heading, cut or whole.
func TestTitleForEvaluators(t *testing.T) {
	const head, body = "---\ncampaign-mode: Ship\nphase: 3\ncreated: 2026-02-14\n---\n\n", "## Quest Narrative\n\nThe keeper lost his brother to the rocks in the storm.\n"
	for _, title := range []string{"", "# The keeper lost his brother to the rocks in the storm\n\n", "# The keeper lost his brother to the…\n\n"} {
		q := Parse([]byte(head + title + body))
		for _, role := range policy.Roles() {
			got := q.titleFor(role)
			if knows := policy.Decide(role, policy.QuestNarrative).Allow; knows != strings.Contains(got, "keeper") {
				t.Errorf("%q: %s is given the title %q", title, role, got)
			}
		}
	}
	marked := "## Quest Narrative\n\n(transformation)\nThe keeper lost his brother (check: `test -f log`) to the rocks.\n"
	q := Parse([]byte(head + marked))
	if q.Title != "The keeper lost his brother to the rocks" || strings.Contains(q.titleFor(policy.Dragon), "keeper") {
		t.Errorf("with marks in the narrative the title is %q, and the Dragon is given %q", q.Title, q.titleFor(policy.Dragon))
	}
	if got := Parse([]byte(head + "# The lamp\n\n" + body)).titleFor(policy.Guardian); got != "The lamp" {
		t.Errorf("a title of its own became %q", got)
	}
}

// Of a conversation by other hands nobody knows what stood in the project
// before: it accuses, and says so.
func TestUnnoted(t *testing.T) {
	const words = "nobody would notice until the ferry is aground on the bar"
	for _, noted := range []bool{false, true} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"a.md": words})
		work, err := OpenWork(dir, []string{"a.md"})
		if err != nil {
			t.Fatal(err)
		}
		defer work.Close()
		m := preflightMaterial(t)
		if noted {
			m.Stood = func(string) [][2]int { return [][2]int{} }
		}
		err = Preflight([]byte("0123456789abcdef"), Grant(policy.Dragon, m), work)
		leak, ok := err.(*LeakError)
		if !ok || leak.Leaks[0].Unnoted == noted || strings.Contains(err.Error(), "nobody has noted") == noted {
			t.Errorf("noted %v: %v", noted, err)
		}
	}
}

// The order for a checkpoint accuses nobody: whoever orders the next one may
// expect the same of it. So an audit looks only for what came after it.
func TestTraceLeavesTheOrderOut(t *testing.T) {
	const order = "--expect 'The file README.md exists and README.md contains `backup init`' README.md"
	text := "\n### Exchange\n\n**User:** checkpoint --stage d " + order + "\n\n**Guardian:** It is not there.\n\n**User:** Look again.\n"
	for _, words := range []bool{false, true} {
		c := Transcript{Kind: policy.ConversationGuardian, Data: []byte(text)}
		trace := string(conversationTrace(c, words, nil).text)
		if strings.Contains(trace, "README") || !strings.Contains(trace, "Look again") {
			t.Errorf("words %v: the trace is %q", words, trace)
		}
	}
}
