package told

import (
	"strings"
	"testing"

	"conclave/policy"
	"conclave/table"
	"conclave/table/journal"
	"conclave/table/story"
)

const canary = "the-bishop-did-it"

// everything is one thing of every kind, made as the engine makes them, with a
// word in it that is no player's business wherever that can be.
func everything() []Thing {
	out := OfRoster(table.Roster{Problems: []string{"party/Tilda.md: rename to tilda.md"}})
	out = append(out, OfFiles([]string{"story-state.md:3: " + canary}, []string{"party/Tilda.md: rename to tilda.md"},
		table.Roster{Problems: []string{"party/Tilda.md: rename to tilda.md"}})...)
	out = append(out, OfJournals([]journal.Job{{Character: canary, Cycle: 4}}, table.Roster{})...)
	return append(out, OfEvent(story.Event{Seq: 7, Cycle: 4, Warnings: []string{
		GivenUp("STATUS: " + canary), SetAside(canary+"-prompt.md", "ash"), NoAnswer(2, 1, "crashed: "+canary),
		NotAsked("tilda", canary),
		"the GM signalled without tmp/gm-context.md",
	}})...)
}

// TestEveryKindHasBoth: each kind is made by somebody, and has words for those
// who may not read it.
func TestEveryKindHasBoth(t *testing.T) {
	found := map[Kind]int{}
	for _, x := range everything() {
		found[x.Kind]++
	}
	for kind, words := range amiss {
		if found[kind] != 1 || words == "" {
			t.Errorf("%s: %d things, %q", kind, found[kind], words)
		}
	}
	if len(found) != len(amiss) {
		t.Errorf("kinds %v", found)
	}
}

// TestWhoIsTold: the game master reads everything; a player nothing that is the
// game master's, and of it only that there is something, if nobody else can act.
func TestWhoIsTold(t *testing.T) {
	for _, x := range everything() {
		if x.To(string(policy.GM), false) != x.Text {
			t.Errorf("%s: the game master reads %q", x.Kind, x.To(string(policy.GM), false))
		}
		for _, agent := range []bool{false, true} {
			got := x.To("tilda-brannock", agent)
			if strings.Contains(got, canary) {
				t.Errorf("%s: a player reads %q", x.Kind, got)
			}
			if want := agent || x.For == Everybody; (got != "") != want {
				t.Errorf("%s, game master an agent %v: a player reads %q", x.Kind, agent, got)
			}
		}
	}
	own := OfJournals([]journal.Job{{Character: "tilda-brannock", Cycle: 4}}, table.Roster{})[0]
	if own.To("tilda-brannock", false) != own.Text || own.To("corwin-voss", false) != "" {
		t.Error("a journal is its owner's")
	}
}

func TestReport(t *testing.T) {
	if got := Report(nil, nil, true, "ash"); got != nil {
		t.Errorf("nothing is amiss: %q", got)
	}
	many := append(everything(), everything()...)
	got := Report(many, []string{"tilda-brannock", "corwin-voss"}, true, "ash")
	if len(got) > maxReport+1 || !strings.Contains(got[len(got)-1], "conclave table status ash") {
		t.Errorf("the report is %q", got)
	}
	if !strings.HasSuffix(got[0], "(2 times)") {
		t.Errorf("said twice: %q", got[0])
	}
}

// TestOldRemarks: what older versions wrote into their logs is known again.
func TestOldRemarks(t *testing.T) {
	for remark, want := range map[string]Kind{
		"given up after repairs: STATUS: want a character":                                  Repair,
		"tmp/x-prompt.md belongs to no open cycle: set aside in .conclave/tables/ash/stale": Aside,
		"turn 3 of the GM, attempt 2: timeout: no answer within 5m0s":                       Silence,
		NotAsked("tilda", "overloaded"):                                                     Unanswered,
		"tilda was not asked again: 24 calls are spent":                                     "",
		"unsent prompt for tilda was removed":                                               "",
		"turn over, said the GM, attempt nothing":                                           "",
	} {
		if got, ok := OfRemark(remark, 3); got.Kind != want || ok != (want != "") {
			t.Errorf("%q is %q", remark, got.Kind)
		}
	}
}
