package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
)

// Debrief looks back with Simon, as the mode has it: after a slain Dragon as the
// quest's last phase, after one that prevailed as a conversation.
type Debrief struct {
	Message string   `json:"message,omitempty"` // empty: Simon speaks first
	Typed   []string `json:"typed,omitempty"`   // what the person typed on the way here, in menus
}

// CheckDebrief says why there is nothing to look back on yet.
func (h *House) CheckDebrief(Debrief) error {
	_, err := h.debriefOpening()
	return err
}

func (h *House) debriefOpening() (Opening, error) {
	o, err := h.readOpening(policy.Simon, "debrief", quest.PurposeDebrief, true)
	if err != nil {
		return o, err
	}
	q := o.quest()
	switch {
	case o.Phase == quest.PhaseDebrief:
	case q.LastDragon() == quest.DragonPrevails:
		return o, nil // a conversation about it: the quest is not over
	case q.LastDragon() == "":
		return o, errors.New("there is no verdict to look back on yet: the Dragon has given none " +
			"(`conclave consult simon` reflects at any time)")
	default:
		if err := quest.CheckTransition(o.Phase, quest.PhaseDebrief, q.Facts()); err != nil {
			return o, err
		}
	}
	o.Phase = quest.PhaseDebrief
	return o, nil
}

func (h *House) debrief(r *engine.Run, in Debrief) (Result, error) { return h.debriefAs(r, in, true) }

// debriefFirst is the first version: whatever the person says is said.
func (h *House) debriefFirst(r *engine.Run, in Debrief) (Result, error) {
	return h.debriefAs(r, in, false)
}

func (h *House) debriefAs(r *engine.Run, in Debrief, understand bool) (Result, error) {
	o, err := plainStep(r, "begin", h.debriefOpening)
	if err != nil {
		return Result{}, err
	}
	t := h.dialogue(r, o, extras{})
	t.opened = in.Typed
	if t.begins = in.Message == ""; t.begins && len(in.Typed) == 0 {
		t.o.Purpose += withoutWords
	}
	if understand {
		t.ends = t.wishes
	}
	framing := debriefFraming(o)
	if t.begins {
		framing += "\n\nThey have said nothing yet: look back with them, and speak first."
	}
	if _, err := t.converse(framing, in.Message); err != nil {
		return Result{}, err
	}
	var note string
	answered := in.Message != "" || slices.ContainsFunc(t.words, says)
	over := t.ended == "" && o.Phase == quest.PhaseDebrief && !held(o.quest())
	if over && !answered {
		note = "nobody has answered, so that the debrief is not logged as held: `conclave debrief` goes on with it"
	}
	if over && answered {
		note, err = h.editQuest(r, "debrief", o.Quest, func(q *quest.Quest) ([]byte, error) {
			entry := quest.PhaseCompleted(quest.PhaseDebrief, debriefHeld, quest.Day(o.Start))
			if q.Phase != quest.PhaseDebrief {
				return q.WithPhase(quest.PhaseDebrief, q.Facts(), entry)
			}
			return q.WithProgress(entry)
		})
		if err != nil {
			note = fmt.Sprintf("quest.md could not be changed: %v", err)
		}
	}
	file, err := t.file("")
	if err != nil {
		return Result{}, err
	}
	res := t.result(file)
	res.note(note)
	if o.Phase == quest.PhaseDebrief {
		res.at(quest.AfterDebrief, o, quest.Suggestion{})
	} else {
		res.at(quest.BoundaryOf(o.quest()), o, quest.Suggestion{})
	}
	return res, nil
}

const debriefHeld = "Debrief held"

// held says whether the log has the debrief already: it is held once, however
// often somebody comes back to it.
func held(q *quest.Quest) bool {
	return slices.ContainsFunc(q.Progress, func(e quest.Entry) bool {
		return e.Phase == quest.PhaseDebrief && e.Text == debriefHeld
	})
}

// says says whether an answer is more than the end of a talk.
func says(answer string) bool {
	answer = strings.TrimSpace(answer)
	return answer != "" && answer != EndTalk
}

func debriefFraming(o Opening) string {
	text := fmt.Sprintf("The quest %q is over: the Dragon is slain. Debrief the person who led it. ", o.Title)
	if o.Phase != quest.PhaseDebrief {
		text = fmt.Sprintf("The quest %q goes on: the Dragon was faced and prevailed. Look back on that with the person who leads it: what the verdict shows, what they take from it, what they try next. The verdict stands, and the phase does not move. ", o.Title)
	}
	text += roomGuide(o) + "\n\n"
	switch o.Mode {
	case quest.Grow:
		return text + "The mode is Grow: give the reflection all the room it needs. What was learnt, who did they become, what will they do differently?"
	case quest.Ship:
		return text + "The mode is Ship: a short retrospective. What was delivered, what went well, what to do differently next time. Three points each at most."
	}
	return text + "The mode is Grow & Ship: look at what was delivered and at what was learnt, in equal parts."
}
