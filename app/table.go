package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/table"
	tableflow "conclave/table/flow"
	"conclave/table/look"
)

// TableInfo is how a table stands.
type TableInfo = look.Status

// Seating is how a person comes to a table.
type Seating struct {
	Table   string   // the campaign
	As      []string // the seats of this screen; none: what the whole party sees
	Answers string   // a file with what is said
	Auto    bool     // nobody is asked: agents play every seat
	Wait    bool     // while another process holds the table
}

// atTable is the campaign that a verb is for.
func (in Seating) atTable() string { return in.Table }

// sits says whether a seat is one of the person's.
func (in Seating) sits(seat string) bool { return slices.Contains(in.As, seat) }

// atTable opens a campaign for writing, for one verb; refused while another
// process has it open.
func (a *App) atTable(ctx context.Context, verb string, in Seating, do func(*tableflow.Table) error) error {
	k, err := a.tableAsker(in)
	if err != nil {
		return err
	}
	return a.atScreen(ctx, verb, in, a.newTableScreen(in.As, k), do)
}

// atTableAnywhere is atTable in the process that has the campaign open, if there
// is one.
func (a *App) atTableAnywhere(
	ctx context.Context, name string, in Seating, v verb, do func(*tableflow.Table) error,
) error {
	return a.reachTable(ctx, in, v, func() error { return a.atTable(ctx, name, in, do) })
}

func (a *App) reachTable(ctx context.Context, in Seating, v verb, here func() error) error {
	root, _, err := a.checkSeat(in.Table, "")
	if err != nil {
		return err
	}
	return a.reach(ctx, engine.Socket(root, look.Scope(in.Table)), v, here)
}

// atScreen is atTable with a screen that is there already.
func (a *App) atScreen(
	ctx context.Context, verb string, in Seating, s *tableScreen, do func(*tableflow.Table) error,
) error {
	if a.at != nil {
		return a.at.do(ctx, s, do)
	}
	return a.atHub(ctx, verb, in, s, func(h *tableHub) error { return do(h.table) })
}

// atHub opens a campaign, with a screen, and lets others join.
func (a *App) atHub(
	ctx context.Context, verb string, in Seating, s *tableScreen, do func(*tableHub) error,
) (err error) {
	w, err := a.openWorkspace()
	if err == nil {
		err = errors.Join(w.checkCharacters(), w.checkRelays())
	}
	if err != nil {
		return err
	}
	h := newTableHub(a, w.root, in.Table, s)
	h.stays = verb == "play" && s.asker != nil && s.asker.person != nil
	h.auto = in.Auto
	h.human = func(seat string) bool { return w.isPersons(in.Table, seat) }
	o := tableflow.Options{
		Workspace: w.root, Campaign: in.Table, Cast: w.tableCast(in.Table, h.sits, in.Auto), Auto: in.Auto,
		Keep: true, Wait: in.Wait, Purpose: "conclave table " + verb + " " + in.Table, Program: a.program(),
		Here: h.reaches, Apart: h.apart, Mine: h.alone, Show: h.show,
		Account: w.tableBudget(in.Table).account(), Database: w.config.Database,
	}
	if !in.Auto { // somebody may come who can be asked
		o.Asker, o.Voice = h, h.voice(w)
	}
	if err := w.makePrivate(); err != nil {
		return err
	}
	if h.table, err = tableflow.Open(ctx, o); err != nil {
		return tableError(in.Table, err)
	}
	served := a.listenAt(ctx, engine.Socket(w.root, look.Scope(in.Table)), w.root, h.admit)
	defer func() {
		if KindOf(err) != Environment { // else nothing may have begun here
			a.noteWorkspace(w.root)
		}
		ended := err == nil && verb == "play" && !h.table.InSession()
		h.leave()
		served.stop()
		err = errors.Join(err, tableError(in.Table, h.table.Close()))
		h.close(ended)
		served.close()
	}()
	return do(h)
}

// tableAsker is nobody where there is neither a person nor a file.
func (a *App) tableAsker(in Seating) (*asker, error) {
	if in.Auto || in.Answers == "" && a.Person == nil {
		return nil, nil
	}
	return a.newAsker(in.Answers)
}

// Tables lists the campaigns of the workspace. One that cannot be read says so
// in its problems.
func (a *App) Tables(ctx context.Context) ([]look.Status, error) {
	root, err := a.rootToRead()
	if err != nil {
		return nil, err
	}
	database, err := a.database()
	if err != nil {
		return nil, err
	}
	names, err := table.Campaigns(root)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	list := []look.Status{}
	for _, name := range names {
		st, err := look.At(ctx, root, name, database)
		if err != nil {
			st = look.Status{Campaign: name, Problems: []string{err.Error()}}
		}
		list = append(list, a.shownTable(st))
	}
	return list, nil
}

// TableStatus is how a table stands.
func (a *App) TableStatus(ctx context.Context, name string) (look.Status, error) {
	root, err := a.rootToRead()
	if err != nil {
		return look.Status{}, err
	}
	database, err := a.database()
	if err != nil {
		return look.Status{}, err
	}
	st, err := look.At(ctx, root, name, database)
	if err == nil {
		st.Told, err = look.Told(root, name)
	}
	return a.shownTable(st), namedTable(name, err)
}

// TableState is the state of a table in a few words.
func TableState(st look.Status) string {
	switch {
	case len(st.Characters) == 0 && len(st.Problems) > 0:
		return "cannot be played: " + st.Problems[0]
	case len(st.Open) > 0 && st.Holder == nil:
		return "a cycle is open"
	case st.Holder != nil:
		return "in use"
	case st.InSession:
		return "in session"
	}
	return "at rest"
}

// AwaitedIn says whom a table waits for, and how they answer.
func AwaitedIn(st look.Status) string {
	if st.Awaited.Privately {
		return "somebody, whose question is nobody else's: each looks from their own seat, conclave table play " +
			st.Campaign + " --as NAME"
	}
	var names []string
	for _, seat := range st.Awaited.Seats {
		name := table.Roster{}.Called(seat)
		for _, c := range st.Characters {
			if c.Slug == seat {
				name = c.Name
			}
		}
		names = append(names, name+" (conclave table play "+st.Campaign+" --as "+seat+")")
	}
	return strings.Join(names, ", ")
}

// TableFaults is what stands in the way of playing a campaign, and what does
// not but is odd.
type TableFaults struct {
	Table    string   `json:"-"`
	Problems []string `json:"problems"`
	Warnings []string `json:"warnings"`
}

// ValidateTable says whether a campaign can be played.
func (a *App) ValidateTable(name string) (v TableFaults, err error) {
	root, err := a.rootToRead()
	if err != nil {
		return v, err
	}
	v.Table = name
	if v.Problems, v.Warnings, err = look.Validate(root, name, table.Caps{}, true); err != nil {
		return v, namedTable(name, err)
	}
	v.Problems, v.Warnings = append([]string{}, v.Problems...), append([]string{}, v.Warnings...)
	return v, noUnless(len(v.Problems) == 0)
}

// calledAt is how people call who sits in a seat of a table.
func (a *App) calledAt(name, seat string) string {
	root, err := a.findRoot()
	if err != nil {
		return seat
	}
	c, err := table.OpenCampaign(root, name)
	if err != nil {
		return seat
	}
	defer c.Close()
	roster, err := table.LoadRoster(c.Party, nil, table.Caps{})
	if err != nil {
		return seat
	}
	return roster.Called(seat)
}

// checkSeats refuses a table that is not here, and seats that are not at it. It
// returns the seats by their own names.
func (a *App) checkSeats(name string, called []string) (seats []string, err error) {
	for _, who := range called {
		_, seat, err := a.checkSeat(name, who)
		if err != nil {
			return nil, err
		}
		if slices.Contains(seats, seat) {
			return nil, usageError("--as %s was given twice", who)
		}
		if len(called) > 1 && seat == table.SeatTable {
			return nil, usageError("who sits at no seat shares no screen with one: leave out --as %s", who)
		}
		seats = append(seats, seat)
	}
	_, _, err = a.checkSeat(name, "")
	return seats, err
}

// checkSeat refuses a table that is not here, and a seat that is not at it. It
// returns the workspace's root, and the seat that a person called so: a first
// name will do.
func (a *App) checkSeat(name, called string) (root, seat string, err error) {
	if root, err = a.findRoot(); err != nil {
		return "", "", err
	}
	c, err := table.OpenCampaign(root, name)
	if err != nil {
		return "", "", namedTable(name, err)
	}
	defer c.Close()
	if called == "" || called == string(policy.GM) || called == table.SeatTable {
		return root, called, nil
	}
	roster, err := table.LoadRoster(c.Party, nil, table.Caps{})
	if err != nil {
		return "", "", environmentError("%w", err)
	}
	found, err := roster.Find(called)
	if err != nil {
		return "", "", usageError("%w; gm and table are seats, too", err)
	}
	return root, found.Slug, nil
}
