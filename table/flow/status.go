package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/engine"
	"conclave/internal/jsontext"
	"conclave/internal/lockfile"
	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/record"
	"conclave/table"
	"conclave/table/journal"
	"conclave/table/people"
	"conclave/table/rolls"
	"conclave/table/story"
	"conclave/table/told"
)

// Status is what can be seen of a table from outside.
type Status struct {
	Campaign   string            `json:"campaign"`
	Session    int               `json:"session"`
	InSession  bool              `json:"in_session"`
	Cycle      int               `json:"cycle"`
	Scene      *story.Scene      `json:"scene,omitempty"`
	Characters []CharacterStatus `json:"characters"`
	Open       []string          `json:"open,omitempty"`     // interactions that were cut
	Awaited    *people.Awaited   `json:"awaited,omitempty"`  // by what is open
	Journals   []string          `json:"journals,omitempty"` // entries that wait or were parked
	Drafts     []string          `json:"drafts,omitempty"`   // seats with an answer left for the barrier
	Saves      []story.Save      `json:"saves,omitempty"`
	Rolls      int               `json:"rolls"`
	Holder     *lockfile.Holder  `json:"holder,omitempty"`
	Problems   []string          `json:"problems,omitempty"`
	Told       []told.Thing      `json:"told,omitempty"` // what somebody has to know; see Told
}

// CharacterStatus is a line of the roster.
type CharacterStatus struct {
	Slug   string       `json:"slug"`
	Name   string       `json:"name"`
	Status table.Status `json:"status"`
	Away   bool         `json:"away,omitempty"`
}

// Look reads a table's status, what is under way from that database as Options
// have it. It takes no lock and starts nothing.
func Look(ctx context.Context, workspace, campaign, database string) (Status, error) {
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
		st.Characters = append(st.Characters, CharacterStatus{ch.Slug, ch.Name, ch.Status, away})
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
		var job journal.Job
		if strings.HasPrefix(i.Flow, flowJournal+"/") && json.Unmarshal(i.Input, &job) == nil {
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

// Validate says what is wrong with a campaign directory. problems keep it from
// being played as it is meant; warnings do not.
func Validate(workspace, campaign string, caps table.Caps) (problems, warnings []string, err error) {
	c, err := table.OpenCampaign(workspace, campaign)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	roster, err := table.LoadRoster(c.Party, nil, caps)
	if err != nil {
		return []string{err.Error()}, nil, nil
	}
	problems, warnings = roster.Problems, roster.Warnings
	if len(roster.Characters) == 0 {
		problems = append(problems, "party/: no characters: write a sheet party/{character}.md")
	}
	watch := c.NewWatch(caps, shingle.NewPrinter())
	for _, ch := range roster.Characters {
		if _, err := c.PlayerContext(ch.Slug, nil, table.ContextOptions{Caps: caps}); err != nil {
			problems = append(problems, err.Error())
		}
		_, skipped, err := watch.From(ch.Slug)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, s := range skipped {
			if !slices.Contains(warnings, s) {
				warnings = append(warnings, s)
			}
		}
	}
	findings, err := c.Findings(caps)
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, f := range findings {
		problems = append(problems, f.String())
	}
	for _, name := range []string{"story-state.md", "party-knowledge.md", "overview.md"} {
		f, err := c.Root.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			warnings = append(warnings, name+" is missing: the table plays without it")
		} else if err == nil {
			f.Close()
		}
	}
	s, err := story.Load(workspace, campaign)
	if err != nil {
		problems = append(problems, err.Error())
	}
	blocks, closed := waysOf(c, roster, s.Scene)
	for _, o := range blocks {
		problems = append(problems, o.Error())
	}
	for _, o := range closed {
		warnings = append(warnings, o.Error())
	}
	report, err := rolls.Verify(workspace, campaign)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		problems = append(problems, rolls.Way(campaign, err).Error())
	}
	for _, b := range report.Breaks {
		warnings = append(warnings, table.DiceLogFile+": "+b.String())
	}
	problems = distinct(campaign, problems, nil)
	return problems, distinct(campaign, warnings, problems), nil
}

// distinct leaves out what is said before, however much of the path it names.
func distinct(campaign string, list, before []string) []string {
	said := map[string]bool{}
	short := func(s string) string { return strings.TrimPrefix(s, "campaigns/"+campaign+"/") }
	for _, s := range before {
		said[short(s)] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		again := said[short(s)]
		said[short(s)] = true
		return again
	})
}

// Call is one call of a table and everything that fed it.
type Call struct {
	Run string `json:"run"`
	Sources
}

// Calls reads from the records of a campaign what fed each call, in order.
func Calls(workspace, campaign string) ([]Call, error) {
	list, err := record.List(record.Dir(workspace))
	if err != nil {
		return nil, err
	}
	var out []Call
	for _, info := range list {
		if !strings.HasPrefix(info.Run, "table."+campaign+".") {
			continue
		}
		calls, err := callsOf(info)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", info.Run, err)
		}
		out = append(out, calls...)
	}
	slices.SortStableFunc(out, func(a, b Call) int { return strings.Compare(a.Run, b.Run) })
	return out, nil
}

func callsOf(info record.Info) ([]Call, error) {
	r, err := record.Open(info.Path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []Call
	for r.Next() {
		f := r.Frame()
		if f.Kind == record.KindHeader && record.Named(info.Path, r.Header()) != nil {
			return nil, nil // a copy; the audit speaks of it
		}
		if f.Kind != record.KindLog {
			continue
		}
		if name, _ := jsontext.String(jsontext.Get(f.Payload, "event")); name != EventSources {
			continue
		}
		c := Call{Run: info.Run}
		if err := json.Unmarshal(jsontext.Get(f.Payload, "context"), &c.Sources); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, r.Err()
}

// Trespasses are sources that fed a call although its seat may not read them.
func (c Call) Trespasses() []string {
	reader := table.Reader{Role: policy.Role(c.Role), Character: c.Character, GMReadsJournals: true}
	var out []string
	for _, s := range c.Sources.Sources {
		if !strings.HasPrefix(s.Path, "engine:") && !reader.May(s.Path) {
			out = append(out, s.Path)
		}
	}
	return out
}

// Findings are what the files of a campaign say about secrets that they should
// not: tags that are not clear, secrets that stand where others read them.
func Findings(workspace, campaign string, caps table.Caps) ([]table.Finding, error) {
	c, err := table.OpenCampaign(workspace, campaign)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Findings(caps)
}

// Records are the files of a campaign's records.
func Records(workspace, campaign string) ([]string, error) {
	list, err := record.List(record.Dir(workspace))
	var out []string
	for _, info := range list {
		if strings.HasPrefix(info.Run, "table."+campaign+".") {
			out = append(out, info.Path)
		}
	}
	return out, err
}
