package look

import (
	"context"
	"fmt"
	"slices"

	"conclave/dice"
	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/policy"
	"conclave/table"
	"conclave/table/journal"
	"conclave/table/people"
	"conclave/table/rolls"
	"conclave/table/story"
	"conclave/table/told"
)

// Scope is the engine's scope of a campaign.
func Scope(campaign string) string { return "table-" + campaign }

// Status is what can be seen of a table from outside.
type Status struct {
	Campaign   string           `json:"campaign"`
	Session    int              `json:"session"`
	InSession  bool             `json:"in_session"`
	Cycle      int              `json:"cycle"`
	Scene      *story.Scene     `json:"scene,omitempty"`
	Characters []Character      `json:"characters"`
	Open       []string         `json:"open,omitempty"`     // interactions that were cut
	Awaited    *people.Awaited  `json:"awaited,omitempty"`  // by what is open
	Journals   []string         `json:"journals,omitempty"` // entries that wait or were parked
	Drafts     []string         `json:"drafts,omitempty"`   // seats with an answer left for the barrier
	Saves      []story.Save     `json:"saves,omitempty"`
	Rolls      int              `json:"rolls"`
	Holder     *lockfile.Holder `json:"holder,omitempty"`
	Problems   []string         `json:"problems,omitempty"`
	Told       []told.Thing     `json:"told,omitempty"` // what somebody has to know; see Told
}

// From is what of it a seat may know: nothing that is another seat's, and nothing
// that is only for who mends the files, which is the game master.
func (st Status) From(seat string) Status {
	if seat == string(policy.GM) {
		return st
	}
	if st.Awaited != nil && st.Awaited.Privately && !slices.Contains(st.Awaited.Seats, seat) {
		awaited := *st.Awaited
		awaited.Seats = nil
		st.Awaited = &awaited
	}
	st.Drafts = slices.DeleteFunc(slices.Clone(st.Drafts), func(s string) bool { return s != seat })
	st.Journals, st.Told, st.Problems = nil, nil, nil
	return st
}

// Character is a line of the roster.
type Character struct {
	Slug   string       `json:"slug"`
	Name   string       `json:"name"`
	Status table.Status `json:"status"`
	Away   bool         `json:"away,omitempty"`
}

// At reads a table's status, what is under way from that database, as flow.Options
// have it. It takes no lock and starts nothing.
func At(ctx context.Context, workspace, campaign, database string) (Status, error) {
	st := Status{Campaign: campaign}
	c, err := table.OpenCampaign(workspace, campaign)
	if err != nil {
		return st, err
	}
	defer c.Close()
	s, err := story.Load(workspace, campaign)
	if err != nil {
		return st, err
	}
	st.Session, st.InSession, st.Cycle = s.Session, s.InSession, s.Cycle
	if s.Scene.Number > 0 {
		st.Scene = &s.Scene
	}
	roster, err := table.LoadRoster(c.Party, s.Statuses, table.Caps{})
	if err != nil {
		return st, err
	}
	st.Problems = append(slices.Clone(roster.Problems), roster.Warnings...)
	for _, ch := range roster.Characters {
		_, away := s.Away[ch.Slug]
		st.Characters = append(st.Characters, Character{ch.Slug, ch.Name, ch.Status, away})
	}
	if err := st.lookEngine(ctx, workspace, campaign, database); err != nil {
		return st, err
	}
	if len(st.Open) > 0 {
		if st.Awaited, err = people.LookAwaited(workspace, campaign); err != nil {
			return st, err
		}
	}
	if st.Saves, err = story.Saves(workspace, campaign); err != nil {
		return st, err
	}
	st.Drafts = people.Drafts(workspace, campaign)
	if report, err := dice.VerifyFile(rolls.File(workspace, campaign)); err == nil {
		st.Rolls = report.Rolls
	}
	return st, nil
}

func (st *Status) lookEngine(ctx context.Context, workspace, campaign, database string) error {
	peek, err := engine.Peek(ctx, engine.Options{Dir: workspace, Scope: Scope(campaign), DatabaseURL: database})
	if err != nil {
		return err
	}
	st.Holder = peek.Holder
	for _, i := range peek.Open {
		if job, ok := journal.JobOf(i.Flow, i.Input); ok {
			st.Journals = append(st.Journals, fmt.Sprintf("%s, cycle %d: waiting", job.Character, job.Cycle))
			continue
		}
		st.Open = append(st.Open, i.ID)
	}
	parked, err := journal.Parked(workspace, campaign)
	for _, job := range parked {
		st.Journals = append(st.Journals, fmt.Sprintf("%s, cycle %d: parked", job.Character, job.Cycle))
	}
	return err
}
