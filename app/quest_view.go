package app

import (
	"context"
	"errors"
	"os"
	"slices"

	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
)

// QuestView is a quest as a page shows it: where it stands, what the Dragon last
// said of each criterion, and how the cast is called.
type QuestView struct {
	QuestStatus
	None   bool       `json:"none,omitempty"` // there is no quest
	Why    string     `json:"why,omitempty"`  // what is wrong with it, or that there is none
	Phases []string   `json:"phases"`         // by number, from 1
	Cast   []CastName `json:"cast"`
	Judged *Judged    `json:"judged,omitempty"` // nil: no Dragon has been faced
	// Evaluations are what is behind "Ask for an evaluation or counsel".
	Evaluations []quest.Offer `json:"evaluations"`
	Here        bool          `json:"here,omitempty"` // the process that holds it is this one
}

// CastName is how somebody of the cast is called.
type CastName struct {
	Role    string `json:"role"`
	Name    string `json:"name"`
	Emoji   string `json:"emoji"`
	About   string `json:"about"`
	Advisor bool   `json:"advisor"` // can be consulted
}

// Judged is the newest confrontation that said something of the criteria.
type Judged struct {
	Conversation string `json:"conversation"`
	Date         string `json:"date"`
	Findings     any    `json:"findings"`
}

// ViewQuest looks and changes nothing. That there is no quest is no error here.
func (a *App) ViewQuest(ctx context.Context) (v QuestView, err error) {
	if a.Remote != nil {
		return v, personsOwn("to look at the quest as a page shows it")
	}
	v.QuestStatus, err = a.QuestStatus(ctx)
	switch {
	case errors.Is(err, quest.ErrNoQuest):
		v.None, v.Why = true, err.Error()
	case err != nil && !Said(err):
		return v, err
	}
	v.None, v.Here = v.None || v.QuestStatus.None(), v.holder == os.Getpid()
	if v.Workspace, err = a.findRoot(); err != nil {
		return v, err
	}
	for p := quest.PhaseDefinition; p <= quest.PhaseDebrief; p++ {
		v.Phases = append(v.Phases, p.String())
	}
	party, _, _ := profile.Project{Dir: v.Workspace}.Party() // what is wrong with it a flow says
	for _, role := range append(policy.Animals(), policy.Gandalf, policy.Simon, policy.Guardian, policy.Dragon) {
		face, _ := party.Face(string(role))
		v.Cast = append(v.Cast, CastName{string(role), face.Name(), face.Emoji(), face.Archetype.Core, isAdvisor(role)})
	}
	v.party = party
	v.Evaluations = quest.Offers(quest.ForEvaluation, quest.OfferContext{Face: v.face})
	list, err := a.Conversations()
	v.Said = list // also where there is no quest
	for _, t := range slices.Backward(list) {
		if found := t.Findings(); len(found) > 0 && t.About(&quest.Quest{Title: v.Title, Created: v.Created}) {
			v.Judged = &Judged{t.Name, t.Date, found}
			break
		}
	}
	return v, err
}
