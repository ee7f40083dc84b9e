package mcp

import (
	"context"
	"fmt"
	"strings"

	"conclave/app"
)

// offer is a next step.
type offer struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	Who    string `json:"who,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func offersOf(res *app.Result) (list []offer) {
	for _, o := range res.Offers {
		list = append(list, offer{string(o.Action), o.Label, string(o.Who), o.Reason})
	}
	return list
}

type consultIn struct {
	Who       string `json:"who" jsonschema:"bear, cat, owl, puppy, rabbit, wolf, gandalf or simon"`
	Message   string `json:"message" jsonschema:"what you say to them; it is kept on the record, word for word"`
	Readiness bool   `json:"readiness,omitempty" jsonschema:"of gandalf: a review of whether to face the Dragon"`
}

type consultOut struct {
	answer
	Who             string   `json:"who,omitempty"`
	Name            string   `json:"name,omitempty" jsonschema:"the name they go by here"`
	Said            []string `json:"said,omitempty" jsonschema:"what they said, word for word"`
	Recommendations []string `json:"recommendations,omitempty"`
	Logged          []string `json:"logged,omitempty" jsonschema:"what they added to the quest's log"`
	Conversation    string   `json:"conversation,omitempty" jsonschema:"the resource conclave://conversation/NAME"`
	EndedEarly      string   `json:"ended_early,omitempty"`
	Notes           []string `json:"notes,omitempty"`
	Next            []offer  `json:"next,omitempty" jsonschema:"what could be done next"`
}

type councilIn struct {
	Message string `json:"message,omitempty" jsonschema:"what the council should look at, if not the project as it is"`
}

type perspective struct {
	Who  string `json:"who"`
	Name string `json:"name"`
	Lens string `json:"lens"`
	Text string `json:"text"`
}

type councilOut struct {
	answer
	Perspectives []perspective `json:"perspectives,omitempty"`
	Consensus    string        `json:"consensus,omitempty"`
	Dissent      string        `json:"dissent,omitempty"`
	NextSteps    []string      `json:"next_steps,omitempty"`
	Unverified   []string      `json:"unverified,omitempty" jsonschema:"citations that did not check out"`
	Report       string        `json:"report,omitempty" jsonschema:"the file that was written, if one was"`
	Conversation string        `json:"conversation,omitempty"`
	EndedEarly   string        `json:"ended_early,omitempty"`
	Notes        []string      `json:"notes,omitempty"`
}

func (s *Server) addParty() {
	add(s, "consult", "Ask an advisor",
		"Ask one advisor about the project or the quest. Each sees the project and what was said before, and answers "+
			"once. Bear: vision and direction; cat: risk and scope; owl: process and structure; puppy: opportunities and "+
			"momentum; rabbit: resources and stakeholders; wolf: cohesion and balance. Gandalf gives counsel on a quest, "+
			"simon reflects. What you say is kept on the record.",
		atWork, consult)
	add(s, "council", "Hear six advisors",
		"Six advisors look at the project, each alone, and a seventh brings them together. Takes as long as seven "+
			"answers. Citations are checked against the project.",
		atWork, council)
}

func consult(ctx context.Context, a *app.App, in consultIn, out *consultOut) (string, error) {
	res, err := a.Consult(ctx, app.Consultation{
		Talk: app.Talk{Message: &in.Message, Once: true}, Who: in.Who, Readiness: in.Readiness,
	})
	if res == nil {
		return "", err
	}
	*out = consultOut{
		Who: string(res.Who), Name: res.Name, Said: res.Said, Recommendations: res.Recommendations, Logged: res.Logged,
		Conversation: res.Conversation, EndedEarly: res.EndedEarly, Notes: res.Notes, Next: offersOf(res),
	}
	text := strings.Join(res.Said, "\n\n")
	if res.EndedEarly != "" {
		text += "\n\nThe conversation ended early: " + res.EndedEarly
	}
	return strings.TrimSpace(text), err
}

func council(ctx context.Context, a *app.App, in councilIn, out *councilOut) (string, error) {
	talk := app.Talk{Once: true}
	if in.Message != "" {
		talk.Message = &in.Message
	}
	res, err := a.Council(ctx, talk)
	if res == nil {
		return "", err
	}
	*out = councilOut{
		Unverified: res.Unverified, Conversation: res.Conversation, EndedEarly: res.EndedEarly, Notes: res.Notes,
	}
	if res.Council == nil {
		return res.EndedEarly, err
	}
	c := res.Council
	out.Consensus, out.Dissent, out.NextSteps, out.Report = c.Consensus, c.Dissent, c.NextSteps, c.Report
	var b strings.Builder
	for _, p := range c.Perspectives {
		out.Perspectives = append(out.Perspectives, perspective{string(p.Who), p.Name, p.Lens, p.Text})
		fmt.Fprintf(&b, "%s (%s): %s\n\n", p.Name, p.Lens, p.Text)
	}
	fmt.Fprintf(&b, "Consensus: %s\n", c.Consensus)
	if c.Dissent != "" {
		fmt.Fprintf(&b, "Dissent: %s\n", c.Dissent)
	}
	for i, step := range c.NextSteps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, step)
	}
	return b.String(), err
}
