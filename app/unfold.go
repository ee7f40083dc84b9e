package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/collect"
	"conclave/internal/screen"
	"conclave/session"
	"conclave/transcript"
)

// stores says where sessions lie as lines that their programs keep otherwise.
func (a *App) stores() session.Stores {
	return session.Stores{Spool: filepath.Join(a.cacheDir(), "sessions"), Own: session.DefaultStores(a.Getenv)}
}

// unfold makes lines of what the stores at paths hold, and returns where they
// are. A store that cannot be read keeps nobody from the rest.
func (a *App) unfold(ctx context.Context, paths []string) []string {
	dirs, err := a.stores().Unfold(ctx, paths)
	if err != nil && ctx.Err() == nil {
		a.show(Warning{screen.Sprintf("%v", err)})
	}
	return dirs
}

// unfoldEvery is how often stores are looked at that are being followed. A look
// at one that has not changed costs nothing; after one that took long comes a
// longer pause.
const unfoldEvery = time.Second

// keepUnfolding does it again and again, until the function that it returns is
// called.
func (a *App) keepUnfolding(ctx context.Context, paths []string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		pause := unfoldEvery
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			began := time.Now()
			// What is wrong was said at the start, and is said at the end.
			_, _ = a.stores().Unfold(ctx, paths)
			pause = max(unfoldEvery, 20*time.Since(began))
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// unfolder unfolds the programs' own stores when somebody says that they have
// changed: to look at all of them all the time would cost more than everything else
// that waits.
type unfolder struct {
	app  *App
	own  []string // where they are
	wake chan struct{}

	mu      sync.Mutex
	pending []string // what has changed
}

func newUnfolder(a *App) *unfolder {
	return &unfolder{app: a, own: session.DefaultStores(a.Getenv), wake: make(chan struct{}, 1)}
}

// changed takes files that have changed; none: any may have.
func (u *unfolder) changed(changed []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(changed) == 0 {
		u.pending = u.own
	}
	for _, path := range changed {
		store := strings.TrimSuffix(strings.TrimSuffix(path, "-wal"), "-journal") // a database is written beside itself
		if session.IsStore(store) && !slices.Contains(u.pending, store) {
			u.pending = append(slices.Clip(u.pending), store)
		}
	}
	if len(u.pending) > 0 {
		select {
		case u.wake <- struct{}{}:
		default:
		}
	}
}

// take is what is to be looked at.
func (u *unfolder) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	paths := u.pending
	u.pending = nil
	return paths
}

// run unfolds until ctx ends.
func (u *unfolder) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.wake:
		}
		began := time.Now()
		_, _ = u.app.stores().Unfold(ctx, u.take()) // what cannot be read is said by who asks for it
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(unfoldEvery, 20*time.Since(began))):
		}
	}
}

// unfoldFiles puts the files of its sessions in the place of each store.
func (a *App) unfoldFiles(ctx context.Context, files []string) (list []string, err error) {
	for _, f := range files {
		path := a.AbsPath(f)
		if !session.IsStore(path) {
			list = append(list, f)
			continue
		}
		dirs, err := a.stores().Unfold(ctx, []string{path})
		if err != nil {
			return nil, noError("%w", err)
		}
		for _, dir := range dirs {
			found, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
	}
	return list, nil
}

// mapFiles maps what is at path, and keeps nothing of what it had to unfold.
func (a *App) mapFiles(
	ctx context.Context, path string, out transcript.Store, o collect.MapOptions,
) (b Balance, err error) {
	spool, err := os.MkdirTemp("", "conclave-map-")
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(spool)) }()
	dirs, err := session.Stores{Spool: spool}.Unfold(ctx, []string{path})
	if err != nil {
		return b, err
	}
	if !session.IsStore(path) {
		dirs = append([]string{path}, dirs...)
	}
	return collect.Map(ctx, dirs, out, o)
}
