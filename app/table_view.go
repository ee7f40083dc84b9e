package app

import (
	"context"
	"errors"
	"os"

	"conclave/dice"
	"conclave/policy"
	"conclave/table"
	"conclave/table/look"
	"conclave/table/rolls"
	"conclave/table/story"
)

// TableView is a table as one seat may see it: the story, and the dice with what
// proves them.
type TableView struct {
	look.Status
	State   string     `json:"state"` // in a few words
	Waiting string     `json:"waiting,omitempty"`
	Seat    string     `json:"seat"` // from which it is seen; "table" is what the whole party sees
	Story   string     `json:"story"`
	Play    string     `json:"play"` // who said what to whom
	Dice    []DiceLine `json:"dice"`
	Proof   *DiceProof `json:"proof,omitempty"` // nil: no dice have fallen
	Journal string     `json:"journal,omitempty"`
	Seats   []string   `json:"seats"` // that can be looked from
}

// DiceLine is a line of the dice log as a seat may see it.
type DiceLine struct {
	dice.Line
	Told string `json:"told,omitempty"` // of a roll, in the words of the table
}

// DiceProof is what a check of the dice found.
type DiceProof struct {
	dice.Report
	Problem string `json:"problem,omitempty"`
}

// ViewTable is how a table looks from a seat; "" is what the whole party sees. It
// opens nothing for writing, and takes no lock.
func (a *App) ViewTable(ctx context.Context, name, as string) (v TableView, err error) {
	if a.Remote != nil {
		return v, personsOwn("to look at a table from a seat")
	}
	root, seat, err := a.checkSeat(name, as)
	if err != nil {
		return v, err
	}
	if seat == "" {
		seat = table.SeatTable
	}
	if v.Status, err = a.TableStatus(ctx, name); err != nil {
		return v, err
	}
	v.Seat, v.State = seat, TableState(v.Status)
	if v.Awaited != nil {
		v.Waiting = AwaitedIn(v.Status)
	}
	v.Seats = []string{table.SeatTable, string(policy.GM)}
	for _, c := range v.Characters {
		v.Seats = append(v.Seats, c.Slug)
	}
	v.Status = v.Status.From(seat)
	if v.Story, _, err = a.ExportStory(StoryExport{Table: name, As: seat, Format: "md"}); err != nil {
		return v, err
	}
	if v.Play, _, err = a.ExportStory(StoryExport{Table: name, As: seat, Format: "log"}); err != nil {
		return v, err
	}
	if seat != table.SeatTable && seat != string(policy.GM) {
		if v.Journal, err = a.Journal(name, seat); err != nil && KindOf(err) != No {
			return v, err
		}
	}
	return v, a.diceFrom(root, name, seat, &v)
}

// TableLine is a table in a list that everybody at it may read.
type TableLine struct {
	look.Status
	State string `json:"state"`
}

// TablesSeenByAll is what the whole party of each table may know of how it stands.
func TablesSeenByAll(list []look.Status) []TableLine {
	lines := make([]TableLine, len(list))
	for i, st := range list {
		lines[i] = TableLine{st.From(table.SeatTable), TableState(st)}
	}
	return lines
}

func (a *App) diceFrom(root, name, seat string, v *TableView) error {
	viewer := dice.Viewer{GM: seat == string(policy.GM), Name: seat}
	v.Dice = []DiceLine{}
	lines, err := dice.ViewFile(rolls.File(root, name), viewer)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, l := range lines {
		d := DiceLine{Line: l}
		if l.Event == dice.EventRoll || l.Event == dice.EventVoid {
			d.Told = l.Told(dice.Viewer{GM: true}) // what is hidden is gone from the line
		}
		v.Dice = append(v.Dice, d)
	}
	report, err := a.VerifyDice(name)
	v.Proof = &DiceProof{Report: report}
	if err != nil {
		v.Proof.Problem = err.Error()
	}
	return nil
}

// TableSecrets are the ways of a table's secrets, as far as a seat knows them.
type TableSecrets struct {
	Seat   string      `json:"seat"`
	Seats  []string    `json:"seats"`  // everybody who could know
	Cycles int         `json:"cycles"` // so far
	Ways   []story.Way `json:"secrets"`
	Older  int         `json:"older"` // that were not followed
}

// SecretsOfTable says of each secret who knew it from when. A seat is told of
// those that it knows, and that others know them, too; the game master of all.
func (a *App) SecretsOfTable(ctx context.Context, name, as string) (s TableSecrets, err error) {
	if a.Remote != nil {
		return s, personsOwn("to look for a table's secrets")
	}
	root, seat, err := a.checkSeat(name, as)
	if err != nil {
		return s, err
	}
	st, err := a.TableStatus(ctx, name)
	if err != nil {
		return s, err
	}
	s.Seat, s.Cycles = seat, st.Cycle
	s.Seats = []string{string(policy.GM)}
	for _, c := range st.Characters {
		s.Seats = append(s.Seats, c.Slug)
	}
	s.Seats = append(s.Seats, table.SeatTable)
	if s.Ways, s.Older, err = story.Ways(root, name, s.Seats); err != nil {
		return s, environmentError("%w", err)
	}
	s.Ways = waysKnownTo(seat, s.Ways)
	if seat != string(policy.GM) {
		s.Older = 0
	}
	return s, nil
}

// waysKnownTo are the secrets that a seat knows, with what it knows of them.
func waysKnownTo(seat string, ways []story.Way) []story.Way {
	out := []story.Way{}
	for _, w := range ways {
		if w.KnownTo(seat) {
			out = append(out, w.As(seat))
		}
	}
	return out
}
