package flow

import (
	"context"
	"errors"
	"strings"
	"testing"

	"conclave/engine"
	"conclave/table/story"
)

// typist is a person who types these answers, and then leaves.
type typist struct {
	answers []string
	asked   []string
}

// whole is all that is read of a question.
func whole(q engine.Question) string {
	return strings.Join([]string{q.Title, q.Lead, q.Text, q.Hint}, "\n")
}

func (p *typist) Ask(_ context.Context, q engine.Question) (string, error) {
	p.asked = append(p.asked, whole(q))
	if q.Live {
		return "", nil
	}
	if len(p.answers) == 0 {
		return "", engine.ErrNobody
	}
	next := p.answers[0]
	p.answers = p.answers[1:]
	return next, nil
}

// seatGM makes a person the game master.
func seatGM(r *rig, p *typist) {
	r.people["gm"], r.opts.Asker, r.opts.Auto = true, p, false
}

// TestAPersonRunsTheTable: a person asks, tells and rolls with short commands;
// on the disk it is what any game master leaves.
func TestAPersonRunsTheTable(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.scripts[tilda] = "always\n  say I wait.\n"
	r.scripts[gideon] = "always\n  say I run.\n"
	p := &typist{answers: []string{
		"", "/help", "/ask nobody: hello", "/ask tilda", "/dance", "/ask tilda: x\n/rol 1d6", "/drop",
		"/scene The Cellar | at night\nIt is dark.\n/ask tilda: Do you wait?\n/decide gideon: And you?",
		"They part.\n//not a command\n/tell tilda: A hand takes yours.\n/note the hand is Odo's\n/roll 1d6",
		"The end.\n/end",
	}}
	seatGM(r, p)
	r.open()
	if err := r.table.Play(t.Context(), Play{}); err != nil {
		t.Fatal(err)
	}
	if len(p.answers) > 0 {
		t.Errorf("not asked for %q", p.answers)
	}
	for i, want := range []string{"The session begins", "Nothing was said", "/tell WHO: TEXT", `"nobody" is no character here`, "needs a colon", "/dance is nothing here",
		"Did you mean /roll?", "thrown away", "Tilda Brannock answers:\n  I wait.", "Tilda Brannock will read", "Roll #1 · gm"} {
		has(t, "question", p.asked[i], want)
	}
	if strings.Contains(strings.Join(p.asked, "\n"), "<<<") || strings.Contains(strings.Join(p.asked, "\n"), "gm-context") || strings.Contains(strings.Join(p.asked, "\n"), "Your notes") {
		t.Errorf("marks for agents: %q", p.asked)
	}
	told := r.read("scenes/001-the-cellar.md")
	for _, want := range []string{"*at night*", "It is dark.", "They part.\n/not a command", "The end."} {
		has(t, "scene", told, want)
	}
	if strings.Contains(told, "A hand takes yours") {
		t.Error("what was told to one is in the scene of all")
	}
	has(t, "story state", r.read("story-state.md"), "- the hand is Odo's")
	for who, heard := range map[string]bool{tilda: true, gideon: false} {
		log, err := story.PlayLog(r.dir, "ash", "Ash", who)
		if err != nil || strings.Contains(log, "A hand takes yours") != heard {
			t.Errorf("%s: %v in\n%s", who, err, log)
		}
	}
	if r.table.InSession() {
		t.Error("the session goes on")
	}
}

// TestAPersonLeaves: who leaves in the middle of a cycle finds it there.
func TestAPersonLeaves(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"/quit", ""} {
		r := newRig(t, nil)
		r.scripts[tilda] = "always\n  say I wait.\n"
		p := &typist{answers: []string{"It is dark.\n/ask tilda: Do you wait?", last}}
		if last == "" {
			p.answers = p.answers[:1] // nobody is there any more
		}
		seatGM(r, p)
		r.open()
		if err := r.table.Play(t.Context(), Play{}); err != nil {
			t.Fatal(err)
		}
		r.close()
		p.answers = []string{"They wait.\n/end"}
		r.open()
		if err := r.table.Play(t.Context(), Play{}); err != nil && !errors.Is(err, engine.ErrNobody) {
			t.Fatal(err)
		}
		has(t, "the last question", p.asked[len(p.asked)-1], "I wait.")
		has(t, "scene", r.read("scenes/001-opening.md"), "They wait.")
		if n := strings.Count(r.read("scenes/001-opening.md"), "It is dark."); n != 1 {
			t.Errorf("told %d times", n)
		}
	}
}

// patient notes which of a person's questions had a time limit.
type patient struct {
	typist
	hurried []string
}

func (p *patient) Ask(ctx context.Context, q engine.Question) (string, error) {
	if _, limited := ctx.Deadline(); limited {
		p.hurried = append(p.hurried, q.Text)
	}
	return p.typist.Ask(ctx, q)
}

// TestNobodyHurriesAPerson: the time limit of a turn is a program's, also when
// the person's seat is open already.
func TestNobodyHurriesAPerson(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.scripts[tilda] = "always\n  say I wait.\n"
	p := &patient{typist: typist{answers: []string{"It is dark.\n/ask tilda: Do you wait?", "They part.", "The end.\n/end"}}}
	seatGM(r, &p.typist)
	r.opts.Asker = p
	r.open()
	if err := r.table.Play(t.Context(), Play{}); err != nil {
		t.Fatal(err)
	}
	if len(p.asked) < 3 || len(p.hurried) > 0 {
		t.Errorf("asked %d times, with a time limit for %q", len(p.asked), p.hurried)
	}
}
