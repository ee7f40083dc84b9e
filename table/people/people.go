package people

import (
	"strings"

	"conclave/agent"
	"conclave/dice"
	"conclave/engine"
	"conclave/table"
	"conclave/table/desk"
	"conclave/table/gm"
	"conclave/table/story"
)

// Seats are those of the people at an open table, and what they need of it.
type Seats struct {
	Campaign *table.Campaign
	Caps     table.Caps
	Asker    engine.Asker // nil: nobody is here
	// Here says whether Asker reaches the person of a seat; nil: nobody.
	Here func(seat string) bool
	// Mine says whether all who are told of an error sit in a seat; nil: nobody.
	Mine   func(seat string) bool
	Roster func() (table.Roster, error)
	State  func() story.State
	// Played says who plays each character.
	Played func(table.Roster) (map[string]string, error)
	Roll   func(dice.Request) (dice.Line, error)
	// Tell tells somebody something beside what they are asked.
	Tell func(seat, text string)
}

// Sitter is a person in a seat.
type Sitter struct {
	Seat, Run string // and the record
	// Private: what is asked is between this person and the GM; nobody else
	// learns that there is a question.
	Private bool
	// Said is what they have said already, and are not asked for; "" otherwise.
	Said string
	// Voice is who finds words for what they type, given what they are asked; nil:
	// nobody.
	Voice func(asked string) Voice
}

// Person is an agent for a seat that a person has.
func (s *Seats) Person(in Sitter) agent.Agent {
	return &person{seats: s, who: in.Seat, run: in.Run, private: in.Private, said: in.Said, lent: in.Voice}
}

// Is says whether an agent is a person.
func Is(a agent.Agent) bool {
	_, ok := a.(*person)
	return ok
}

// here says whether the person of a seat can be asked now.
func (s *Seats) here(seat string) bool {
	return s.Asker != nil && s.Here != nil && s.Here(seat)
}

func (s *Seats) mine(seat string) bool { return s.Mine != nil && s.Mine(seat) }

// LookUp is what a command shows that only looks, to a seat and nobody else.
func (s *Seats) LookUp(seat string, at desk.At, c desk.Call) (string, error) {
	d, err := s.desk(seat, at)
	if err != nil {
		return "", err
	}
	text, _, err := d.Show(c)
	return text, err
}

// desk is a person's place at the table.
func (s *Seats) desk(seat string, at desk.At) (desk.Desk, error) {
	roster, err := s.Roster()
	if err != nil {
		return desk.Desk{}, err
	}
	past, err := story.Lately(s.Campaign.Workspace, s.Campaign.Name)
	if err != nil {
		return desk.Desk{}, err
	}
	played, err := s.Played(roster)
	if err != nil {
		return desk.Desk{}, err
	}
	return desk.Desk{Seat: seat, At: at, Campaign: s.Campaign, Roster: roster, Past: past, Scene: s.State().Scene,
		Played: func(slug string) string { return played[slug] }, Caps: s.Caps}, nil
}

// RollFor lets dice fall for a person in a seat, and says what they show.
func (s *Seats) RollFor(seat, expr string) (string, error) {
	who := seat
	if who == table.SeatTable {
		who = "a person"
	}
	l, err := s.Roll(dice.Request{Who: who, Expr: expr, Purpose: "asked for at the table"})
	if err != nil {
		return "", err
	}
	return l.Told(dice.Viewer{Name: seat}), nil
}

// typist is a person in the game master's seat.
func (s *Seats) typist(roster table.Roster) gm.Typist {
	now := s.State()
	return gm.Typist{Roster: roster, Scene: now.Scene, Lately: func(who string) string {
		if len(now.Recap) == 0 {
			return ""
		}
		return strings.TrimSpace(table.TextFor(now.Recap[len(now.Recap)-1].Blocks, who))
	}}
}

// gmWords turns what a person typed in the game master's seat into the forms
// that the table reads. The error is for that person, who can type it again.
func (s *Seats) gmWords(text string) (string, error) {
	roster, err := s.Roster()
	if err != nil {
		return "", err
	}
	return s.typist(roster).Forms(text)
}
