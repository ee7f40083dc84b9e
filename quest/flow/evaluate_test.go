package flow

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/agent/scripted"
	"conclave/audit"
	"conclave/gate"
	gateflow "conclave/gate/flow"
	"conclave/policy"
	"conclave/quest"
	"conclave/record"
	"conclave/seat"
)

func confront() act {
	return act{"evaluate", Evaluate{Role: policy.Dragon, Paths: []string{"plan.md"}, Words: "confront plan.md"}}
}

const slain = `{"verdict":"Dragon Slain","summary":"it stands","criteria":[{"number":1,"status":"met","evidence":"plan.md:1"}]}`

// TestEditedMeanwhile: somebody edits quest.md while the Dragon thinks. Their
// words stay, the verdict is added to them, and the person is told.
func TestEditedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	write(t, dir, "plan.md", "A bridge.\n")
	s := stage{dir: dir, script: "as dragon\nturn\n  say It stands.\n  answer " + slain + "\n"}
	s.crash = func(label string) {
		if label == "done turn t1" {
			write(t, dir, quest.QuestFile, strings.Replace(aQuest, "The spring flood.", "The autumn flood.", 1))
		}
	}
	res, err := s.play(t.Context(), []act{confront()})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, quest.QuestFile))
	if err != nil {
		t.Fatal(err)
	}
	q := quest.Parse(data)
	if q.Dragon != "The autumn flood." || q.Phase != quest.PhaseDebrief || q.LastDragon() != quest.DragonSlain {
		t.Errorf("quest.md is\n%s", data)
	}
	if len(res[0].Notes) != 1 || !strings.Contains(res[0].Notes[0], "changed by someone else meanwhile") {
		t.Errorf("notes %q", res[0].Notes)
	}
	proved(t, dir, 1)
}

// TestDamagedMeanwhile: a quest.md that became unreadable is not touched; the
// verdict is in the conversation.
func TestDamagedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	write(t, dir, "plan.md", "A bridge.\n")
	damaged := strings.Replace(aQuest, "phase: 3", "phase: 9", 1)
	s := stage{dir: dir, script: "as dragon\nturn\n  say It stands.\n  answer " + slain + "\n"}
	s.crash = func(label string) {
		if label == "done turn t1" {
			write(t, dir, quest.QuestFile, damaged)
		}
	}
	res, err := s.play(t.Context(), []act{confront()})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, quest.QuestFile))
	if err != nil || string(data) != damaged {
		t.Errorf("quest.md was touched: %v", err)
	}
	if len(res[0].Notes) == 0 || !strings.Contains(res[0].Notes[0], "could not be changed") || res[0].Verdict != "Dragon Slain" {
		t.Errorf("%+v", res[0])
	}
	proved(t, dir, 1)
}

// TestWorkChangedMeanwhile: the Dragon judges the work that was named, or none.
func TestWorkChangedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	write(t, dir, "plan.md", "A bridge.\n")
	s := stage{dir: dir, script: "as dragon\nturn\n  say It stands.\n  answer " + slain + "\n"}
	s.crash = func(label string) {
		if label == "recorded begin" {
			write(t, dir, "plan.md", "A tunnel.\n")
		}
	}
	res, err := s.play(t.Context(), []act{confront()})
	if err != nil {
		t.Fatal(err)
	}
	if res[0].Verdict != "" || !strings.Contains(res[0].EndedEarly, "the work was changed") || len(res[0].Offers) == 0 {
		t.Errorf("%+v", res[0])
	}
	if data, _ := os.ReadFile(filepath.Join(dir, quest.QuestFile)); string(data) != aQuest {
		t.Error("quest.md was changed without a verdict")
	}
}

// What a checkpoint was shown and the confrontation is not stands among what
// the Dragon's audit looks for, unless it was changed since.
func TestEarlierWorkIsLookedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	write(t, dir, "plan.md", "A bridge.\n")
	write(t, dir, "draft/ford.md", "A ford would do as well, we thought at first, and it would cost nothing.\n")
	write(t, dir, "draft/ferry.md", "A ferry.\n")
	atAGate(t, dir, "shore/boat.md", "What a gate was shown is no stage of the quest, whoever judged there.\n")
	s := stage{dir: dir, script: "as guardian\nturn\n  say Ready.\n  answer {\"verdict\":\"Approved\",\"summary\":\"chosen\",\"gaps\":[],\"conditions\":[]}\nas dragon\nturn\n  say It stands.\n  answer " + slain + "\n"}
	look := act{"evaluate", Evaluate{Role: policy.Guardian, Stage: "draft", Paths: []string{"draft", "plan.md"}, Words: "checkpoint"}}
	if _, err := s.play(t.Context(), []act{look}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "draft/ferry.md", "No ferry.\n")
	if _, err := s.play(t.Context(), []act{look, confront()}); err != nil {
		t.Fatal(err)
	}
	list, err := record.List(record.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, info := range list {
		r, err := record.Open(info.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for r.Next() {
			var line struct {
				Event   string
				Context audit.Room
			}
			if json.Unmarshal(r.Frame().Payload, &line) == nil && line.Event == audit.EventRoom && line.Context.Role == string(policy.Dragon) {
				for _, d := range line.Context.Denied {
					if d.Kind == string(policy.StageWork) {
						got = append(got, fmt.Sprint(d.Name, " ", d.Windows > 0))
					}
				}
			}
		}
	}
	if !slices.Equal(got, []string{"earlier/draft/ford.md true"}) {
		t.Errorf("looked for: %q", got)
	}
}

// atAGate has a Guardian approve of a file without the quest.
func atAGate(t *testing.T, dir, name, text string) {
	t.Helper()
	write(t, dir, name, text)
	opened, err := gate.Open(t.Context(), gate.Ask{Root: dir, Role: policy.Guardian, Rule: gate.All, N: 1,
		Expect: "It floats.", Work: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	script, err := scripted.Parse([]byte("as guardian\nturn\n  say Ready.\n  answer " +
		`{"verdict":"Approved","summary":"it floats","gaps":[],"conditions":[]}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := gateflow.Run(t.Context(), gateflow.Options{
		Root: dir, Program: "conclave test", Case: opened.Case, Work: opened.Work, Quest: QuestID(quest.Parse([]byte(aQuest))),
		Dress: func(_ int, p *seat.Plan) (string, error) {
			p.Agent, p.InProcess, p.Program = &scripted.Agent{Script: script}, true, "conclave test"
			return "", nil
		},
	})
	if err != nil || made.Body.Decision.Outcome != gate.Met {
		t.Fatalf("%+v, %v", made, err)
	}
}

// TestEvaluatorsAreTold: the four directives and the warning about transcripts
// are in what an evaluator is sent; nothing of the quest's story is.
func TestEvaluatorsAreTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	h, err := (stage{dir: dir}).house()
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []policy.Role{policy.Guardian, policy.Dragon} {
		o, err := h.readOpening(role, "x", "", true)
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.plan(t.Context(), o, extras{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Judge only the work", "Do not ask anyone to explain", "Do not look for, open or refer to conversations", "from nothing else", "Transcripts of conversations are not yours to read"} {
			if !strings.Contains(p.System, want) {
				t.Errorf("%s is not told %q", role, want)
			}
		}
		if strings.Contains(p.System, "village") || strings.Contains(p.System, "{{") {
			t.Errorf("%s is told\n%s", role, p.System)
		}
	}
}

func TestEveryRoleHasInstructions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, quest.QuestFile, aQuest)
	h, err := (stage{dir: dir}).house()
	if err != nil {
		t.Fatal(err)
	}
	roles := append(policy.Animals(), policy.Gandalf, policy.Guardian, policy.Dragon, policy.Simon)
	for _, role := range roles {
		for _, mode := range []quest.Mode{quest.Grow, quest.Ship, quest.GrowAndShip} {
			o, err := h.readOpening(role, "x", "", true)
			if err != nil {
				t.Fatal(err)
			}
			o.Mode = mode
			text, err := h.system(o, quest.Material{})
			if err != nil || len(text) < 200 {
				t.Errorf("%s in %s: %v, %d bytes", role, mode, err, len(text))
			}
		}
	}
}

func TestCitations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a/b.go", "one\ntwo\nthree")
	write(t, dir, "Makefile", "all:\n")
	write(t, dir, ".campaign/quest.md", aQuest)
	v, err := openView(dir, policy.View(policy.Bear, nil), quest.Grants{Given: []quest.Piece{{Name: "quest/criteria.md", Bytes: []byte("1. A\n")}}}, []byte("x\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	text := "See a/b.go:3 and workspace/a/b.go:1-3, `Makefile:1`, quest/criteria.md:1, history.txt:1; not a/b.go:4, a/c.go:1, " +
		".campaign/quest.md:1, ../x.go:1, at 14:32, 3:1, http://host.example:80/x, localhost:8080."
	got := map[string]bool{}
	for _, c := range v.check(text) {
		got[c.Text] = c.OK
	}
	want := map[string]bool{"a/b.go:3": true, "workspace/a/b.go:1-3": true, "Makefile:1": true, "quest/criteria.md:1": true, "history.txt:1": true,
		"a/b.go:4": false, "a/c.go:1": false, ".campaign/quest.md:1": false, "../x.go:1": false}
	for text, ok := range want {
		if there, found := got[text]; !found || there != ok {
			t.Errorf("%s: found %v, ok %v, want ok %v", text, found, there, ok)
		}
		delete(got, text)
	}
	if len(got) > 0 {
		t.Errorf("taken for citations: %v", got)
	}
}

// Who found nothing has nothing to cite; who claims something has.
func TestNothingSeenNeedsNoCitation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"I have no model behind me.\n\nI found nothing in my field.": true,
		"I looked for holes. I see no hole that I could point at.":   true,
		"How lovely!": false,
		"I walked along the walls and found no hole that I could point at.": true,
		"I found nothing that worries me.\n\n1. The tests are splendid.":    false,
		"Nothing is tested here.": false,
	} {
		if got := !strings.Contains(marked(text, nil), "could not be verified"); got != want {
			t.Errorf("%q passes without a citation: %v", text, got)
		}
	}
}
