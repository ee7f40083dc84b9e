package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/policy"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/quest/judging"
	"conclave/room"
)

// RoomOf says whose room is meant, with what work in it.
type RoomOf struct {
	Role   string
	Work   []string // paths
	Grants []string // keys and logins that are let in, by name
}

// furnish plans the room of a role of this workspace's quest, as the flows do,
// with the level that the person's own configuration gives to whoever is a
// program in that role. A seat at a table has no room here: its table furnishes it
// for each turn, out of what that turn is about.
func (a *App) furnish(ctx context.Context, of RoomOf) (flow.Furnishing, error) {
	role, err := a.roleAmong(of.Role, slices.DeleteFunc(policy.Roles(), policy.Role.AtTable))
	if err != nil {
		return flow.Furnishing{}, err
	}
	if role.AtTable() {
		return flow.Furnishing{}, usageError("the room of %s belongs to a table, which furnishes it for each turn: "+
			"conclave table audit NAME shows what fed its turns, conclave policy %[1]s what it may know", role)
	}
	if a.Remote != nil && len(of.Grants) > 0 {
		return flow.Furnishing{}, personsOwn("to grant something")
	}
	w, err := a.enter()
	if err != nil {
		return flow.Furnishing{}, err
	}
	if err := a.askedWork(w.root, of.Work); err != nil {
		return flow.Furnishing{}, err
	}
	if err := w.vouchForProfiles(); err != nil {
		return flow.Furnishing{}, err
	}
	granted, err := w.granted(of.Grants)
	if err != nil {
		return flow.Furnishing{}, err
	}
	f, err := flow.New(flow.Options{Root: w.root, Trust: w, Granted: granted}).Room(ctx, role, of.Work)
	var work *quest.WorkError
	switch {
	case errors.As(err, &work), errors.Is(err, judging.ErrNoWork):
		return f, usageError("%w", err)
	case err != nil:
		return f, environmentError("%w", err)
	}
	own, err := a.ownConfig()
	if err != nil {
		return f, err
	}
	if lower := own.Lower[f.Plan.Role]; lower != "" {
		f.Plan.Lower = room.Level(lower)
	}
	return f, nil
}

// Denied is a piece of the quest that a role must not know.
type Denied struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Size   int    `json:"size"`
	Reason string `json:"reason"`
	Source string `json:"source"`
}

// HeldBack is a file of the project, or of the named work, that stays outside.
type HeldBack struct {
	Path   string `json:"path"`
	Kind   string `json:"kind,omitempty"`
	Reason string `json:"reason"`
}

// RoomView is what a role would see, and what not, with reasons.
type RoomView struct {
	Name  string     `json:"-"` // as it appears in this campaign
	Role  string     `json:"role"`
	Level room.Level `json:"level"` // that its room must have at least, where a program plays it
	// Now is the room that who plays it would get now, as Played.Level has it; ""
	// where nobody does, or where that is not known.
	Now       string      `json:"now,omitempty"`
	Workspace bool        `json:"workspace"`
	Given     []room.Item `json:"given"`
	Denied    []Denied    `json:"denied"`
	// HeldBack is bounded by MaxHeldBack; HeldBackCount is how many there are.
	HeldBack      []HeldBack `json:"held_back"`
	HeldBackCount int        `json:"held_back_count"`
	// Stamps are what the receipts of such a room say.
	Stamps []string `json:"stamps,omitempty"`
}

func (RoomView) isEvent() {}

// Walls says which room the role needs, and which it would get now.
func (v RoomView) Walls() string {
	switch v.Now {
	case string(v.Level):
		return v.Now
	case "":
		return fmt.Sprintf("at least %s for a program", v.Level)
	}
	return fmt.Sprintf("at least %s for a program; now %s", v.Level, v.Now)
}

// MaxHeldBack is how many held back files are listed.
const MaxHeldBack = 1000

// ShowRoom lists the very room that a role would get. It starts nobody.
func (a *App) ShowRoom(ctx context.Context, of RoomOf) (RoomView, error) {
	f, err := a.furnish(ctx, of)
	if err != nil {
		return RoomView{}, err
	}
	r, err := room.OpenDesk(ctx, f.Plan)
	if err != nil {
		return RoomView{}, environmentError("%w", err)
	}
	m := r.Manifest()
	if err := r.Close(); err != nil {
		return RoomView{}, environmentError("%w", err)
	}
	party, err := a.party()
	if err != nil {
		return RoomView{}, err
	}
	v := RoomView{
		Name: QuestStatus{party: party}.Name(f.Plan.Role), Role: f.Plan.Role, Level: f.Plan.Level,
		Workspace: f.Plan.Workspace != nil,
		Now:       a.roomNow(f.Plan.Role), Given: append([]room.Item{}, m.Items...), Denied: []Denied{},
		HeldBack: []HeldBack{}, Stamps: f.Stamps,
	}
	for _, p := range f.Grants.Denied {
		v.Denied = append(v.Denied,
			Denied{string(p.Kind), p.Name, len(p.Bytes), p.Decision.Reason, p.Decision.Source})
	}
	for _, l := range f.LeftOut {
		v.hold(HeldBack{Path: l.Path, Kind: string(l.Kind), Reason: l.Reason})
	}
	for _, l := range m.LeftOut {
		kind, reason, ok := strings.Cut(l.Why, ": ")
		if !ok || strings.Contains(kind, " ") {
			kind, reason = "", l.Why
		}
		v.hold(HeldBack{Path: l.Path, Kind: kind, Reason: reason})
	}
	own, err := a.ownConfig()
	if err == nil && own.For(f.Plan.Role).Login && policyRole(f.Plan.Role).MayLogIn() {
		v.Stamps = append(v.Stamps, "with a credential in it; model input: not observed")
	}
	return a.shownRoom(v), err
}

// roomNow is the room that who plays a role would get now; "" where nobody plays it or
// could, and where nobody is asked, because the person has not trusted the project's
// configuration.
func (a *App) roomNow(role string) string {
	w, err := a.openWorkspace()
	if err != nil || !slices.Contains(w.config.Seats(), role) {
		return ""
	}
	switch p := w.played(role); {
	case p.Agent == "human":
		return "none: a person plays it"
	case p.Missing != "" && !p.Login:
		return ""
	default:
		return p.Level
	}
}

func (v *RoomView) hold(h HeldBack) {
	if v.HeldBackCount++; v.HeldBackCount <= MaxHeldBack {
		v.HeldBack = append(v.HeldBack, h)
	}
}

// Streams are what a program in a room reads and writes: files, for rooms hand
// descriptors on.
type Streams = room.Stdio

// NewTerminal makes a terminal of the room's own: its outer end and the one for
// the program. HasTerminals says whether this system has such.
func NewTerminal() (outer, inner *os.File, err error) {
	outer, inner, err = room.NewTerminal()
	return outer, inner, refusedHere(err)
}

// HasTerminals says whether NewTerminal works on this system.
const HasTerminals = room.HasTerminals

// RunInRoom runs a command in the very room that a role would get. connect is
// called when the room stands; it makes the streams, and runs the program with
// them.
func (a *App) RunInRoom(
	ctx context.Context, of RoomOf, command []string, connect func(run func(Streams) error) error,
) error {
	_, err := a.runInRoom(ctx, of, command, connect)
	return err
}

// runInRoom also says by what the room was locked.
func (a *App) runInRoom(
	ctx context.Context, of RoomOf, command []string, connect func(run func(Streams) error) error,
) (e room.Enforcement, err error) {
	if _, err := a.rootToChange(); err != nil {
		return e, err
	}
	f, err := a.furnish(ctx, of)
	if err != nil {
		return e, err
	}
	path := command[0]
	if !strings.HasPrefix(path, "/") {
		found, err := exec.LookPath(path)
		if err != nil {
			return e, usageError("no program is called %q", path)
		}
		path = found
	}
	r, err := room.Open(ctx, f.Plan)
	if err != nil {
		return e, environmentError("%w", err)
	}
	defer r.Close()
	if weaker := r.Weaker(); weaker != "" {
		a.tell(of.Role + ": " + weaker)
	}
	in := r.Place().InGuest
	run := agent.Command{Path: path, Args: command[1:], Dir: in(agent.WorkDir), Env: []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + in(agent.HomeDir), "TMPDIR=" + in(agent.TempDir),
		"TERM=dumb", "LANG=C.UTF-8", "PS1=" + of.Role + "$ ",
	}}
	err = connect(func(s Streams) error { return r.Run(ctx, run, s) })
	e = r.Enforcement()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, room.ErrExposed):
		return e, environmentError("%w", err)
	case errors.As(err, &exit):
		return e, noError("the command ended: %w", err)
	case errors.Is(err, room.ErrLevel):
		return e, environmentError("%w", err)
	}
	return e, err
}
