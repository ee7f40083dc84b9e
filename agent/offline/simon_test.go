package offline

import (
	"strings"
	"testing"

	"conclave/agent"
)

const synthesisSchema = `{"type":"object","additionalProperties":false,"required":["consensus","dissent","next_steps"],"properties":{"consensus":{"type":"string"},"dissent":{"type":"string"},"next_steps":{"type":"array","items":{"type":"string"}}}}`

type synthesis struct {
	Consensus string
	Dissent   string
	NextSteps []string `json:"next_steps"`
}

func TestSimonJoinsTheSix(t *testing.T) {
	files := map[string]string{
		"council/bear.md": "I have no model behind me.\n\n1. **`requests`**: The README promises it, `README.md:4`, and nobody imports it.\n   Begin: Take `requests` out of `setup.py:9`\n   Costs: minutes; saves: a promise that nobody keeps\n" +
			"2. **the version**: `README.md:1` says 2, `setup.py:3` says 1.\n   Begin: Say 2 in both\n   Costs: an hour; saves: a question\n",
		"council/cat.md":    "1. **ledger.go**: It can fail at `ledger.go:9`.\n   Begin: Test `ledger.go:9`.\n   Costs: a day; saves: a night\n",
		"council/owl.md":    "1. **the plan**: First `plan.md:2` is late.\n   Begin: Move `plan.md:2`.\n   Costs: minutes; saves: a false date\n",
		"council/puppy.md":  "1. **the tests of ledger.go**: `ledger.go:12` is lovely!\n",
		"council/rabbit.md": "1. **requests**: `setup.py:9` declares it and no file imports it.\n   Begin: take `requests` out of `setup.py:9`.\n   Costs: minutes; saves: a download\n",
		"council/wolf.md":   "Where your words stand:\n\n- “pier” stands in 2 lines of 1 file: `README.md:4`.\n\nI looked for who is missing. I found nobody.\n",
	}
	r := start(t, "simon", mapFS(files), purpose("Council session"))
	text := r.say(t, "The council has spoken.")
	for _, want := range []string{
		"The Bear and the Rabbit speak of the same thing, `requests`. The Bear: The README promises it, `README.md:4`, and nobody imports it. The Rabbit: `setup.py:9` declares it",
		"The Wolf points to nothing.",
		"1. Take `requests` out of `setup.py:9` (the Bear and the Rabbit, from `README.md:4`; costs minutes; saves a promise that nobody keeps).\n" +
			"2. the plan: Move `plan.md:2` (the Owl, from `plan.md:2`; costs minutes; saves a false date).\n" +
			"3. Test `ledger.go:9` (the Cat, from `ledger.go:9`; costs a day; saves a night).\n" +
			"4. the version: Say 2 in both (the Bear, from `README.md:1`; costs an hour; saves a question).",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("Simon does not say %q:\n%s", want, text)
		}
	}
	for _, never := range []string{"matters to", "differ", "without a model", "the Puppy speak"} {
		if strings.Contains(text, never) {
			t.Errorf("Simon says %q:\n%s", never, text)
		}
	}
	reply := r.send(t, agent.Message{Text: "Now the parts.\n" + synthesisSchema, Schema: []byte(synthesisSchema)})
	var s synthesis
	decode(t, reply.Structured, &s)
	if len(s.NextSteps) != 4 || !strings.HasPrefix(s.Consensus, "- The Bear and the Rabbit") || s.Dissent != "" {
		t.Errorf("the parts: %+v", s)
	}
}

// TestSimonReadsTheMessage: the six can stand in the message, dressed or not,
// and may come from models, who name no thing and no step.
func TestSimonReadsTheMessage(t *testing.T) {
	r := start(t, "simon", nil, purpose("Council session"))
	text := r.say(t, "The council has spoken.\n\n### The Paladin (Bear) — Vision & Direction\n\n1. See `a.go:1`.\n\n### Cat — Risk & Scope\n\n1. And `a.go:1`, `b.go:2`.\n\nBring them together.")
	if !strings.Contains(text, "The Bear and the Cat point to the same line, `a.go:1`.") || !strings.Contains(text, "without a model") {
		t.Errorf("from the message: %s", text)
	}
	reply := r.send(t, agent.Message{Text: "Now the parts.", Schema: []byte(synthesisSchema)})
	var s synthesis
	decode(t, reply.Structured, &s)
	if len(s.NextSteps) != 2 {
		t.Errorf("the parts: %+v", s)
	}
}

// TestSimonDoesNotInventAgreement: the same file is not the same thing, and
// two who see different things do not differ.
func TestSimonDoesNotInventAgreement(t *testing.T) {
	for name, c := range map[string]struct {
		bear, cat     string
		want, dissent string
	}{
		"other files":          {"1. **x**: `a.go:1`", "1. **y**: `b.go:1`", "No two of them speak of the same thing", ""},
		"one file, two things": {"1. **x**: `a.go:1`", "1. **y**: `a.go:7`", "No two of them speak of the same thing", ""},
		"one file, no subject": {"1. See `a.go:1`", "1. See `a.go:7`", "No two of them speak of the same thing", ""},
		"only one of them":     {"I found nothing.", "1. **y**: `a.go:7`\n   Begin: Mend it.", "Only the Cat points to something", ""},
		"nothing at all":       {"I found nothing.", "I see nothing.", "None of them points to anything", ""},
		"a contradiction": {"1. **`left-pad`**: `package.json:3`\n   Begin: Remove it.", "1. **left-pad**: `index.js:1`\n   Begin: Keep it as it is.", "No two of them",
			"- About `left-pad`: the Bear would begin: Remove it; the Cat would begin: Keep it as it is."},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "simon", mapFS(map[string]string{"council/bear.md": c.bear, "council/cat.md": c.cat}), purpose("Council session"))
			text := r.say(t, "Go.")
			if !strings.Contains(text, c.want) || strings.Contains(text, "speak of the same thing,") {
				t.Errorf("Simon says: %s", text)
			}
			var s synthesis
			decode(t, r.send(t, agent.Message{Text: "Now the parts.", Schema: []byte(synthesisSchema)}).Structured, &s)
			if s.Dissent != c.dissent || len(s.NextSteps) == 0 {
				t.Errorf("the parts: %+v", s)
			}
		})
	}
}

// TestSimonOnARealCouncil: what six real seats wrote, joined, cites nothing
// that they did not.
func TestSimonOnARealCouncil(t *testing.T) {
	files, said := map[string]string{}, ""
	for _, a := range animals() {
		text := start(t, a.name, harbour(), purpose("Council session")).say(t, "Look.")
		files["council/"+a.name+".md"] = text
		said += text
	}
	text := start(t, "simon", mapFS(files), purpose("Council session")).say(t, "The council has spoken.")
	cites := citedForm.FindAllStringSubmatch(text, -1)
	if len(cites) < 3 {
		t.Fatalf("Simon cites %d places:\n%s", len(cites), text)
	}
	for _, m := range cites {
		if !strings.Contains(said, "`"+m[1]+":"+m[2]+"`") {
			t.Errorf("nobody cited %s", m[0])
		}
	}
}

func TestDebriefByMode(t *testing.T) {
	for mode, n := range map[string]int{"Grow": 5, "Ship": 3, "Grow & Ship": 4} {
		t.Run(mode, func(t *testing.T) {
			files := mapFS(map[string]string{"quest/mode.txt": mode + "\n", "quest/progress-log.md": "- **Progress** — x (2026-02-15)\n- **Dragon confrontation** — Dragon Slain: \"all met\" (2026-02-16)\n"})
			r := start(t, "simon", files, purpose("Debrief with Simon (filed as council)"))
			first := r.say(t, "The quest \"Pier\" is over: the Dragon is slain. In your working directory: x\n\nThe mode is "+mode+": y\n\nLet us look back on this quest.")
			if !strings.Contains(first, "goes from 2026-02-15 to 2026-02-16 and has 1 line of progress and 1 confrontation with a verdict (Dragon Slain). The last verdict: Dragon Slain: \"all met\".") ||
				strings.Count(first, "?") != 1 {
				t.Errorf("it begins: %s", first)
			}
			last := ""
			for i := range n {
				last = r.say(t, "Answer "+number(i)+",\nin two lines.")
			}
			for i := range n {
				if !strings.Contains(last, "> Answer "+number(i)+",\n> in two lines.") {
					t.Errorf("answer %d is not given back:\n%s", i, last)
				}
			}
			if strings.Contains(last, "Let us look back") {
				t.Error("the opening is taken for an answer")
			}
			if more := r.say(t, "One thing more."); !strings.Contains(more, "One thing more.") {
				t.Errorf("after the end: %s", more)
			}
		})
	}
	r := start(t, "simon", nil, purpose("Debrief"))
	r.say(t, "Let us look back.")
	r.say(t, "A pier.")
	if text := r.say(t, "done"); !strings.Contains(text, "> A pier.") || strings.Contains(text, "> done") {
		t.Errorf("ended early: %s", text)
	}
}

// TestDebriefTellsOnlyWhatTheLogHas: figures and days, nothing withdrawn,
// nothing felt; after a defeat other questions than after a victory.
func TestDebriefTellsOnlyWhatTheLogHas(t *testing.T) {
	files := mapFS(map[string]string{"quest/mode.txt": "Grow\n", "quest/criteria.md": "1. A pier\n2. I can drive piles (transformation)\n",
		"quest/progress-log.md": "- **Phase 1 complete** — Quest defined (2026-02-14)\n- **Progress** — a pile (2026-02-15)\n- **Progress** — a crane (2026-02-15)\n- **Progress** — two piles (2026-02-15)\n" +
			"- **Progress** — withdrawn: two piles (2026-02-16)\n- **Guardian checkpoint** — Conditional Approval: \"thin\" (2026-02-17)\n" +
			"- **Guardian checkpoint** — Approved: \"better\" (2026-02-18)\n- **Dragon confrontation** — Dragon Prevails: \"criterion 2 is not met\" (2026-02-19)\n"})
	text := start(t, "simon", files, purpose("Debrief with Simon (filed as council)")).say(t, "The quest \"Pier\" goes on: the Dragon was faced and prevailed. In your working directory: x\n\nThe mode is Grow: y")
	for _, want := range []string{
		"goes from 2026-02-14 to 2026-02-19 and has 2 lines of progress, 2 checkpoints with a verdict (Conditional Approval, Approved) and 1 confrontation with a verdict (Dragon Prevails).",
		"The last verdict: Dragon Prevails: \"criterion 2 is not met\".", "Of 2 criteria 1 said what you would become.", "I shall ask you 4 questions", "What does the verdict show you",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the debrief lacks %q:\n%s", want, text)
		}
	}
	if text := start(t, "simon", nil, purpose("Debrief")).say(t, "Let us look back."); strings.Contains(text, "The log of this quest") {
		t.Errorf("of a log that is not there: %s", text)
	}
}
