package seating

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/agent"
	"conclave/engine"
	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/room"
	"conclave/seat"
	"conclave/table"
	"conclave/table/gm"
	"conclave/table/people"
)

// Actor is whoever sits in a seat.
type Actor struct {
	Agent     agent.Agent
	InProcess bool
	// Person: the words come from whoever sits at a screen, or from a draft that
	// was left for the barrier. Agent is then not used. A person has no time-out.
	Person bool
	// Dress completes the plan of the seat (model, programs, budget); nil for
	// nothing to add.
	Dress func(*seat.Plan)
}

// Cast finds who sits in a seat. character is empty for the GM. stepIn asks for
// whoever plays a person's character while that person is away.
type Cast func(role policy.Role, character string, stepIn bool) (Actor, error)

// Seats are those of one table, and what they have in common.
type Seats struct {
	Set                 *seat.Set
	Workspace, Campaign string
	Files               *table.Campaign // nil for a campaign that is not there yet
	Caps                table.Caps
	Cast                Cast
	Program             string // name and version, for records
	RoomBase            string
	Account             seat.Account // nil for no bound
	GMReadsJournals     bool
	Watch               *table.Watch
	Printer             *shingle.Printer
	People              *people.Seats
	Away                func(character string) bool // its person is not here
	// Thinks shows that a game master takes its time, until stop is called.
	Thinks func() (stop func())
	// Voice is who finds words for what the person of a character types; nil, and
	// nil from it: nobody. Finds shows them that it takes its time.
	Voice func(character string) (*Actor, error)
	Finds func(character string) (stop func())
	// Crash, for tests, is called around every turn.
	Crash func(label string)
}

// Seating says who plays whom, and which of them are people.
func (s *Seats) Seating(roster table.Roster) (played map[string]string, persons map[string]bool, err error) {
	played, persons = map[string]string{}, map[string]bool{}
	for _, ch := range roster.Characters {
		actor, err := s.Cast(policy.Player, ch.Slug, false)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case actor.Person && s.Away(ch.Slug):
			played[ch.Slug] = "agent, while its person is away"
		case actor.Person:
			played[ch.Slug], persons[ch.Slug] = "person", true
		default:
			played[ch.Slug] = "agent"
		}
	}
	return played, persons, nil
}

// GM is the game master's seat, with the campaign as the GM may see it.
func (s *Seats) GM(run string, about []table.Source) *Seat {
	x := s.seat(run, policy.GM, "", about, func() (Actor, error) { return s.Cast(policy.GM, "", false) })
	x.timeout, x.furnish = s.Caps.GMTimeout, s.furnishGM
	return x
}

// Composer is the seat of whoever makes a campaign that is not there yet: in a
// room that holds nothing.
func (s *Seats) Composer(run, system string) *Seat {
	x := s.GM(run, nil)
	x.System, x.furnish = system, func(*seat.Plan) error { return nil }
	return x
}

// Player is a player's seat, in a room that holds its view and no more.
func (s *Seats) Player(run, who string, view table.SeatContext) *Seat {
	return s.viewer(run, policy.Player, who, view, s.Caps.PlayerTimeout, func() (Actor, error) {
		actor, err := s.Cast(policy.Player, who, false)
		if err == nil && actor.Person && s.Away(who) {
			return s.Cast(policy.Player, who, true)
		}
		return actor, err
	})
}

// StandIn is a player's seat for whoever plays the character without its person.
func (s *Seats) StandIn(run, who string, view table.SeatContext) *Seat {
	return s.viewer(run, policy.Player, who, view, s.Caps.PlayerTimeout,
		func() (Actor, error) { return s.Cast(policy.Player, who, true) })
}

// Keeper is the seat of whoever keeps a character's journal.
func (s *Seats) Keeper(run, who string, view table.SeatContext) *Seat {
	return s.viewer(run, policy.JournalKeeper, who, view, s.Caps.JournalTimeout,
		func() (Actor, error) { return s.Cast(policy.JournalKeeper, who, false) })
}

func (s *Seats) viewer(run string, role policy.Role, who string, view table.SeatContext, timeout time.Duration,
	actor func() (Actor, error)) *Seat {
	x := s.seat(run, role, who, view.Sources, actor)
	x.timeout, x.furnish = timeout, func(p *seat.Plan) error { return s.furnishView(p, role, who, view) }
	return x
}

func (s *Seats) seat(run string, role policy.Role, who string, about []table.Source,
	actor func() (Actor, error)) *Seat {
	x := &Seat{seats: s, role: role, who: who, about: about, actor: actor, System: Instructions(role)}
	x.EngineTurn = seat.EngineTurn{Set: s.Set, Run: run, Plan: x.plan}
	return x
}

//go:embed instructions/gm.md
var gmInstructions string

//go:embed instructions/player.md
var playerInstructions string

//go:embed instructions/journal-keeper.md
var keeperInstructions string

// Instructions are what a role is told before anything else.
func Instructions(role policy.Role) string {
	switch role {
	case policy.GM:
		return gmInstructions
	case policy.Player:
		return playerInstructions
	}
	return keeperInstructions
}

// GMFiles are the files of the campaign that a GM is given.
func (s *Seats) GMFiles() (files []gm.CampaignFile, skipped []string) {
	return gm.CampaignFiles(s.Files, s.Caps, s.GMReadsJournals)
}

// furnishGM fills the GM's room: the campaign as the GM may see it, below
// campaign/.
func (s *Seats) furnishGM(p *seat.Plan) error {
	files, _ := s.GMFiles()
	for _, f := range files {
		kind := policy.ClassifyTable(f.Path, "")
		if d := policy.Decide(policy.GM, kind); !d.Allow {
			continue
		}
		p.Room.Grants = append(p.Room.Grants, room.Grant{Kind: string(kind), Name: "campaign/" + f.Path, Bytes: f.Data})
	}
	return nil
}

// roomNames are the files of a player's room.
var roomNames = map[string]string{
	"Your character": "sheet.md", "Your journal": "journal.md", "What the party knows": "party-knowledge.md",
	"The world": "world-primer.md", "Lately": "lately.md", "Not yet in your journal": "pending.md",
	"The fight":            "fight.md",
	"The game master asks": "prompt.md",
	"What happened":        "narrative.md", "What only you saw": "private.md", "Your notes": "notes.md",
}

// furnishView puts exactly the parts of the view into the room, if the policy
// grants each of them, and fingerprints everything else.
func (s *Seats) furnishView(p *seat.Plan, role policy.Role, who string, view table.SeatContext) error {
	for i, part := range view.Parts {
		kind := policy.ClassifyTable(view.Sources[i].Path, who)
		if strings.HasPrefix(view.Sources[i].Path, "engine:") {
			kind = policy.NarrativePrivateOwn // its own memory of what it heard
		}
		if d := policy.Decide(role, kind); !d.Allow {
			return engine.Halt(fmt.Errorf("%s may not have %s: %s", role, view.Sources[i].Path, d.Reason))
		}
		p.Room.Grants = append(p.Room.Grants,
			room.Grant{Kind: string(kind), Name: roomNames[part.Title], Bytes: []byte(part.Text)})
	}
	kept, _, err := s.Watch.From(who)
	if err != nil {
		return engine.Halt(err)
	}
	p.Printer = s.Printer
	for _, k := range kept {
		kind := policy.ClassifyTable(k.Path, who)
		reason := policy.Decide(role, kind).Reason
		p.Denied = append(p.Denied, seat.Denied{Kind: string(kind), Name: k.Path, Reason: reason, Print: &k.Print})
	}
	return nil
}

// Turn is a turn of a seat as its record has it: the words, the calls of the last
// attempt that were not refused, each at its place in the words, and the files
// that came with them. One that has not ended has no id, and nothing but files.
func (s *Seats) Turn(run, id string) (gm.Turn, error) {
	history, err := s.Set.History(run)
	if err != nil {
		return gm.Turn{}, err
	}
	past := history.Turn(id)
	var out gm.Turn
	for _, f := range past.Files {
		out.Files = append(out.Files, table.HandIn(f))
	}
	if !past.Finished {
		return out, nil
	}
	out.ID, out.Text = id, past.Reply.Text
	for _, c := range past.Calls {
		if !c.Failed {
			out.Calls = append(out.Calls, gm.Call{Tool: c.Tool, Input: json.RawMessage(c.Input), Said: c.Said})
		}
	}
	return out, nil
}

// Close seals the record of a run that is over, also one that a process which
// died had left open.
func (s *Seats) Close(run string) error {
	err := s.Set.Seal(run, "done", nil)
	s.crash("sealed " + run)
	return err
}

// Afford halts what would spend more than may be spent: it goes on once the
// budget is raised.
func (s *Seats) Afford() error {
	if s.Account == nil {
		return nil
	}
	return engine.Halt(s.Account.Afford())
}

func (s *Seats) crash(label string) {
	if s.Crash != nil {
		s.Crash(label)
	}
}
