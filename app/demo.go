package app

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"conclave/agent"
	"conclave/agent/scripted"
	"conclave/audit"
	"conclave/internal/screen"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
	"conclave/table"
	tableflow "conclave/table/flow"
	"conclave/transcript"
)

//go:embed demo
var demoFiles embed.FS

type demo struct {
	app    *App // in the demo's own workspace
	root   string
	script *scripted.Script
}

// Demo plays a short scene in a workspace of its own, and keeps that where the
// person says so.
func (a *App) Demo(ctx context.Context, keep string) (err error) {
	root := a.AbsPath(keep)
	if keep == "" {
		if root, err = os.MkdirTemp("", "conclave-demo-"); err != nil {
			return environmentError("%w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	}
	inside := *a
	inside.Dir, inside.Root = root, ""
	d := &demo{app: &inside, root: root}
	if err := d.prepare(); err != nil {
		return environmentError("%w", err)
	}
	for _, act := range []func(context.Context) error{d.consult, d.look, d.walls, d.confront, d.table, d.judge} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare lays out a workspace with a quest and some work.
func (d *demo) prepare() error {
	for name, to := range map[string]string{
		"quest.md": quest.QuestFile, "CHECKLIST.md": "CHECKLIST.md", "REHEARSAL.md": "REHEARSAL.md",
	} {
		data, err := demoFiles.ReadFile("demo/" + name)
		if err != nil {
			return err
		}
		file := filepath.Join(d.root, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	src, err := demoFiles.ReadFile("demo/party.script")
	if err != nil {
		return err
	}
	d.script, err = scripted.Parse(src)
	return err
}

func (d *demo) say(format string, args ...any) { d.app.show(Remark{screen.Sprintf(format, args...)}) }

func (d *demo) heading(text string) { d.say("\n%s", screen.Bold(text)) }

func (d *demo) furnish(ctx context.Context, role policy.Role, work ...string) (flow.Furnishing, error) {
	return d.app.furnish(ctx, RoomOf{Role: string(role), Work: work})
}

// open seats a scripted agent.
func (d *demo) open(ctx context.Context, role policy.Role, work ...string) (*seat.Seat, error) {
	f, err := d.furnish(ctx, role, work...)
	if err != nil {
		return nil, err
	}
	return seat.Open(ctx, seat.Plan{
		Workspace: d.root, Run: record.NewRunID(time.Now()), Role: string(role), PromptName: "demo." + string(role),
		Program: "conclave " + d.app.Version, Agent: &scripted.Agent{Script: d.script}, InProcess: true,
		Room: f.Plan, Denied: f.Denied,
	})
}

// watch prints in one line what the agent did besides speaking.
func (d *demo) watch(e agent.Event) {
	if e.Entry == nil {
		return
	}
	var detail struct {
		Text, Content string
		Input         struct{ Path string }
		IsError       bool `json:"is_error"`
	}
	if err := json.Unmarshal(e.Entry.Detail, &detail); err != nil {
		return
	}
	first, _, _ := strings.Cut(detail.Content, "\n")
	switch e.Entry.Type {
	case transcript.Thinking:
		d.say("%s", screen.Dim("   · thinks: "+detail.Text))
	case transcript.ToolUse:
		d.say("%s", screen.Dim("   · reads "+detail.Input.Path))
	case transcript.ToolResult:
		word := "     and finds: " + first + " …"
		if detail.IsError {
			word = "     and finds nothing there"
		}
		d.say("%s", screen.Dim(word))
	}
}

func (d *demo) turn(ctx context.Context, s *seat.Seat, role policy.Role, id string, parts ...audit.Part) error {
	for _, p := range parts {
		if p.Origin == audit.FromPerson {
			d.say("\n%s %s", screen.Bold("User:"), screen.Indent("  ", p.Text))
		}
	}
	reply, err := s.Take(ctx, seat.Turn{ID: id, Parts: parts, Watch: d.watch})
	if err != nil {
		return err
	}
	who, _ := profile.Lookup(string(role))
	face := profile.NewFace(who, nil)
	d.say("\n%s %s", screen.Bold(face.Emoji()+" "+face.Name()+":"), screen.Indent("  ", reply.Text))
	return nil
}

func (d *demo) consult(ctx context.Context) error {
	d.say("%s", screen.Bold("1. A consultation, word for word"))
	s, err := d.open(ctx, policy.Cat)
	if err != nil {
		return err
	}
	for i, words := range []string{"We want to ship on Friday. What do you see?", "Mara ran it on Thursday, on a copy. It is written down."} {
		if err := d.turn(ctx, s, policy.Cat, fmt.Sprintf("consult-%d", i+1), audit.Part{Origin: audit.FromPerson, Text: words}); err != nil {
			return err
		}
	}
	_, err = s.Close(ctx, "done")
	return err
}

// look shows what the Dragon would see.
func (d *demo) look(ctx context.Context) error {
	d.heading("2. The Dragon's room")
	v, err := d.app.ShowRoom(ctx, RoomOf{Role: "dragon", Work: []string{"CHECKLIST.md", "REHEARSAL.md"}})
	if err == nil {
		d.app.show(v)
	}
	return err
}

// walls tries, with a real program in the real room, to read the quest.
func (d *demo) walls(ctx context.Context) error {
	d.heading("3. Its walls, tried by a real program")
	secret := filepath.Join(d.root, filepath.FromSlash(quest.QuestFile))
	f, err := d.furnish(ctx, policy.Dragon, "REHEARSAL.md")
	if err != nil {
		return err
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		d.say("there is no cat on this machine; nothing was tried")
		return nil
	}
	r, err := room.Open(ctx, f.Plan)
	if err == nil {
		defer r.Close()
		var null *os.File
		if null, err = os.Open(os.DevNull); err == nil {
			defer null.Close()
			err = r.Run(ctx, agent.Command{Path: cat, Args: []string{secret}, Dir: r.Place().InGuest(agent.WorkDir)}, room.Stdio{In: null, Out: null, Err: null})
		}
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, room.ErrLevel):
		d.say("rooms cannot be sealed on this machine, so no evaluator would start here: %v", err)
		return nil
	case err == nil:
		return noError("a program in the Dragon's room read %s: the wall does not hold", secret)
	case !errors.As(err, &exit):
		return err
	}
	e := r.Enforcement()
	held := 0
	for _, p := range e.Probes {
		if p.Holds() {
			held++
		}
	}
	d.say("$ cat %s      %s", quest.QuestFile, screen.Green("no such file"))
	d.say("%s by %s: %d things were possible outside and impossible inside", e.Level, e.Mechanism, held)
	return nil
}

func (d *demo) confront(ctx context.Context) error {
	d.heading("4. The Dragon judges the work, not the workers")
	s, err := d.open(ctx, policy.Dragon, "CHECKLIST.md", "REHEARSAL.md")
	if err != nil {
		return err
	}
	if err := d.turn(ctx, s, policy.Dragon, "confront", audit.Part{Origin: audit.FromEngine, Text: "Judge the work in this room by the criteria."}); err != nil {
		return err
	}
	_, err = s.Close(ctx, "done")
	return err
}

// table plays the beginning of the first adventure, with a veto and a secret,
// and shows one moment on three screens.
func (d *demo) table(ctx context.Context) (err error) {
	d.heading("5. A table: what each of them did in secret, on three screens")
	if err := d.app.NewTable("weir", DefaultAdventure, nil); err != nil {
		return err
	}
	w, err := d.app.OpenWorkspace()
	if err != nil {
		return err
	}
	show := d.app.newTableScreen(nil, nil).show
	var moment tableflow.Notice
	t, err := tableflow.Open(ctx, tableflow.Options{
		Workspace: d.root, Campaign: "weir", Cast: w.TableCast("weir", nil, true), Auto: true, Purpose: "demo", Program: "conclave " + d.app.Version,
		Show: func(n tableflow.Notice) {
			switch {
			case n.Cycle == 1 || n.Cycle == 0 && moment.Kind == "":
				show(n)
			case n.Kind == "narrative":
				moment = n
			}
		},
	})
	if err != nil {
		return tableError("weir", err)
	}
	err = errors.Join(t.Play(ctx, tableflow.Play{Seat: table.SeatTable, MaxTurns: 2, EndAt: true}), t.Close())
	for _, who := range []string{"bram-oatley", "corin-vale", "ysolde-marrow"} {
		d.say("\n%s\n  %s", screen.Bold("On "+who+"'s screen:"), screen.Indent("  ", lastPart(moment.For(who))))
	}
	return tableError("weir", err)
}

// lastPart leaves out the scene that everybody has read already.
func lastPart(text string) string {
	if _, alone, ok := strings.Cut(text, "Nobody saw it. "); ok {
		return "Nobody saw it. " + strings.TrimSpace(alone)
	}
	return text
}

// judge asks the record who knew what.
func (d *demo) judge(context.Context) error {
	d.heading("6. Who knew what? The record answers")
	reports, err := d.app.Audit(nil)
	if err == nil || Said(err) {
		d.app.show(Audited{reports})
	}
	return err
}
