package flow

import (
	"encoding/json"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/profile"
)

// CallerOf is the agent that began an interaction in the person's place; "" for
// the person.
func CallerOf(i engine.Interaction) string {
	var in struct {
		Caller string `json:"caller"`
	}
	_ = json.Unmarshal(i.Input, &in) // what does not say is the person's
	return in.Caller
}

// Describe says in a person's words what an interaction was that has not ended.
func Describe(i engine.Interaction, party profile.Party) string {
	name, _, _ := strings.Cut(i.Flow, "/")
	var in struct {
		Who  policy.Role `json:"who"`
		Role policy.Role `json:"role"`
		Move
	}
	_ = json.Unmarshal(i.Input, &in) // what it does not say is left out
	with := func(role policy.Role, what string) string {
		if face, ok := party.Face(string(role)); ok {
			return what + " with " + face.Name()
		}
		return what
	}
	switch name {
	case "consult":
		return with(in.Who, "the conversation")
	case "council":
		return "the council"
	case "debrief":
		return with(policy.Simon, "the debrief")
	case "define":
		return with(policy.Gandalf, "the definition of a quest")
	case "evaluate":
		if in.Role == policy.Dragon {
			return with(policy.Dragon, "the confrontation")
		}
		return with(in.Role, "the checkpoint")
	case "setup":
		return "the setting up of characters"
	case "move":
		if in.Archive {
			return "the archiving of the quest"
		}
		return "a change of the quest"
	}
	return name
}
