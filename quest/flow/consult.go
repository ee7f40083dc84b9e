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
// for counsel or a review of readiness, an evaluator about a verdict that
// stands.
type Consult struct {
	Who     policy.Role `json:"who"`
	Message string      `json:"message,omitempty"` // the first; empty: the person is asked
	// Readiness asks Gandalf whether the party should face the Dragon.
	Readiness bool `json:"readiness,omitempty"`
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
	case !slices.Contains(policy.Animals(), c.Who):
		return Opening{}, fmt.Errorf("%s is not consulted; the advisors are %v and gandalf", c.Who, policy.Animals())
	}
	o, err := h.readOpening(c.Who, flow, purpose, true)
	if err != nil {
		return o, err
	}
	if o.Purpose == quest.PurposeAdvisory && o.Phase != quest.PhaseExecution {
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
func (h *House) consult(r *engine.Run, in Consult) (Result, error) {
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

// converse exchanges messages until the person is done, and returns what the
// agent said.
func (t *dialogue) converse(framing, words string) (string, error) {
	name := t.o.face(t.o.Role).Name()
	question := fmt.Sprintf("What do you want to say to %s?", name)
	for n := 1; ; n++ {
		if words == "" {
			var err error
			if words, err = t.message(question); err != nil {
				return "", err
			}
		}
		if words == "" || t.ended != "" {
			break
		}
		if n > 1 {
			framing = ""
		}
		if _, ok, err := t.say(framing, words); err != nil {
			return "", err
		} else if !ok {
			break
		}
		words, question = "", fmt.Sprintf("Your answer to %s (empty to end)", name)
	}
	return strings.Join(t.said, "\n\n"), nil
}

// framing is what the engine tells a seat of the party before the person
// speaks.
func framing(o Opening) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The person who leads this quest consults you. Quest: %s. Phase %d, %s.\n", o.Title, int(o.Phase), o.Phase)
	b.WriteString(roomGuide(o))
	switch o.Flow {
	case "readiness":
		b.WriteString("\nThey ask whether they should face the Dragon now. Go through the success criteria one by one, say what evidence you see for each and what is thin, and leave the decision to them.")
	case "counsel":
		b.WriteString("\nThey ask for your counsel.")
	}
	if o.Role.Evaluator() {
		return "Your verdict stands, and nothing said here can change it: it is in verdict.md. The person who leads the quest wants to talk about it. Answer from your verdict and from nothing else."
	}
	b.WriteString(toolsGuide(o))
	return b.String()
}

// roomGuide tells a party seat what lies where.
func roomGuide(o Opening) string {
	past := ""
	if o.History {
		past = ", " + historyName + " its history"
	}
	return "In your working directory: quest/ holds the parts of the quest, conversations/ what was said before, workspace/ the project itself (read only)" + past +
		". Look before you speak. Whoever speaks of a file cites it as `path:line`, with the path as it is in the project."
}
