package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app"
	"conclave/quest"
)

const jsonParty = `as bear
always
  say <<END
I looked.

1. It goes somewhere (README.md:1).
   And further: README.md:2.
2. Nobody says who it is for: README.md:99.

What I would do first: say so.
END
as cat
always
  say 1. Nothing is tested: README.md:2.
as owl
always
  say No plan (README.md:1).
as puppy
always
  say How lovely!
as rabbit
always
  say No budget: README.md:3.
as wolf
always
  say One author, README.md:1.
as simon
always on The council has spoken
  say They agree on the README.
always
  answer {"consensus":"The README is where to begin.","dissent":"Wolf sees it otherwise.","next_steps":["Write the README","Find a second author"]}
`

// TestJSONOfTheParty (Q11): what a council and a consultation came to is whole in
// their JSON, with every message, and so is where the quest stands.
func TestJSONOfTheParty(t *testing.T) {
	w := newReal(t, "agents:\n  default: {agent: scripted, script: party.script}\n")
	w.put("party.script", jsonParty)
	w.put("README.md", "# A thing\n\nIt does something.\n")
	w.run(0, "trust", "--yes")
	w.run(0, "council", "--json", "-m", "Can it last?")
	res := decoded[app.Result](t, w)
	if res.Council == nil || len(res.Council.Perspectives) != 6 {
		t.Fatalf("the council: %+v", res.Council)
	}
	bear := res.Council.Perspectives[0]
	if bear.Who != "bear" || bear.Lens != "Vision & Direction" || !strings.Contains(bear.Text, "What I would do first") || bear.Run == "" {
		t.Errorf("the bear: %+v", bear)
	}
	if len(bear.Findings) != 2 || bear.Findings[0].Text != "It goes somewhere (README.md:1).\nAnd further: README.md:2." {
		t.Fatalf("what it found: %+v", bear.Findings)
	}
	if c := bear.Findings[0].Citations; len(c) != 2 || !c[0].OK || !c[1].OK {
		t.Errorf("what it cites: %+v", c)
	}
	if c := bear.Findings[1].Citations; len(c) != 1 || c[0].OK || c[0].Reason != "the file has 3 lines" {
		t.Errorf("what it cites wrongly: %+v", c)
	}
	if c := res.Council; c.Consensus != "The README is where to begin." || c.Dissent == "" || len(c.NextSteps) != 2 || c.Report != ".campaign/council-report.md" {
		t.Errorf("what Simon made of it: %+v", c)
	}
	if len(res.Runs) != 7 || len(res.Offers) == 0 || len(res.Files) != 2 {
		t.Errorf("runs %q, files %q, offers %v", res.Runs, res.Files, res.Offers)
	}
	if len(res.Exchange) != 8 || res.Exchange[0].Speaker != "User" || res.Exchange[0].Text != "Can it last?" || res.Exchange[7].Speaker != "🎓 Simon" {
		t.Errorf("the exchange: %+v", res.Exchange)
	}
	for _, file := range res.Files {
		if _, err := os.Stat(filepath.Join(w.dir, filepath.FromSlash(file))); err != nil {
			t.Error(err)
		}
	}
	w.put(".campaign/quest.md", "---\ncampaign-mode: Ship\nphase: 3\ncreated: 2026-02-14\n---\n\n# Crossing\n\n## Quest Narrative\n\nOnce.\n\n"+
		"## Success Criteria\n\n1. Done\n\n## Anticipated Dragon\n\nFog.\n\n## Party Assignments\n\n| Criterion | Primary | Secondary |\n|---|---|---|\n| Done | Cat (fog) | Owl |\n\n"+
		"## Progress Log\n\n- **Phase 1 complete** — Quest defined (2026-02-14)\n")
	w.run(0, "consult", "cat", "--json", "-m", "Is it safe?")
	said := decoded[app.Result](t, w)
	if e := said.Exchange; len(e) != 2 || e[0].Text != "Is it safe?" || e[1].Speaker != "🐱 Cat" || e[1].Text != said.Said[0] {
		t.Errorf("the exchange: %+v", e)
	}
	if len(said.Files) != 1 || !strings.HasSuffix(said.Files[0], said.Conversation) || len(said.Offers) == 0 || said.Council != nil {
		t.Errorf("files %q, offers %v", said.Files, said.Offers)
	}
	w.run(0, "quest", "status", "--json")
	st := decoded[app.QuestStatus](t, w)
	if st.Narrative != "Once." || st.Dragon != "Fog." || len(st.Criteria) != 1 || len(st.Others) != 1 || len(st.Said) != 2 || len(st.Costs) == 0 || st.Workspace != w.dir {
		t.Errorf("status: %+v", st)
	}
	if !slices.ContainsFunc(st.Said, func(c quest.Transcript) bool { return c.Name == said.Conversation && c.Agent == "cat" }) {
		t.Errorf("the conversations: %+v", st.Said)
	}
}

// put writes a file of the workspace.
func (w *real) put(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// decoded is what a command printed, with no field that its type has not.
func decoded[T any](t *testing.T, w *real) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(w.out.String()))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, w.out.String())
	}
	return v
}
