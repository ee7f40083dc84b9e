package mcp

import (
	"context"
	"fmt"
	"strings"

	"conclave/app"
)

type nothing struct{}

type criterion struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Check  string `json:"check,omitempty" jsonschema:"the command that decides it"`
}

type conversation struct {
	Name    string `json:"name" jsonschema:"the resource conclave://conversation/NAME"`
	Agent   string `json:"agent,omitempty"`
	Date    string `json:"date,omitempty"`
	Purpose string `json:"purpose,omitempty"`
}

type statusOut struct {
	answer
	Workspace     string         `json:"workspace,omitempty"`
	Title         string         `json:"title,omitempty"`
	Mode          string         `json:"mode,omitempty"`
	Phase         int            `json:"phase,omitempty"`
	PhaseName     string         `json:"phase_name,omitempty"`
	Criteria      []criterion    `json:"criteria,omitempty" jsonschema:"by which the Dragon judges"`
	Checkpoint    string         `json:"last_checkpoint,omitempty"`
	Confrontation string         `json:"last_confrontation,omitempty"`
	Conversations []conversation `json:"conversations,omitempty"`
	Open          []string       `json:"open,omitempty" jsonschema:"what was interrupted, or is under way elsewhere"`
	Holder        string         `json:"holder,omitempty" jsonschema:"who is at the quest now"`
	Problem       string         `json:"problem,omitempty"`
	Next          []offer        `json:"next,omitempty"`
}

type logIn struct {
	Text string `json:"text,omitempty" jsonschema:"a line to add, of what is done; nothing to read the log"`
}

type entry struct {
	Number int    `json:"number"`
	Label  string `json:"label,omitempty"`
	Text   string `json:"text"`
	Date   string `json:"date,omitempty"`
}

type logOut struct {
	answer
	Entries []entry `json:"entries,omitempty" jsonschema:"oldest first"`
}

type roomIn struct {
	Role string   `json:"role" jsonschema:"bear, cat, owl, puppy, rabbit, wolf, gandalf, simon, guardian or dragon"`
	Work []string `json:"work,omitempty" jsonschema:"for guardian and dragon: what would be judged"`
}

type given struct {
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	Files int    `json:"files,omitempty"`
}

type denied struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

type roomOut struct {
	answer
	Role     string   `json:"role,omitempty"`
	Level    string   `json:"level,omitempty" jsonschema:"how strongly the room is shut at least, where a program plays the role"`
	Now      string   `json:"now,omitempty" jsonschema:"how it would be shut now, by who plays the role; not there where that is not known"`
	Given    []given  `json:"given,omitempty"`
	Denied   []denied `json:"denied,omitempty" jsonschema:"what the role must not know, and why"`
	HeldBack int      `json:"held_back,omitempty" jsonschema:"files of the project that stay outside"`
	Stamps   []string `json:"stamps,omitempty"`
}

type auditIn struct {
	Run string `json:"run,omitempty" jsonschema:"the id of a run, or how it begins; nothing for all of the workspace"`
}

type auditTurn struct {
	ID       string `json:"id"`
	Level    string `json:"level" jsonschema:"that the room was shown to have"`
	Given    int    `json:"given"`
	Denied   int    `json:"denied"`
	Searched int    `json:"searched"`
	Probes   int    `json:"probes"`
	Input    string `json:"model_input"`
	Receipt  bool   `json:"receipt"`
}

type auditRecord struct {
	Run      string      `json:"run"`
	Role     string      `json:"role,omitempty"`
	Sound    bool        `json:"sound" jsonschema:"digests and chain verify"`
	Sealed   bool        `json:"sealed"`
	Head     string      `json:"head,omitempty"`
	Turns    []auditTurn `json:"turns,omitempty"`
	Findings []string    `json:"findings,omitempty"`
}

type auditOut struct {
	answer
	Clean   bool          `json:"clean"`
	Records []auditRecord `json:"records,omitempty"`
}

type tableIn struct {
	Table string `json:"table,omitempty" jsonschema:"the campaign's name; nothing for all"`
}

type character struct {
	Name   string `json:"name"`
	Status string `json:"status,omitempty"`
	Away   bool   `json:"away,omitempty"`
}

type tableState struct {
	Name       string      `json:"name"`
	State      string      `json:"state"`
	Session    int         `json:"session"`
	Cycle      int         `json:"cycle"`
	Scene      string      `json:"scene,omitempty"`
	Place      string      `json:"place,omitempty"`
	Characters []character `json:"characters,omitempty"`
	Rolls      int         `json:"rolls"`
}

type tablesOut struct {
	answer
	Tables []tableState `json:"tables,omitempty"`
}

func (s *Server) addLooks() {
	add(s, "quest_status", "Where the quest stands",
		"The quest's title, phase, success criteria, last verdicts, conversations, and what could be done next.",
		looks, questStatus)
	add(s, "quest_log", "The quest's log",
		"Reads the quest's log, or adds a line about what is done. A line that you add says that an agent added it; "+
			"the log only grows.", atWork, questLog)
	add(s, "room_show", "What a role would see",
		"What lies in the room that a role would get now, by kind, name and size, and which kinds are kept from it and "+
			"why. No contents.", looks, roomShow)
	add(s, "audit", "Prove who knew what",
		"Judges the records of this workspace: whether each is whole and sealed, whether the rooms were shown to be "+
			"locked, and whether anything reached a role that it must not know. Of evaluators and tables it gives counts.",
		looks, auditRuns)
	add(s, "table_status", "How tables stand",
		"How the tabletop campaigns of this workspace stand: session, cycle, scene, characters. No secrets.",
		looks, tableStatus)
}

func questStatus(ctx context.Context, a *app.App, _ nothing, out *statusOut) (string, error) {
	v, err := a.QuestStatus(ctx)
	if err != nil && !app.Said(err) {
		return "", err
	}
	*out = statusOut{
		Workspace: v.Workspace, Title: v.Title, Mode: string(v.Mode), Phase: int(v.Phase), PhaseName: v.PhaseIs,
		Checkpoint: string(v.Guarded), Confrontation: string(v.Fought), Holder: v.Holder, Problem: v.Problem,
	}
	for _, c := range v.Criteria {
		out.Criteria = append(out.Criteria, criterion{c.Number, c.Text, c.Check})
	}
	for _, t := range v.Said {
		out.Conversations = append(out.Conversations, conversation{t.Name, t.Agent, t.Date, t.Purpose})
	}
	for _, o := range v.Open {
		out.Open = append(out.Open, o.What)
	}
	out.Next = offersOf(&app.Result{Offers: v.Offers})
	text := fmt.Sprintf("%s: phase %d, %s; %d criteria", v.Title, int(v.Phase), v.PhaseIs, len(v.Criteria))
	if v.None() {
		text = "no quest yet; open: " + strings.Join(out.Open, "; ")
	}
	for _, f := range v.Faults {
		text += "\n" + f.String()
	}
	return text, err
}

func questLog(ctx context.Context, a *app.App, in logIn, out *logOut) (string, error) {
	if in.Text != "" {
		if _, err := a.LogProgress(ctx, app.Talk{Once: true}, in.Text); err != nil {
			return "", err
		}
	}
	list, err := a.ProgressLog(ctx)
	var b strings.Builder
	for i, e := range list {
		out.Entries = append(out.Entries, entry{i + 1, e.Label, e.Text, e.Date})
		fmt.Fprintf(&b, "%d. %s\n", i+1, strings.TrimPrefix(e.Bullet(), "- "))
	}
	return b.String(), err
}

func roomShow(ctx context.Context, a *app.App, in roomIn, out *roomOut) (string, error) {
	v, err := a.ShowRoom(ctx, app.RoomOf{Role: in.Role, Work: in.Work})
	if err != nil {
		return "", err
	}
	*out = roomOut{Role: v.Role, Level: string(v.Level), Now: v.Now, HeldBack: v.HeldBackCount, Stamps: v.Stamps}
	for _, g := range v.Given {
		out.Given = append(out.Given, given{g.Kind, g.Path, g.Size, g.Files})
	}
	seen := map[denied]bool{}
	for _, d := range v.Denied {
		if x := (denied{d.Kind, d.Reason}); !seen[x] {
			seen[x] = true
			out.Denied = append(out.Denied, x)
		}
	}
	return fmt.Sprintf("%s (room: %s): given %d, kinds kept out %d, files held back %d",
		v.Role, v.Walls(), len(out.Given), len(out.Denied), out.HeldBack), nil
}

func auditRuns(_ context.Context, a *app.App, in auditIn, out *auditOut) (string, error) {
	var names []string
	if in.Run != "" {
		names = []string{in.Run}
	}
	reports, err := a.Audit(names)
	out.Clean = err == nil
	for _, r := range reports {
		rec := auditRecord{Run: r.Run, Role: r.Role, Sound: r.Sound, Sealed: r.Sealed, Head: r.Head}
		for _, t := range r.Turns {
			rec.Turns = append(rec.Turns,
				auditTurn{t.ID, t.Level, len(t.Given), t.Denied, t.Searched, t.Probes, t.Model, t.Receipt})
		}
		for _, f := range r.Findings {
			rec.Findings = append(rec.Findings, f.String())
		}
		out.Records = append(out.Records, rec)
	}
	if err != nil && !app.Said(err) {
		return "", err
	}
	if out.Clean {
		return fmt.Sprintf("clean, as far as %d records can show", len(reports)), nil
	}
	var b strings.Builder
	for _, r := range out.Records {
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "%s: %s\n", r.Run, f)
		}
	}
	return b.String(), err
}

func tableStatus(ctx context.Context, a *app.App, in tableIn, out *tablesOut) (string, error) {
	var b strings.Builder
	put := func(st app.TableInfo) {
		t := tableState{Name: st.Campaign, State: app.TableState(st), Session: st.Session, Cycle: st.Cycle}
		t.Rolls = st.Rolls
		if st.Scene != nil {
			t.Scene, t.Place = st.Scene.Title, st.Scene.Place
		}
		for _, c := range st.Characters {
			t.Characters = append(t.Characters, character{c.Name, string(c.Status), c.Away})
		}
		out.Tables = append(out.Tables, t)
		fmt.Fprintf(&b, "%s: %s, session %d, cycle %d\n", t.Name, t.State, t.Session, t.Cycle)
	}
	if in.Table != "" {
		st, err := a.TableStatus(ctx, in.Table)
		if err == nil {
			put(st)
		}
		return b.String(), err
	}
	list, err := a.Tables(ctx)
	for _, st := range list {
		put(st)
	}
	if len(list) == 0 {
		b.WriteString("no tables here")
	}
	return b.String(), err
}
