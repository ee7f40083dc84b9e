package app

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/config"
	"conclave/policy"
	"conclave/seat"
	"conclave/table"
	"conclave/table/adventure"
	"conclave/table/offline"
	"conclave/table/people"
	"conclave/table/seating"
	door "conclave/workspace"
)

// isPersons says whether a seat is a person's whoever is here, by the
// configuration or because nobody else can sit there.
func (w *workspace) isPersons(campaign, seat string) bool {
	if seat != string(policy.GM) {
		return w.config.For(w.tableKey(policy.Player, seat)).Agent == "human"
	}
	vacant, err := w.gmVacant(campaign)
	return err == nil && vacant || w.config.For(w.tableKey(policy.GM, "")).Agent == "human"
}

// tableCast finds who sits where: the person in the seat that they named, or
// for which they have left an answer, else whom the configuration names, by
// character first, then by role. With auto no person sits anywhere, and the
// seat that they named is one they look from. The embedded game master tells the
// adventures that come with the program; of any other campaign a person is the
// game master until an agent is named.
func (w *workspace) tableCast(campaign string, sits func(seat string) bool, auto bool) seating.Cast {
	vacant := sync.OnceValues(func() (bool, error) { return w.gmVacant(campaign) })
	return func(role policy.Role, character string, stepIn bool) (seating.Actor, error) {
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
			(sits(seat) || people.HasLeft(w.root, campaign, seat))
		if (seated || w.config.For(key).Agent == "human") && !stepIn && !auto {
			return seating.Actor{Person: true}, nil
		}
		if role == policy.GM {
			if empty, err := vacant(); err != nil || empty && auto {
				return seating.Actor{}, cmp.Or(err, errNoGM(campaign))
			} else if empty {
				return seating.Actor{Person: true}, nil
			}
		}
		return w.tableActor(key, embedded)
	}
}

// gmVacant says whether nobody but a person can be the game master of a
// campaign: no agent is named, and the embedded one does not know the story.
func (w *workspace) gmVacant(campaign string) (bool, error) {
	if w.config.For(w.tableKey(policy.GM, "")).Agent != "offline" {
		return false, nil
	}
	c, err := table.OpenCampaign(w.root, campaign)
	if err != nil {
		return false, environmentError("%w", err)
	}
	defer c.Close()
	from, err := adventure.Of(func(name string) ([]byte, error) { return c.ReadFile(name, door.MaxText) })
	return from == "", refusedHere(err)
}

// gmAgentHow is how an agent becomes the game master.
const gmAgentHow = "agents: {gm: {agent: claude, model: …}} in " + config.FileName

func errNoGM(campaign string) error {
	return environmentError("%[1]s has no game master: the embedded one tells only the adventures that come with "+
		"the program, and no agent is named\ntry: conclave table play %[1]s --as gm, or name one: %[2]s", campaign, gmAgentHow)
}

// sitDown finds the seats of a person who named none: where nobody else can be
// the game master they are, and are told so. With auto nobody can.
func (a *App) sitDown(in *Playing) error {
	w, err := a.openWorkspace()
	if err != nil {
		return err
	}
	empty, err := w.gmVacant(in.Table)
	switch {
	case err != nil || !empty || slices.Contains(in.As, string(policy.GM)):
		return err
	case in.Auto:
		return errNoGM(in.Table)
	case len(in.As) > 0:
		return nil // who opens the table is told: gmIsAPerson
	}
	in.As = []string{string(policy.GM)}
	a.aside("You are the game master of %s: no agent is named for that seat. One is named by %s; then sit down with "+
		"--as CHARACTER.", in.Table, gmAgentHow)
	return nil
}

// gmIsAPerson tells who opens a table in another seat that its game master is to
// come; who joins one sees whether they have.
func (w *workspace) gmIsAPerson(in Playing) {
	empty, err := w.gmVacant(in.Table)
	if err == nil && empty && len(in.As) > 0 && !in.sits(string(policy.GM)) {
		w.app.aside("The game master of %s is a person: conclave table play %[1]s --as gm, at another terminal. "+
			"An agent is named by %[2]s.", in.Table, gmAgentHow)
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

// relayKey is the name under which the configuration knows who lends a voice to a
// character; "" where nobody does.
func (w *workspace) relayKey(character string) string {
	for _, k := range []string{config.Relay + "." + character, config.Relay} {
		if _, ok := w.config.Agents[k]; ok {
			return k
		}
	}
	return ""
}

// tableVoice is who lends a voice to a person's character; nil for nobody.
func (w *workspace) tableVoice(character string) (*seating.Actor, error) {
	key := w.relayKey(character)
	if key == "" {
		return nil, nil
	}
	actor, err := w.tableActor(key, nil)
	return &actor, err
}

// checkRelays refuses a voice that has none to lend.
func (w *workspace) checkRelays() error {
	for key := range w.config.Agents {
		seat, _, _ := strings.Cut(key, ".")
		if a := w.config.For(key).Agent; seat == config.Relay && (a == "human" || a == "offline") {
			return environmentError("agents: %s: who lends a character a voice is an agent with a model; %s is none. "+
				"Name one, or leave it out", key, a)
		}
	}
	return nil
}

func (w *workspace) tableActor(key string, embedded agent.Agent) (seating.Actor, error) {
	if w.config.For(key).Agent == "human" { // somebody must step in for a person
		return seating.Actor{Agent: embedded, InProcess: true}, nil
	}
	a, err := w.cast(key, embedded)
	if err != nil {
		return seating.Actor{}, err
	}
	return seating.Actor{Agent: a.agent, InProcess: a.inProcess, Dress: func(p *seat.Plan) { a.dress(p, w) }}, nil
}
