package quest

import (
	"errors"
	"strings"
	"testing"

	"conclave/policy"
	"conclave/profile"
)

func boundaries() []Boundary {
	return []Boundary{AfterFraming, AfterConsultation, AfterApproved, AfterBlocked, AfterConditional, AfterReadiness, AfterCounsel, AfterSlain, AfterPrevails, AfterNoVerdict, AfterCouncil, AfterDebrief, AfterStandalone, WithoutQuest, UnderWay,
		ForEvaluation}
}

func TestOffersTable(t *testing.T) {
	owl := OfferContext{Suggested: Suggestion{Who: policy.Owl, Reason: "time is tight"}}
	for _, c := range []struct {
		at   Boundary
		ctx  OfferContext
		want string
	}{
		{AfterFraming, owl, "Consult Owl – time is tight|Begin working|Review the quest|Hear another advisor"},
		{AfterConsultation, owl, "Hear Owl – time is tight|Hear another advisor|Continue working|Ask for an evaluation or counsel"},
		{AfterApproved, owl, "Continue working|Face the Dragon|Consult Gandalf"},
		{AfterBlocked, owl, "Address the gaps|Consult Gandalf|Discuss the verdict"},
		{AfterConditional, owl, "Continue working|Address the conditions first|Consult Gandalf"},
		{AfterReadiness, owl, "Face the Dragon|Address the gaps first|Guardian's checkpoint first"},
		{AfterSlain, owl, "Begin the debrief|Celebrate first"},
		{AfterPrevails, owl, "Return to the quest|Consult Gandalf|Guardian's checkpoint|Look back with Simon"},
		{AfterCouncil, OfferContext{}, "Start a quest from these findings|Done for now"},
		{AfterCouncil, OfferContext{InQuest: true}, "Return to the quest|Done for now"},
		{AfterStandalone, owl, "Hear Owl – time is tight|Hear another advisor|Start a quest|Done for now"},
		{WithoutQuest, OfferContext{}, "Start a quest|Hold a council first|Not now"},
		{"somewhere new", OfferContext{}, "Return to the quest|Consult Gandalf|Done for now"},
	} {
		var got []string
		for _, o := range Offers(c.at, c.ctx) {
			got = append(got, o.String())
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("after %s: %s\nwant %s", c.at, strings.Join(got, "|"), c.want)
		}
	}
	dressed := OfferContext{Face: func(who policy.Role) profile.Face {
		f := face(t, string(who), "")
		if who == policy.Dragon {
			f.Skin = "Heffalump"
		}
		return f
	}}
	if got := Offers(AfterApproved, dressed)[1].Label; got != "Face Heffalump (Dragon)" {
		t.Errorf("dressed: %s", got)
	}
}

func TestEveryBoundaryOffersSomethingChoosable(t *testing.T) {
	for _, at := range boundaries() {
		offers := Offers(at, OfferContext{})
		if len(offers) < 2 {
			t.Errorf("after %s: %v", at, offers)
		}
		for i, o := range offers {
			if o.Action == "" || strings.ContainsAny(o.Label, "/`-") || strings.Contains(strings.ToLower(o.Label), "conclave") {
				t.Errorf("after %s: %q is no plain word, or leads nowhere", at, o.Label)
			}
			for _, answer := range []string{o.Label, strings.ToUpper(o.Label) + ".", string(rune('1' + i)), "option " + string(rune('1'+i))} {
				if c, err := Choose(offers, answer); err != nil || c.Offer == nil || *c.Offer != o {
					t.Errorf("after %s: %q gives %+v, %v", at, answer, c, err)
				}
			}
		}
	}
	if AfterGuardian("") != AfterNoVerdict || AfterDragon("") != AfterNoVerdict || AfterGuardian(Blocked) != AfterBlocked || AfterDragon(DragonSlain) != AfterSlain ||
		AfterGuardian(Approved) != AfterApproved || AfterGuardian(ConditionalApproval) != AfterConditional || AfterDragon(DragonPrevails) != AfterPrevails {
		t.Error("a verdict leads to the wrong boundary")
	}
}

func TestBoundaryOf(t *testing.T) {
	for _, c := range []struct {
		phase Phase
		log   []Entry
		want  Boundary
	}{
		{1, nil, AfterFraming}, {2, nil, AfterFraming}, {3, []Entry{PhaseCompleted(1, "x", "")}, AfterFraming},
		{3, []Entry{Progressed("x", "")}, AfterConsultation},
		{4, nil, AfterNoVerdict}, {4, []Entry{CheckpointHeld(Blocked, "x", "")}, AfterBlocked},
		{5, nil, AfterNoVerdict}, {5, []Entry{ConfrontationHeld(DragonPrevails, "x", "")}, AfterPrevails}, {5, []Entry{ConfrontationHeld(DragonSlain, "x", "")}, AfterSlain},
		{6, []Entry{ConfrontationHeld(DragonSlain, "x", "")}, AfterSlain}, {6, []Entry{PhaseCompleted(6, "Debriefed", "")}, AfterDebrief},
	} {
		if got := BoundaryOf(&Quest{Phase: c.phase, Progress: c.log}); got != c.want {
			t.Errorf("phase %d with %v: %s, want %s", int(c.phase), c.log, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	offers := Offers(AfterConsultation, OfferContext{Suggested: Suggestion{Who: policy.Owl}})
	for answer, want := range map[string]Action{"owl": ActConsult, "2": ActAnother, "3.": ActWork, "#4": ActEvaluate, "work": ActWork, "counsel": ActEvaluate, "anoth": ActAnother, "please continue working now": ActWork} {
		if c, err := Choose(offers, answer); err != nil || c.Offer == nil || c.Offer.Action != want {
			t.Errorf("%q: %+v, %v", answer, c, err)
		}
	}
	for _, answer := range []string{"", "  ", "0", "5", "99", "hear"} {
		if c, err := Choose(offers, answer); !errors.Is(err, ErrChoose) {
			t.Errorf("%q settles on %+v, %v", answer, c, err)
		}
	}
	for _, answer := range []string{"I would rather sleep on it", "ear", "3 things bother me"} {
		if c, err := Choose(offers, answer); err != nil || c.Free != answer || c.Offer != nil {
			t.Errorf("%q: %+v, %v", answer, c, err)
		}
	}
}

func TestFirstAdvisor(t *testing.T) {
	for text, want := range map[string]policy.Role{
		"There is a risk that it fails and much uncertainty": policy.Cat,
		"The deadline is tight and the sequence matters":     policy.Owl,
		"The direction is unclear to us":                     policy.Bear,
		"It is daunting and everybody is tired":              policy.Puppy,
		"A budget constraint and two dependencies":           policy.Rabbit,
		"Many stakeholders who disagree":                     policy.Wolf,
		"":                                                   policy.Bear,
	} {
		if got := FirstAdvisor(text); got.Who != want || got.Reason == "" {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
}

func TestNextPerspective(t *testing.T) {
	for _, c := range []struct {
		after policy.Role
		said  string
		heard []policy.Role
		want  policy.Role
	}{
		{policy.Bear, "nothing of note", nil, policy.Cat},
		{policy.Bear, "nothing of note", []policy.Role{policy.Cat}, policy.Owl},
		{policy.Bear, "nothing of note", []policy.Role{policy.Cat, policy.Owl}, policy.Cat},
		{policy.Cat, "", nil, policy.Owl}, {policy.Owl, "", nil, policy.Bear}, {policy.Puppy, "", nil, policy.Cat}, {policy.Rabbit, "", nil, policy.Owl}, {policy.Wolf, "", nil, policy.Bear},
		{policy.Bear, "the budget is gone and the supplier left", nil, policy.Rabbit},
		{policy.Cat, "a risk, a risk, another risk; and the deadline", nil, policy.Owl},
		{policy.Cat, "the budget, the budget; but ask Wolf", nil, policy.Wolf},
	} {
		if got := NextPerspective(c.after, c.said, "", c.heard); got.Who != c.want || got.Reason == "" {
			t.Errorf("after %s, %q: %+v, want %s", c.after, c.said, got, c.want)
		}
	}
	for _, after := range policy.Animals() {
		if got := NextPerspective(after, "risk deadline direction daunting budget stakeholder "+string(after), "ask the "+string(after), policy.Animals()); got.Who == after {
			t.Errorf("%s suggests itself", after)
		}
	}
}

func TestCouncilReport(t *testing.T) {
	r := Report{Created: "2026-02-14", Type: QuestInformed, Consensus: "One pier.\n\n## Really", Dissent: "Cat would wait.", NextSteps: []string{"Ledger", "Pier\none"}}
	for _, id := range []string{"wolf", "rabbit", "puppy", "owl", "cat", "bear"} {
		skin := ""
		if id == "bear" {
			skin = "The Paladin"
		}
		r.Perspectives = append(r.Perspectives, Perspective{face(t, id, skin), "# Big words\n\n```\n## kept\n```\nfrom " + id})
	}
	data, err := r.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"---\ncreated: 2026-02-14\ncouncil-type: quest-informed\n---\n\n# Council Report\n\n## Animal Perspectives\n\n### The Paladin (Bear) — Vision & Direction\n\n#### Big words\n",
		"\n## kept\n", "\n### Wolf — Cohesion & Balance\n", "\n## Consensus\n\nOne pier.\n\n##### Really\n\n### Dissent\n\nCat would wait.\n\n## Recommended Next Steps\n\n1. Ledger\n2. Pier one\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %q in\n%s", want, data)
		}
	}
	if _, err := (Report{Type: "secret"}).Render(); err == nil {
		t.Error("a report of no type was written")
	}
}
