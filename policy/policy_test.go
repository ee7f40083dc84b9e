package policy

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "render docs/ISOLATION.md again")

func anyRole() *rapid.Generator[Role] { return rapid.SampledFrom(Roles()) }
func anyKind() *rapid.Generator[Kind] { return rapid.SampledFrom(Kinds()) }

func TestPageEqualsTable(t *testing.T) {
	page := filepath.Join("..", "docs", "ISOLATION.md")
	if *update {
		if err := os.WriteFile(page, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Markdown() {
		t.Fatalf("%s differs from the table; render it again: go test ./policy -update", page)
	}
}

func TestZeroDenies(t *testing.T) {
	if (Decision{}).Allow {
		t.Fatal("the zero Decision allows")
	}
	for _, d := range []Decision{Decide("", ""), Decide("", QuestNarrative), Decide(Bear, ""), Decide("Bear", Mode), Decide(Dragon, "successcriteria"), Decide(Bear, Unknown)} {
		if d.Allow || d.Reason == "" || d.Source == "" {
			t.Errorf("decision %+v: want a denial with reason and source", d)
		}
	}
}

func TestUnknownIsDenied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		role, kind := Role(rapid.String().Draw(t, "role")), Kind(rapid.String().Draw(t, "kind"))
		if slices.Contains(Roles(), role) && slices.Contains(Kinds(), kind) {
			t.Skip("a known pair")
		}
		for _, d := range []Decision{Decide(role, anyKind().Draw(t, "k")), Decide(anyRole().Draw(t, "r"), kind)} {
			if d.Reason == "" || d.Source == "" {
				t.Fatalf("no reason: %+v", d)
			}
		}
		if d := Decide(role, kind); d.Allow {
			t.Fatalf("Decide(%q, %q) = %+v", role, kind, d)
		}
	})
}

func TestEveryPairHasReasonSourceAndForm(t *testing.T) {
	var table []Cell
	for _, role := range Roles() {
		table = append(table, Of(role)...)
	}
	if want := len(Roles()) * len(Kinds()); len(table) != want || want < 15*60 {
		t.Fatalf("table has %d cells, want %d", len(table), want)
	}
	for _, c := range table {
		if c.Reason == "" || c.Source == "" {
			t.Errorf("%s × %s has no reason or source", c.Role, c.Kind)
		}
		if c.Allow != (c.Form != "") {
			t.Errorf("%s × %s: allow %v, form %q", c.Role, c.Kind, c.Allow, c.Form)
		}
		if !strings.Contains(sources, "| "+c.Source+" |") {
			t.Errorf("%s × %s: source %q is not explained", c.Role, c.Kind, c.Source)
		}
		if c.Reason == "no rule grants it to this role" {
			t.Errorf("%s × %s is denied by nobody's thought: write a rule", c.Role, c.Kind)
		}
	}
	if len(index()) != len(rows()) {
		t.Error("a kind stands twice in the table")
	}
}

// What a quest's profiles promise, said again independently of the table.
func TestProfiles(t *testing.T) {
	granted := map[Role][]Kind{
		Guardian:      {QuestTitle, Mode, StageName, Expectation, discussionWords, StageWork, WorkChange, VerdictOwn, OwnProfile},
		Dragon:        {SuccessCriteria, Mode, discussionWords, FinalWork, WorkChange, CheckResults, VerdictOwn, OwnProfile},
		Player:        {diceOpen, ownSheet, OwnJournal, ownPrompt, partyKnowledge, worldPrimer, narrativeParty, NarrativePrivateOwn},
		JournalKeeper: {diceOpen, OwnJournal, OwnNotes, narrativeParty, journalNarrative, NarrativePrivateOwn},
		Spectator:     {diceOpen, worldPrimer, narrativeParty},
		Gandalf: {QuestTitle, QuestNarrative, SuccessCriteria, AnticipatedDragon, PartyAssignments, ProgressReduced, Mode, Phase, StageName, personWords,
			StageWork, FinalWork, WorkChange, Workspace, History, PartyContext, ConversationAnimals, ConversationCouncil, ConversationGandalf, CouncilReport, OwnProfile, OtherProfile},
	}
	for role, want := range granted {
		var got []Kind
		for _, c := range Of(role) {
			if c.Allow {
				got = append(got, c.Kind)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is granted\n%v\nwant\n%v", role, got, want)
		}
	}
	for _, animal := range Animals() {
		for _, r := range slices.Concat(questRows(), workRows(), spokenRows()) {
			if d := Decide(animal, r.kind); d.Allow == (r.kind == CouncilSeats) {
				t.Errorf("%s × %s = %+v", animal, r.kind, d)
			}
			if Decide(animal, r.kind) != Decide(Bear, r.kind) {
				t.Errorf("%s and bear differ on %s, but the page shows them in one column", animal, r.kind)
			}
		}
	}
	for _, journal := range []Kind{OwnJournal, OtherJournal, OwnNotes, OtherNotes, diceSeed} {
		if Decide(GM, journal).Allow {
			t.Errorf("the GM is granted %s", journal)
		}
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		role, kind := anyRole().Draw(t, "role"), anyKind().Draw(t, "kind")
		d := Decide(role, kind)
		conversation := strings.HasPrefix(string(kind), "conversation-")
		verdict := kind == verdictGuardian || kind == verdictDragon
		quest, table := slices.Contains(questRoles(), role), slices.Contains(tableRoles(), role)
		family := index()[kind].family
		for broken, is := range map[string]bool{
			"an evaluator is given a conversation or an earlier verdict": role.Evaluator() && (conversation || verdict),
			"Gandalf is given a verdict or an evaluator's conversation":  role == Gandalf && (verdict || kind == ConversationGuardian || kind == ConversationDragon),
			"an evaluator is given the file, the project or its history": role.Evaluator() && (kind == QuestFile || kind == Workspace || kind == History),
			"a quest's seat is given a table's knowledge":                quest && family == familyTable,
			"a table's seat is given a quest's knowledge":                table && family == familyQuest,
			"somebody is given what nobody is":                           family == familyOwn,
			"a seat other than the GM is given another character's own":  role != GM && strings.HasPrefix(string(kind), "other-") && kind != OtherProfile,
		} {
			if is && d.Allow {
				t.Fatalf("%s × %s: %s", role, kind, broken)
			}
		}
	})
}

func TestLevels(t *testing.T) {
	for _, role := range []Role{Guardian, Dragon, Player, JournalKeeper, Spectator, "", "nobody"} {
		if Required(role) != sealed {
			t.Errorf("%q needs %s, want sealed", role, Required(role))
		}
	}
	order := []Level{"", advisory, fenced, sealed}
	for i, have := range order {
		for j, need := range order {
			want := have != "" && i >= j
			if need == "" {
				want = have == sealed
			}
			if have.Satisfies(need) != want {
				t.Errorf("%q satisfies %q: %v, want %v", have, need, !want, want)
			}
		}
	}
}

// A room that is sealed but for a forwarder is no sealed one, and better than a
// fenced one; whoever judges the work has none.
func TestForwarded(t *testing.T) {
	if forwarded.Satisfies(sealed) || !forwarded.Satisfies(fenced) || !sealed.Satisfies(forwarded) || !forwarded.Forwards() || sealed.Forwards() {
		t.Error("the levels are out of order")
	}
	for _, role := range Roles() {
		if role.MayLogIn() == (role == Guardian || role == Dragon) {
			t.Errorf("%s: %v", role, role.MayLogIn())
		}
	}
}
