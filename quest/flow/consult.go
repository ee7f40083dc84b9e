package flow

import (
	"fmt"
	"slices"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
)

// Consult asks one member of the cast: an animal for its perspective, Gandalf
// for counsel or a review of readiness, Simon for a reflection, an evaluator
// about a verdict that stands. Animals and Simon need no quest.
type Consult struct {
	Who     policy.Role `json:"who"`
	Message string      `json:"message,omitempty"` // the first; empty: the person is asked
	Typed   []string    `json:"typed,omitempty"`   // what the person typed on the way here, in menus
	// Readiness asks Gandalf whether the party should face the Dragon.
	Readiness bool `json:"readiness,omitempty"`
	// Caller is the agent that asks in the person's place; "" for the person.
	Caller string `json:"caller,omitempty"`
}

// CheckConsult says why nobody could be consulted, before anything is begun.
func (h *House) CheckConsult(c Consult) error {
	_, err := h.consultOpening(c)
	return err
}

func (h *House) consultOpening(c Consult) (Opening, error) {
	flow, purpose := "consult."+string(c.Who), quest.PurposeAdvisory
	switch {
	case c.Who == policy.Gandalf && c.Readiness:
		flow, purpose = "readiness", quest.PurposeReadiness
	case c.Who == policy.Gandalf:
		flow, purpose = "counsel", quest.PurposeCounsel
	case c.Who.Evaluator():
		flow, purpose = "discuss."+string(c.Who), quest.PurposeDiscussion
	case c.Who == policy.Simon:
		flow, purpose = "reflect", quest.PurposeReflection
	case !slices.Contains(policy.Animals(), c.Who):
		return Opening{}, fmt.Errorf("%s is not consulted; the advisors are %v, gandalf and simon", c.Who, policy.Animals())
	}
	alone := c.Who == policy.Simon || slices.Contains(policy.Animals(), c.Who)
	o, err := h.readOpening(c.Who, flow, purpose, !alone)
	if err != nil {
		return o, err
	}
	o.Caller = c.Caller
	switch {
	case o.Purpose == quest.PurposeAdvisory && o.Quest == nil:
		o.Title, o.Purpose = quest.StandaloneConsultation, quest.PurposeStandalone
	case o.Quest == nil:
		o.Title = quest.StandaloneConsultation
	case o.Purpose == quest.PurposeAdvisory && o.Phase != quest.PhaseExecution:
		o.Purpose = fmt.Sprintf("Phase %d advisory", int(o.Phase))
	}
	if c.Who.Evaluator() {
		if _, err := h.lastVerdict(c.Who); err != nil {
			return o, err
		}
	}
	o.Heard, err = h.heard()
	return o, err
}

// consult holds a conversation of as many turns as the person likes.
func (h *House) consult(r *engine.Run, in Consult) (Result, error) { return h.consultAs(r, in, true) }

// consultFirst is the first version: whatever the person says is said.
func (h *House) consultFirst(r *engine.Run, in Consult) (Result, error) {
	return h.consultAs(r, in, false)
}

func (h *House) consultAs(r *engine.Run, in Consult, understand bool) (Result, error) {
	o, err := plainStep(r, "begin", func() (Opening, error) { return h.consultOpening(in) })
	if err != nil {
		return Result{}, err
	}
	x := extras{}
	if in.Who.Evaluator() {
		x.ownVerdict, err = plainStep(r, "verdict that stands", func() ([]byte, error) { return h.lastVerdict(in.Who) })
		if err != nil {
			return Result{}, err
		}
	}
	t := h.dialogue(r, o, x)
	t.opened = in.Typed
	if understand {
		t.ends = t.wishes
	}
	t.x.tools = t.partyTools()
	heard, err := t.converse(framing(o), in.Message)
	if err != nil {
		return Result{}, err
	}
	file, err := t.file(t.advice())
	if err != nil {
		return Result{}, err
	}
	res := t.result(file)
	switch {
	case o.Quest == nil:
		res.at(quest.AfterStandalone, o, standaloneNext(in.Who, t.personSaid(), heard, o.Heard))
	case in.Who == policy.Simon:
		res.at(quest.BoundaryOf(o.quest()), o, quest.Suggestion{})
	case in.Readiness:
		res.at(quest.AfterReadiness, o, quest.Suggestion{})
	case in.Who.Evaluator():
		res.at(quest.BoundaryOf(o.quest()), o, quest.Suggestion{})
	case in.Who == policy.Gandalf:
		res.at(quest.AfterCounsel, o, quest.NextPerspective(in.Who, t.personSaid(), heard, o.Heard))
	default:
		res.at(quest.AfterConsultation, o, quest.NextPerspective(in.Who, t.personSaid(), heard, o.Heard))
	}
	return res, nil
}

// standaloneNext is whom to hear next where no quest is under way. Simon brings
// together what advisors said; who comes from him begins with the first of them.
func standaloneNext(who policy.Role, said, advised string, heard []policy.Role) quest.Suggestion {
	if who == policy.Simon {
		return quest.FirstAdvisor(said)
	}
	return quest.NextPerspective(who, said, advised, heard)
}

// discussFraming is what an evaluator is told whose verdict is discussed, or that
// there is none.
const discussFraming = "What came of your evaluation is in verdict.md, and nothing said here can change it. " +
	"The person who leads the quest wants to talk about it. Answer from that file and from nothing else."

// discussedBefore is what an evaluator was told in earlier records.
const discussedBefore = "Your verdict stands, and nothing said here can change it: it is in verdict.md. " +
	"The person who leads the quest wants to talk about it. Answer from your verdict and from nothing else."

// framing is what the engine tells a seat of the party before the person
// speaks.
func framing(o Opening) string {
	var b strings.Builder
	who := "The person"
	if o.Caller != "" {
		who = "An agent that works for the person"
	}
	if o.Quest != nil {
		fmt.Fprintf(&b, "%s who leads this quest consults you. Quest: %s. Phase %d, %s.\n",
			who, o.Title, int(o.Phase), o.Phase)
	} else {
		b.WriteString(who + " who leads this project consults you about it. No quest is under way.\n")
	}
	b.WriteString(roomGuide(o))
	b.WriteString(ownedGuide(o))
	switch o.Flow {
	case "reflect":
		b.WriteString("\nThey want to reflect with you: where they stand, what they have learnt, what comes next. Ask one question at a time. Nothing is decided here, and the quest does not move.")
	case "readiness":
		b.WriteString("\nThey ask whether they should face the Dragon now. Go through the success criteria one by one, say what evidence you see for each and what is thin, and leave the decision to them.")
	case "counsel":
		b.WriteString("\nThey ask for your counsel.")
	}
	if o.Role.Evaluator() {
		return discussFraming
	}
	b.WriteString(toolsGuide(o))
	return b.String()
}

// ownedGuide tells an advisor which criteria are theirs, by the quest's table of
// assignments.
func ownedGuide(o Opening) string {
	q := o.quest()
	if q == nil {
		return ""
	}
	first, second := q.Owned(o.Role)
	text := ""
	for _, part := range []struct {
		list []quest.Criterion
		as   string
	}{{first, "You are the first advisor for"}, {second, "You are the second advisor for"}} {
		for i, c := range part.list {
			if i == 0 {
				text += "\n" + part.as
			} else {
				text += ";"
			}
			text += fmt.Sprintf(" criterion %d (%s)", c.Number, strings.Join(strings.Fields(c.Text), " "))
		}
		if len(part.list) > 0 {
			text += "."
		}
	}
	if text != "" {
		text += " Begin with what is yours."
	}
	return text
}

// roomGuide tells a party seat what lies where.
func roomGuide(o Opening) string {
	past := ""
	if o.History {
		past = ", " + historyName + " its history"
	}
	where := "quest/ holds the parts of the quest, "
	if o.Quest == nil {
		where = ""
	}
	return "In your working directory: " + where + "conversations/ what was said before, workspace/ the project itself (read only)" + past +
		". Look before you speak. Whoever speaks of a file cites it as `path:line`, with the path as it is in the project."
}
