package flow

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/seat"
	"conclave/table"
	"conclave/table/desk"
	"conclave/table/people"
	"conclave/table/story"
)

// behind is what is typed behind a command that needs something.
var behind = map[string]string{"roll": "1d20", "notes": "I am afraid.", "sheet": "tilda"}

// atOnce are the commands of a seat that are done while it is asked and are no
// answer, from the table of commands.
func atOnce(seats desk.Seats) (lines []string) {
	for _, c := range desk.For(seats, desk.Asked) {
		if c.Turn || c.Name == "quit" || c.Name == "veto" {
			continue
		}
		line := "/" + c.Name
		if c.Needs {
			line += " " + behind[c.Name]
		}
		lines = append(lines, line)
	}
	return lines
}

// T11: at a game master's question to a player every command of the table is done,
// none is sent as speech, and the question stands again behind each; so it does
// after a word that nobody knows, and after a command of another place.
func TestEveryCommandWhereAPlayerIsAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"party/tilda-brannock-journal.md": "# Tilda Brannock's Journal\n\n---\n\n### One\n\n- Notes: OWN-ENTRY\n"})
	r.people[tilda] = true
	lines := append(atOnce(desk.Player), "/rol 1d20", "/ask gideon: x", "/away", "/veto")
	p := &typist{answers: append(slices.Clone(lines), "I go in.")}
	r.opts.Asker, r.opts.Here, r.opts.Auto = p, only(tilda), false
	r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
	r.say(start)
	eq(t, "response", outcome(r.lastCommit(), tilda).Response, "I go in.\n")
	eq(t, "questions", len(p.asked), len(lines)+1)
	if len(lines) < 11 {
		t.Fatalf("only %d lines were tried", len(lines))
	}
	for i, line := range lines {
		again := p.asked[i+1]
		has(t, "after "+line, again, "What do you do?")
		lead, _, _ := strings.Cut(again, "What do you do?")
		if strings.TrimSpace(lead) == "" {
			t.Errorf("%s shows nothing", line)
		}
	}
	all := strings.Join(p.asked, "\n")
	for _, want := range []string{"the sea took her brother", "OWN-ENTRY", "Gideon Harrowmoor (gideon-harrowmoor): present", "Roll #1 · tilda-brannock",
		"Nothing has happened yet.", "Kept for your journal.", "Did you mean /roll?", "/ask is nothing here", "/away is for between questions", "/veto needs something"} {
		has(t, "what was shown", all, want)
	}
	hasNot(t, "what was shown", all, "CANARY")
	r.drain()
}

// T11, in the game master's seat.
func TestEveryCommandInTheGameMastersTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"overview.md": "# OVERVIEW\n", "beats/one.md": "# The First Beat\n"})
	lines := append(atOnce(desk.GM), "/beats one", "/scene", "/dance", "/veto no", "/save x")
	p := &typist{answers: append(slices.Clone(lines), "It rains.\n/end")}
	seatGM(r, p)
	r.open()
	if err := r.table.Play(t.Context(), Play{}); err != nil {
		t.Fatal(err)
	}
	eq(t, "scene", r.read("scenes/001-opening.md"), "# Scene 1: Opening\n\nIt rains.\n")
	for i, line := range lines {
		has(t, "after "+line, p.asked[i+1], "What happens?")
	}
	for _, want := range []string{"# OVERVIEW", "CANARY-STORY", "one: The First Beat", "# The First Beat", "the sea took her brother", "No scene has a name yet", "Nothing is typed yet",
		"/dance is nothing here", "/veto is nothing here", "/save is nothing here"} {
		has(t, "what was shown", strings.Join(p.asked, "\n"), want)
	}
}

// A player's veto by command is the seed's form, with the whole reason; thoughts
// behind [NOTES] or /notes go to the journal alone (C15b).
func TestVetoAndNotesOfAPerson(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ typed, response, notes string }{
		{"/veto She is my sister,\nand I have never told.", "[VETO - need more input]\n\nShe is my sister,\nand I have never told.\n", ""},
		{"I go in.\nSlowly.\n[NOTES]\nI am AFRAID.", "I go in.\nSlowly.\n", "I am AFRAID."},
		{"/notes I am AFRAID.\nI go in.", "I go in.\n", "I am AFRAID."},
		{"//roll with it", "/roll with it\n", "/roll with it"},
	} {
		r := newRig(t, nil)
		r.people[tilda] = true
		r.opts.Asker, r.opts.Here, r.opts.Auto = &typist{answers: []string{x.typed}}, only(tilda), false
		gm := r.listening("gm", ask(tilda, "QUICK_REACTION", "Done."))
		keeper := r.listening("keeper", keeperScript)
		r.say(start)
		r.drain()
		eq(t, "response", outcome(r.lastCommit(), tilda).Response, x.response)
		has(t, "the journal's keeper", keeper.all(), x.notes)
		hasNot(t, "the game master", gm.all(), "AFRAID")
	}
}

// T5: a fault in one line keeps the others and points at the word; the line can be
// typed again, left out, or all be thrown away.
func TestAFaultKeepsTheTurn(t *testing.T) {
	t.Parallel()
	ten := strings.Repeat("It rains.\n", 9) + "/aks tilda: Do you wait?\nAnd it rains."
	for _, x := range []struct {
		then []string
		want string
	}{
		{[]string{"/ask tilda: Do you wait?"}, "asked"},
		{[]string{"/who", "", "/ask tilda: Do you wait?"}, "asked"},
		{[]string{"/drop 10"}, "left out"},
		{[]string{"/drop", "The sun shines.\n/end"}, "anew"},
	} {
		r := newRig(t, nil)
		asked := 0
		r.scripts[tilda] = "always\n  say I wait.\n"
		p := &typist{answers: append(append([]string{ten}, x.then...), "The end.\n/end")}
		seatGM(r, p)
		r.open()
		if err := r.table.Play(t.Context(), Play{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Line 10 cannot be taken: /aks is nothing here. Did you mean /ask?", "\n  /aks tilda: Do you wait?\n  ^^^^", "Type line 10 again.", "The other lines are kept."} {
			has(t, "the fault", p.asked[1], want)
		}
		events, err := story.ReadLog(r.dir, "ash")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			asked += len(e.Asked)
		}
		scene := r.read("scenes/001-opening.md")
		rains := strings.Count(scene, "It rains.")
		eq(t, x.want+": asked", asked == 1, x.want == "asked")
		eq(t, x.want+": lines kept", rains == 9 && strings.Contains(scene, "And it rains."), x.want != "anew")
	}
}

// T5, for a player: the fault of one line is named, the rest is kept.
func TestAFaultKeepsAnAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.people[tilda] = true
	p := &typist{answers: []string{"I go in.\n/rol 1d20\nSlowly.", "Carefully."}}
	r.opts.Asker, r.opts.Here, r.opts.Auto = p, only(tilda), false
	r.scripts["gm"] = ask(tilda, "QUICK_REACTION", "Done.")
	r.say(start)
	has(t, "the fault", p.asked[1], "Line 2 cannot be taken")
	eq(t, "response", outcome(r.lastCommit(), tilda).Response, "I go in.\nCarefully.\nSlowly.\n")
}

// What an agent says is matched exactly (A10); a person may use first names.
func TestAnAgentSaysWholeNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	gm := r.listening("gm", gmSays("session-start", "[ROLL: 1d20 | tilda | x]")+gmSays("Event: repair", "Well."))
	r.say(start)
	has(t, "the game master", gm.all(), `"tilda" rolls nothing`)
}

// G4: what can be looked up from a seat is what its agent could read.
func TestTheDeskKeepsSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{
		"party/tilda-brannock.md":            "# Tilda Brannock\n\n<!-- gm -->CANARY-REGION<!-- /gm -->\nA sailor.\n",
		"party/gideon-harrowmoor.md":         "# Gideon Harrowmoor\n\nCANARY-SHEET\n",
		"party/gideon-harrowmoor-journal.md": "# Gideon Harrowmoor's Journal\n\nCANARY-JOURNAL\n", "overview.md": "CANARY-OVERVIEW\n",
	})
	r.scripts["gm"] = gmSays("session-start", "It rains.\n[TO: gideon-harrowmoor]\nCANARY-PRIVATE\n[/TO]\n[GM]\nCANARY-GM\n[/GM]")
	r.say(start)
	tried := 0
	for _, seat := range []string{tilda, table.SeatTable} {
		for _, at := range []desk.At{desk.Asked, desk.Free} {
			for _, c := range desk.Commands { // also those that are not the seat's
				for _, rest := range []string{"", "gideon", "../story-state"} {
					tried++
					text, err := r.table.people.LookUp(seat, at, desk.Call{Command: c, Rest: rest})
					if err != nil {
						text = err.Error()
					}
					hasNot(t, seat+" /"+c.Name+" "+rest, text, "CANARY")
				}
			}
		}
	}
	if tried < 300 {
		t.Fatalf("only %d were tried", tried)
	}
	text, err := r.table.people.LookUp(gideon, desk.Free, desk.Call{Command: desk.Command{Name: "recap"}})
	if err != nil || !strings.Contains(text, "CANARY-PRIVATE") || strings.Contains(text, "CANARY-GM") {
		t.Errorf("%q, %v", text, err)
	}
}

// I6: until all have answered, a person may answer differently: from the screen
// that waits, or by leaving other words. Then it is sealed.
func TestAnAnswerCanBeChangedUntilAllAreIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.people[tilda], r.people[gideon] = true, true
	said := ""
	again := func(text string) bool {
		ok, err := r.table.people.Again(tilda, text)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	r.opts.Asker, r.opts.Auto = askerFunc(func(q string) (string, error) {
		if strings.Contains(q, "Tilda Brannock") {
			if again("Too soon.") {
				t.Error("changed before it was given")
			}
			return "First thought.", nil
		}
		if !again("Second thought.\n[NOTES]\nTHINKING") || !again("/veto The last thought.") {
			t.Error("the answer is sealed too soon")
		}
		return "I run.", nil
	}), false
	r.opts.Here = func(string) bool { return true }
	signal := "[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]"
	gm := &talker{}
	gm.reply = func(_ context.Context, m string) (string, error) {
		if strings.Contains(m, "Event: responses") {
			said = m
			if again("After the barrier.") {
				t.Error("the answer is not sealed")
			}
			return "Done.", nil
		}
		return gmContext + prompt(tilda, "QUICK_REACTION") + prompt(gideon, "QUICK_REACTION") + signal, nil
	}
	r.agents["gm"] = gm
	r.say(start)
	eq(t, "response", outcome(r.lastCommit(), tilda).Response, "[VETO - need more input]\n\nThe last thought.\n")
	eq(t, "the other's", outcome(r.lastCommit(), gideon).Response, "I run.\n")
	has(t, "the game master", said, "The last thought.")
	hasNot(t, "the game master", said, "First thought.")
	if people.HasLeft(r.dir, "ash", tilda) {
		t.Error("the draft would answer the next question")
	}
	recorded(t, r, tilda, "First thought.", "[VETO - need more input]\n\nThe last thought.")
	recorded(t, r, gideon, "I run.")

	// The same over two processes: one has answered, the other comes later.
	r = newRig(t, nil)
	r.people[tilda], r.people[gideon] = true, true
	here := tilda
	r.opts.Asker, r.opts.Auto = askerFunc(func(string) (string, error) { return "I wait.", nil }), false
	r.opts.Here = func(seat string) bool { return seat == here }
	r.scripts["gm"] = gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+signal) + gmSays("Event: responses", "Done.")
	r.open()
	if _, err := r.table.Say(t.Context(), start); err == nil {
		t.Fatal("gideon was not here")
	}
	r.close()
	if err := people.Leave(r.dir, "ash", tilda, "I run, after all."); err != nil {
		t.Fatal(err)
	}
	here = gideon
	r.open()
	if _, err := r.table.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	eq(t, "response", outcome(r.lastCommit(), tilda).Response, "I run, after all.\n")
	recorded(t, r, tilda, "I wait.", "I run, after all.")
}

// recorded wants what a person said, first and later, on their one sealed record.
func recorded(t *testing.T, r *rig, who string, want ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, ".conclave", "records", "*."+who+".record"))
	if err != nil || len(files) != 1 {
		t.Fatalf("records of %s: %q, %v", who, files, err)
	}
	h, err := seat.ReadHistory(files[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Sealed() {
		t.Errorf("the record of %s is not sealed", who)
	}
	var got []string
	for _, turn := range []string{"t1", "again"} {
		if text := h.Turn(turn).Reply.Text; text != "" {
			got = append(got, text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the record of %s has %q, want %q", who, got, want)
	}
}

// What a person has typed and not sent when they leave is theirs when they come
// back: it is shown, it can be gone on with, and it is said once.
func TestWhatIsNotSentIsKept(t *testing.T) {
	r := newRig(t, nil)
	seatGM(r, &typist{answers: []string{"It rains.\n/tell tilda: A GLINT.\n/quit"}})
	r.open()
	if err := r.table.Play(t.Context(), Play{}); err != nil {
		t.Fatal(err)
	}
	const kept = "What you had typed and not sent is kept; you go on with it when you come back."
	if !slices.ContainsFunc(r.notices, func(n Notice) bool { return n.For("gm") == kept && n.For(tilda) == "" }) {
		t.Errorf("nobody was told: %+v", r.notices)
	}
	r.close()
	second := &typist{answers: []string{"", "", "/end"}}
	seatGM(r, second)
	r.open()
	if err := r.table.Play(t.Context(), Play{}); err != nil {
		t.Fatal(err)
	}
	has(t, "the first question", second.asked[0], "You had typed, and not sent:\n\n  It rains.\n  /tell tilda: A GLINT.")
	has(t, "the first question", second.asked[0], "set the scene")
	eq(t, "scene", r.read("scenes/001-opening.md"), "# Scene 1: Opening\n\nIt rains.\n")
	for _, q := range second.asked[2:] {
		hasNot(t, "later", q, "You had typed")
	}
}
