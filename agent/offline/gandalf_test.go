package offline

import (
	"strings"
	"testing"
	"testing/fstest"

	"conclave/agent"
	"conclave/quest"
)

const proposalSchema = `{"type":"object","additionalProperties":false,"required":["title","narrative","criteria","dragon"],"properties":{"title":{"type":"string"},"narrative":{"type":"string"},"criteria":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["text","sort"],"properties":{"text":{"type":"string"},"sort":{"type":"string","enum":["deliverable","transformation"]}}}},"dragon":{"type":"string"}}}`

type proposal struct {
	Title, Narrative, Dragon string
	Criteria                 []struct{ Text, Sort string }
}

func TestGandalfFramesByMode(t *testing.T) {
	for _, c := range []struct {
		mode    string
		answers []string
		asks    []string // a word of each question
		want    []string // criteria
	}{
		{"Ship", []string{"A ledger for the port. It must be kept.", "The ledger sums exactly\n- `README.md` exists (check: `test -f README.md`)", "The harbour master needs it by May.", "Nobody keeps it up."},
			[]string{"stranger could check", "Who needs this", "Dragon you expect"},
			[]string{"The ledger sums exactly", "`README.md` exists (check: `test -f README.md`)"}},
		{"Grow", []string{"Learn to keep a ledger", "Explain double entry to a friend", "A ledger of one month", "It frightens me.", "I stop after a week."},
			[]string{"who will you be", "make on the way", "matter to you", "Dragon"},
			[]string{"Explain double entry to a friend (transformation)", "A ledger of one month"}},
		{"Grow & Ship", []string{"A ledger", "It sums", "I can audit one", "The port asks for it.", "-"},
			[]string{"stranger could check", "cannot do today", "Who needs", "Dragon"},
			[]string{"It sums", "I can audit one (transformation)"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			r := start(t, "gandalf", mapFS(map[string]string{}), purpose("Quest definition"))
			framing := "A person wants to begin a quest of the mode " + c.mode + " and tells you what it is about. In your working directory: x.\n\n"
			var last string
			for i, a := range c.answers {
				last = r.say(t, framing+a)
				framing = ""
				if i < len(c.asks) && !strings.Contains(last, c.asks[i]) {
					t.Errorf("question %d is %q, want one with %q", i+1, last, c.asks[i])
				}
				if i < len(c.asks) && strings.Count(last, "?") > 2 {
					t.Errorf("more than one question at a time: %s", last)
				}
			}
			for i, w := range c.want {
				if !strings.Contains(last, number(i+1)+". "+w) {
					t.Errorf("the draft lacks %q:\n%s", w, last)
				}
			}
			if strings.Contains(last, "A person wants to begin") {
				t.Error("the engine's words are in the draft")
			}
			p := handedIn(t, r)
			if len(p.Criteria) != len(c.want) || p.Title == "" || !strings.Contains(p.Narrative, c.answers[0]) {
				t.Errorf("handed in: %+v", p)
			}
			for _, k := range p.Criteria {
				grow := strings.Contains(strings.Join(c.want, "\n"), k.Text+" (transformation)")
				if (k.Sort == "transformation") != grow {
					t.Errorf("%q is of the sort %q", k.Text, k.Sort)
				}
			}
			if _, err := quest.New(definition(p, quest.Mode(c.mode))); err != nil {
				t.Errorf("it is no quest: %v", err)
			}
		})
	}
}

func handedIn(t *testing.T, r rig) proposal {
	t.Helper()
	reply := r.send(t, agent.Message{Text: "Write the quest down now.\n" + proposalSchema, Schema: []byte(proposalSchema)})
	var p proposal
	decode(t, reply.Structured, &p)
	return p
}

func definition(p proposal, mode quest.Mode) quest.Definition {
	d := quest.Definition{Title: p.Title, Mode: mode, Created: "2026-02-14", Narrative: p.Narrative, Dragon: p.Dragon}
	for _, c := range p.Criteria {
		d.Criteria = append(d.Criteria, quest.Criterion{Text: c.Text, Sort: quest.Sort(c.Sort)})
	}
	return d
}

func TestGandalfTakesChanges(t *testing.T) {
	r := start(t, "gandalf", mapFS(map[string]string{"quest/mode.txt": "Ship"}), purpose("Quest definition"))
	for _, m := range []string{"A pier", "It stands; it is dry", "skip", "none"} {
		r.say(t, m)
	}
	for _, c := range []struct{ say, want string }{
		{"add: a crane", "3. a crane"},
		{"drop 2", "2. a crane"},
		{"1: It stands for ten years", "1. It stands for ten years"},
		{"name: The Long Pier", "**The Long Pier**"},
		{"dragon: the tide", "The Dragon you expect: the tide"},
		{"make it bluer", "I cannot tell where “make it bluer” belongs"},
		{"drop 9", "I cannot tell where"},
		{"yes, that is right", "Then it stands as I have shown it."},
	} {
		if got := r.say(t, c.say); !strings.Contains(got, c.want) {
			t.Errorf("%q gives\n%s\nwithout %q", c.say, got, c.want)
		}
	}
	p := handedIn(t, r)
	if p.Title != "The Long Pier" || len(p.Criteria) != 2 || p.Criteria[1].Text != "a crane" || p.Dragon != "the tide" {
		t.Errorf("handed in: %+v", p)
	}
	if after := r.say(t, "add: a lamp"); !strings.Contains(after, "3. a lamp") {
		t.Errorf("after the engine's request the words are lost: %s", after)
	}
}

func TestGandalfWritesDownOneMessage(t *testing.T) {
	r := start(t, "gandalf", nil, purpose("Quest definition"))
	r.say(t, "Build a pier. README.md names the pier; I learn to drive piles.")
	p := handedIn(t, r)
	if p.Title != "Build a pier" || len(p.Criteria) != 2 || p.Criteria[0].Text != "README.md names the pier" || p.Criteria[1].Sort != "transformation" {
		t.Errorf("handed in: %+v", p)
	}
	silent := start(t, "gandalf", nil, purpose("Quest definition"))
	if reply := silent.send(t, agent.Message{Text: "Write it down.", Schema: []byte(proposalSchema)}); reply.Structured != nil {
		t.Errorf("from nothing it made %s", reply.Structured)
	}
}

func TestReadinessReview(t *testing.T) {
	files := harbour()
	files["quest/criteria.md"].Data = []byte("1. `docs/plan.md` exists\n2. The ledger is never wrong\n3. The zeppelin flies (check: `make fly`)\n4. `README.md` contains `Submarine`\n")
	r := start(t, "gandalf", files, purpose("Readiness review"))
	text := r.say(t, "Shall we?")
	for _, want := range []string{
		"1. `docs/plan.md` exists: it stands", "`docs/plan.md:1`",
		"2. The ledger is never wrong: I cannot judge that",
		"3. The zeppelin flies: its check decides", "`make fly`",
		"4. `README.md` contains `Submarine`: it does not hold yet",
		"Of 4 criteria: 1 stands, 1 does not hold yet, 1 is decided by its check, 1 cannot be told", "the choice is yours",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the review lacks %q:\n%s", want, text)
		}
	}
	none := start(t, "gandalf", mapFS(map[string]string{}), purpose("Readiness review"))
	if text := none.say(t, "Shall we?"); !strings.Contains(text, "no criteria") {
		t.Errorf("without criteria: %s", text)
	}
}

func TestCounsel(t *testing.T) {
	files := harbour()
	files["quest/progress.md"] = &fstest.MapFile{Data: []byte("- **Progress** — the ledger opens (2026-02-15)\n- checkpoint held (2026-02-16)\n")}
	dressed := func(s *agent.Spec) { s.System += whoMark + "\n- The Warden (Wolf): cohesion.\n" }
	r := start(t, "gandalf", files, purpose("Strategic counsel"), dressed)
	text := r.say(t, "The ledger worries me, there is a risk that it fails.")
	for _, want := range []string{"criteri", "Its log has 2 entries; the last: checkpoint held (2026-02-16).", "the Cat (", "none of them with a check", "?"} {
		if !strings.Contains(text, want) {
			t.Errorf("the counsel lacks %q:\n%s", want, text)
		}
	}
	if again := r.say(t, "The team is in conflict about it."); again == text || !strings.Contains(again, "The Warden") || strings.Contains(again, "progress.md") {
		t.Errorf("asked again: %s", again)
	}
	if about := r.say(t, "It is about criterion 1"); !strings.Contains(about, "You speak of criterion 1, “The ledger sums exactly”") {
		t.Errorf("about a criterion: %s", about)
	}
	for _, said := range r.store.Entries() {
		if strings.Contains(string(said.Detail), "workspace") {
			t.Errorf("he looked for words in the project: %s", said.Detail)
		}
	}
}
