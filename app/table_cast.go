package app

import (
	"slices"

	"conclave/agent"
	"conclave/policy"
	"conclave/seat"
	tableflow "conclave/table/flow"
	"conclave/table/offline"
)

// tableCast finds who sits where: the person in the seat that they named, or
// for which they have left an answer, else whom the configuration names, by
// character first, then by role. With auto no person sits anywhere, and the
// seat that they named is one they look from.
func (w *workspace) tableCast(campaign string, as []string, auto bool) tableflow.Cast {
	return func(role policy.Role, character string, stepIn bool) (tableflow.Actor, error) {
		embedded := offline.GM()
		switch role {
		case policy.Player:
			embedded = offline.Player()
		case policy.JournalKeeper:
			embedded = offline.Keeper()
		}
		key := w.tableKey(role, character)
		seat := character
		if role == policy.GM {
			seat = string(policy.GM)
		}
		seated := role != policy.JournalKeeper &&
			(slices.Contains(as, seat) || tableflow.HasDraft(w.root, campaign, seat))
		if (seated || w.config.For(key).Agent == "human") && !stepIn && !auto {
			return tableflow.Actor{Person: true}, nil
		}
		return w.tableActor(key, embedded)
	}
}

// tableKey is the name under which the configuration knows a seat.
func (w *workspace) tableKey(role policy.Role, character string) string {
	keys := []string{"gm"}
	switch role {
	case policy.Player:
		keys = []string{"player." + character, "player"}
	case policy.JournalKeeper:
		keys = []string{"journal-keeper." + character, "journal-keeper", "journal keeper"}
	}
	for _, k := range keys {
		if _, ok := w.config.Agents[k]; ok {
			return k
		}
	}
	return keys[0]
}

func (w *workspace) tableActor(key string, embedded agent.Agent) (tableflow.Actor, error) {
	if w.config.For(key).Agent == "human" { // somebody must step in for a person
		return tableflow.Actor{Agent: embedded, InProcess: true}, nil
	}
	a, err := w.cast(key, embedded)
	if err != nil {
		return tableflow.Actor{}, err
	}
	return tableflow.Actor{Agent: a.agent, InProcess: a.inProcess, Dress: func(p *seat.Plan) { a.dress(p, w) }}, nil
}
