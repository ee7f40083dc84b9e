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
		"council/bear.md":   "1. The ledger is the point: `ledger.go:3`.\n   Begin: Read `ledger.go:3`.\n2. Alone: `vision.md:1`.\n",
		"council/cat.md":    "1. It can fail at `ledger.go:9`.\n   Begin: Test `ledger.go:9`.\n",
		"council/owl.md":    "Two things, first `plan.md:2` is late.\n",
		"council/puppy.md":  "- `ledger.go:12` is lovely!\n",
		"council/rabbit.md": "- Asks for `go.mod:4`.\n  Begin: Ask them.\n",
		"council/wolf.md":   "I see nothing in my field.\n",
	}
	r := start(t, "simon", mapFS(files), purpose("Council session"))
	text := r.say(t, "The council has spoken.")
	for _, want := range []string{
		"`ledger.go` matters to the Bear at `ledger.go:3`, the Cat at `ledger.go:9` and the Puppy at `ledger.go:12`.",
		"Only the Bear: Alone: `vision.md:1`.", "Only the Owl: Two things, first `plan.md:2` is late.", "The Wolf points to nothing",
		"1. Read `ledger.go:3`. (the Bear, from `ledger.go:3`)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("Simon does not say %q:\n%s", want, text)
		}
	}
	reply := r.send(t, agent.Message{Text: "Now the parts.\n" + synthesisSchema, Schema: []byte(synthesisSchema)})
	var s synthesis
	decode(t, reply.Structured, &s)
	if len(s.NextSteps) < 3 || len(s.NextSteps) > 5 || !strings.Contains(s.Consensus, "`ledger.go`") || !strings.Contains(s.Dissent, "the Owl") {
		t.Errorf("the parts: %+v", s)
	}
	for _, step := range s.NextSteps {
		if !citation.MatchString(step) {
			t.Errorf("a step without a citation: %s", step)
		}
	}
}

// TestSimonReadsTheMessage: the six can stand in the message, dressed or not.
func TestSimonReadsTheMessage(t *testing.T) {
	r := start(t, "simon", nil, purpose("Council session"))
	text := r.say(t, "The council has spoken.\n\n### The Paladin (Bear) — Vision & Direction\n\n1. See `a.go:1`.\n\n### Cat — Risk & Scope\n\n1. And `a.go:7`, `b.go:2`.\n\nBring them together.")
	if !strings.Contains(text, "`a.go` matters to the Bear at `a.go:1` and the Cat at `a.go:7`.") {
		t.Errorf("from the message: %s", text)
	}
	reply := r.send(t, agent.Message{Text: "Now the parts.", Schema: []byte(synthesisSchema)})
	var s synthesis
	decode(t, reply.Structured, &s)
	if len(s.NextSteps) != 2 {
		t.Errorf("the parts: %+v", s)
	}
}

func TestSimonDoesNotInventAgreement(t *testing.T) {
	r := start(t, "simon", mapFS(map[string]string{"council/bear.md": "1. `a.go:1`", "council/cat.md": "1. `b.go:1`"}), purpose("Council session"))
	if text := r.say(t, "Go."); !strings.Contains(text, "On nothing that two of them point to") {
		t.Errorf("no path is shared, and Simon says: %s", text)
	}
}

// TestSimonOnARealCouncil: what six real seats wrote, joined, cites nothing
// that they did not.
func TestSimonOnARealCouncil(t *testing.T) {
	files, said := map[string]string{}, ""
	for _, a := range animals() {
		text := start(t, a.name, project(), purpose("Council session")).say(t, "Look.")
		files["council/"+a.name+".md"] = text
		said += text
	}
	text := start(t, "simon", mapFS(files), purpose("Council session")).say(t, "The council has spoken.")
	cites := citedForm.FindAllStringSubmatch(text, -1)
	if len(cites) < 6 {
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
			if !strings.Contains(first, "`quest/progress-log.md:2`") || strings.Count(first, "?") != 1 {
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
