package app

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"conclave/archive/runs"
	"conclave/collect"
	"conclave/record"
	"conclave/session"
)

// Change says that a run has grown, or stands otherwise.
type Change struct {
	Run     string     `json:"run"`
	Entries int        `json:"entries"`
	Epoch   *int       `json:"epoch,omitempty"` // of its index, where somebody has asked for that
	State   runs.State `json:"state"`
	Last    string     `json:"last"`
	LastAt  time.Time  `json:"last_at,omitzero"`
	Cost    *float64   `json:"cost_usd"` // as that of a run
	AtLeast bool       `json:"cost_at_least"`
	Tokens  int64      `json:"tokens"`
}

// Hearing is whom Live tells what; each is called from one goroutine.
type Hearing struct {
	Run   func(Change)
	Now   func() // a quest or a table stands otherwise, in some workspace
	Marks func() // another process has marked something
}

const (
	// pollOthers is how often is looked whether another process has refreshed the
	// archive.
	pollOthers = 500 * time.Millisecond
	// lookEverywhere is how often all files are looked at: no system promises that
	// it tells of every change.
	lookEverywhere = time.Minute
)

// Live keeps the archive fresh until ctx ends, and tells which runs have changed,
// from one goroutine: files of which the system says that they have changed are
// taken up at once, and nothing else is looked at.
func (l *Library) Live(ctx context.Context, to Hearing) error {
	roots, err := l.liveRoots()
	if err != nil {
		return err
	}
	paths := make(chan []string)
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stores := newUnfolder(l.app)
	watching.Go(func() { stores.run(ctx) })
	watching.Go(func() {
		// Without file events there is the look every now and then.
		_ = collect.Changes(ctx, allOf(roots, stores.own), func(changed []string) {
			select {
			case paths <- changed:
			case <-ctx.Done():
			}
		})
	})
	f := follower{l, roots, to, 0}
	f.everywhere(ctx)
	defer func() { _ = l.shelf.Keep() }() // without it the next start takes longer
	watching.Go(func() {
		_ = l.shelf.ReadAhead(ctx, time.Now()) // who asks for it is told what is wrong
		_ = l.shelf.Keep()
	})
	others, all := time.NewTicker(pollOthers), time.NewTicker(lookEverywhere)
	defer others.Stop()
	defer all.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case changed := <-paths:
			if stores.changed(changed); len(changed) == 0 {
				f.everywhere(ctx)
			} else {
				f.files(ctx, changed)
			}
		case <-others.C:
			f.others(ctx)
		case <-all.C:
			stores.changed(nil)
			f.everywhere(ctx)
		}
	}
}

// allOf are the names in either list, each once.
func allOf(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// liveRoots are where sessions and records are: of this workspace, of the programs,
// and of the workspaces that the archive knows or that were noted.
func (l *Library) liveRoots() ([]string, error) {
	root, err := l.app.findRoot()
	if err != nil {
		return nil, err
	}
	roots := append([]string{record.Dir(root)}, session.DefaultRoots(l.app.Getenv)...)
	roots = append(roots, l.app.stores().OwnSpool())
	known := map[string]bool{}
	for _, r := range roots {
		known[r] = true
	}
	files := l.shelf.Records()
	at := l.places.at(l.shelf.Places)
	for _, n := range l.app.noted() {
		if slices.Contains(at, n.root) {
			files = append(files, filepath.Join(record.Dir(n.root), "any"))
		}
	}
	for _, file := range files {
		if dir := filepath.Dir(file); !known[dir] && filepath.Base(filepath.Dir(dir)) == ".conclave" {
			known[dir], roots = true, append(roots, dir)
		}
	}
	return roots, nil
}

// follower takes up what changes. What goes wrong it says to the person, and goes
// on: the next look may succeed.
type follower struct {
	*Library
	roots   []string
	to      Hearing
	version int64 // of the archive, as it was taken up
}

func (f *follower) files(ctx context.Context, paths []string) {
	if _, err := f.archive.RefreshFiles(ctx, paths); err != nil {
		f.complain(ctx, err)
		return
	}
	f.tell(ctx, paths...)
}

func (f *follower) everywhere(ctx context.Context) {
	if roots, err := f.liveRoots(); err == nil { // a workspace may have been noted
		f.roots = roots
	}
	if _, _, err := f.archive.TryRefresh(ctx, f.roots); err != nil {
		f.complain(ctx, err)
	}
	f.tell(ctx)
}

// others takes up what other processes have done: in the archive, in workspaces,
// and in the marks.
func (f *follower) others(ctx context.Context) {
	if f.places.changed() {
		f.to.Now()
	}
	if f.marks.changed() {
		f.to.Marks()
	}
	if v, err := f.archive.Version(ctx); err == nil && v != f.version {
		f.tell(ctx)
	}
}

// tell tells which runs have changed in files, or in any.
func (f *follower) tell(ctx context.Context, paths ...string) {
	version, err := f.archive.Version(ctx)
	if err != nil {
		f.complain(ctx, err)
		return
	}
	names, err := f.shelf.Update(ctx, paths...)
	if err != nil {
		f.complain(ctx, err)
		return
	}
	f.version = version
	now := time.Now()
	for _, name := range names {
		r, ok, err := f.shelf.One(ctx, name, now)
		if err != nil || !ok {
			continue // who opens it is told why
		}
		c := Change{Run: name, Entries: r.Entries, State: r.State, Last: r.Last, LastAt: r.LastAt,
			Cost: r.Cost, AtLeast: r.AtLeast, Tokens: r.Tokens}
		if h, err := f.shelf.Held(ctx, name); err == nil && h != nil {
			c.Epoch, c.Entries = &h.Epoch, h.Total()
		}
		f.to.Run(c)
	}
}

func (f *follower) complain(ctx context.Context, err error) {
	if ctx.Err() == nil {
		f.app.tell(err.Error())
	}
}
