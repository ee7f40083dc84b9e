package room

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"conclave/agent"
)

// guestPlace is where a sealed room is, as its program sees it.
const guestPlace = "/room"

// Room is a locked room. It implements agent.Launcher. Its methods are safe
// for concurrent use.
type Room struct {
	plan          Plan
	who           roomUser
	work          *roomDir
	place         agent.Place
	manifest      Manifest
	absent        []string // of the mounted view
	covered       bool     // by mounts, as the view holds other mounts
	watch         *watch   // over the mounted view
	gatewayServer *gatewayServer

	mu      sync.Mutex
	closed  bool
	exposed error // why nothing runs here any more
	running map[*process]struct{}
	shown   Enforcement
}

// roomUser is the user in whose name a program runs.
type roomUser struct {
	uid, gid int
	separate bool // somebody else than this process
}

// initialised says that Init was called.
var initialised atomic.Bool

// Init must be the first call of main and of TestMain. In a helper process it does
// the helper's work and does not return. Without it no room with a lock opens: its
// helpers would run the whole program once more.
func Init() {
	beHelper()
	initialised.Store(true)
}

// Open makes a room and fills it. It starts nothing; whether the level can be
// shown is known when a program starts, or from Check.
func Open(ctx context.Context, p Plan) (*Room, error) {
	p, err := p.normal()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open room: %w", err)
	}
	if p.level() != Advisory && !initialised.Load() {
		return nil, errors.New("open room: this program did not begin with room.Init, and cannot be the room's helper")
	}
	if p.cannot = p.mustFallBack(ctx); p.cannot != "" && available(p.Fallback) != nil {
		p.cannot = "" // refused for the level that is required
	}
	if err := available(p.level()); err != nil {
		return nil, &levelError{p.level(), p.Role, err, hintFor(p.level())}
	}
	who, err := newRoomUser(p.level())
	if err != nil {
		return nil, err
	}
	work, err := makeRoomDir(p.Base, who, p.Role)
	if err != nil {
		return nil, err
	}
	r := &Room{plan: p, who: who, work: work, running: map[*process]struct{}{}}
	if err := r.furnish(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Room) furnish() error {
	r.show(Enforcement{})
	r.place = agent.Place{Host: r.work.place(), Guest: r.work.place()}
	if r.mounts() {
		r.place.Guest = guestPlace
	}
	root, err := os.OpenRoot(r.place.OnHost(agent.WorkDir))
	if err != nil {
		return fmt.Errorf("open room: %w", err)
	}
	defer root.Close()
	copied := r.plan.Workspace
	if r.mounts() {
		copied = nil
	}
	if r.manifest, err = fill(diskSink{root, r.who}, r.plan.Grants, copied, r.plan.Limits); err != nil {
		return fmt.Errorf("open room: %w", err)
	}
	if v := r.plan.Workspace; v != nil && r.mounts() {
		if err := r.survey(*v, root); err != nil {
			return fmt.Errorf("open room: %w", err)
		}
	}
	r.gatewayServer, err = newGatewayServer(r.plan.Gateway, r.mounts())
	return err
}

// survey prepares a mounted view: what is absent, and where it is mounted.
func (r *Room) survey(v View, work *os.Root) error {
	if within(v.Source, r.plan.Base) {
		return fmt.Errorf("%w: the rooms (%s) lie in the workspace: set TMPDIR to a directory elsewhere", ErrRefused, r.plan.Base)
	}
	var err error
	if r.watch, err = openWatch(v, r.plan.Limits, r.expose); err != nil {
		return err
	}
	seen, m, err := surveyView(v, r.plan.Limits, r.watch)
	if err != nil {
		return err
	}
	r.absent, r.covered = absentFrom(v, seen.masks), len(seen.mounts) > 0
	r.watch.start(r.absent)
	r.manifest.Items = append(r.manifest.Items, m.Items...)
	r.manifest.LeftOut = append(r.manifest.LeftOut, m.LeftOut...)
	at := filepath.FromSlash(v.Name)
	if err := work.MkdirAll(at, 0o700); err != nil {
		return err
	}
	if entries, err := readDir(work, at); err != nil || len(entries) > 0 {
		return errors.Join(err, refuse(v.Name, "a grant already stands where the workspace is mounted"))
	}
	return nil
}

// mounts reports whether the room has a file system of its own.
func (r *Room) mounts() bool { return r.plan.level() == Sealed && sealedMounts }

// Place is the room's directory tree.
func (r *Room) Place() agent.Place { return r.place }

// Role is who lives in the room.
func (r *Room) Role() string { return r.plan.Role }

// Level is the level that the room is built for; what was shown stands in the
// Enforcement.
func (r *Room) Level() Level { return r.plan.level() }

// GatewayURL is where the program finds the gateway, empty without one.
func (r *Room) GatewayURL() string {
	if r.gatewayServer == nil {
		return ""
	}
	return r.gatewayServer.url()
}

// Manifest says what was put into the room.
func (r *Room) Manifest() Manifest { return r.manifest }

// Enforcement says what was shown when a program last started. Before that it
// claims nothing.
func (r *Room) Enforcement() Enforcement {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}

func (r *Room) show(e Enforcement) {
	e.Required, e.Fallback = r.plan.Level, r.plan.cannot
	if len(r.plan.Forwards) > 0 {
		e.Forwards = r.plan.Forwards
		if e.Level == Sealed {
			e.Level = Forwarded
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = e
}

// Close kills what still runs in the room and removes it. It is idempotent.
func (r *Room) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	running := slices.Collect(maps.Keys(r.running))
	r.mu.Unlock()

	var errs []error
	for _, p := range running {
		errs = append(errs, stopNow(p)) // no ladder: whoever wanted one has called Stop
	}
	if r.gatewayServer != nil {
		errs = append(errs, r.gatewayServer.close())
	}
	if r.watch != nil {
		errs = append(errs, r.watch.close())
	}
	return errors.Join(append(errs, r.work.remove())...)
}

// enter notes a running program, unless the room is closed.
func (r *Room) enter(p *process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	if r.exposed != nil {
		return r.exposed
	}
	r.running[p] = struct{}{}
	return nil
}

// expose ends what runs in the room, for good.
func (r *Room) expose(why error) {
	r.mu.Lock()
	if r.exposed == nil {
		r.exposed = why
	}
	running := slices.Collect(maps.Keys(r.running))
	r.mu.Unlock()
	for _, p := range running {
		p.end(why)
	}
}

func (r *Room) leave(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, p)
}

// listen opens the door of a room that shares this system's network.
func listen() (net.Listener, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the way to the gateway: %w", err)
	}
	return l, nil
}
