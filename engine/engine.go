package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"conclave/internal/lockfile"
)

// Flow is one kind of interaction. Its name and version are recorded with each
// interaction and must be found again to resume it.
type Flow struct {
	Name    string
	Version int
	Run     func(r *Run, input json.RawMessage) (json.RawMessage, error)
}

func (f Flow) registered() string { return fmt.Sprintf("%s/v%d", f.Name, f.Version) }

// Engine runs the interactions of one scope of one workspace. Its methods are
// safe for concurrent use.
type Engine struct {
	opts   Options
	lock   *lockfile.Lock
	root   *os.Root
	flows  map[string]Flow // by name/vN
	newest map[string]Flow // by name

	following sync.WaitGroup // goroutines that wait for ends

	mu      sync.Mutex
	session *session
	live    map[string]*live  // asked for in this process, by id
	offers  map[string]*offer // branches of live ones, by id
	closed  bool
}

// Open takes the lock of the scope and opens its database. It runs nothing.
// When the lock is in other hands the error is a *lockfile.HeldError that names
// the holder, unless Options.Wait is set. The caller must Close the engine.
func Open(ctx context.Context, o Options) (*Engine, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	e := &Engine{opts: o, flows: map[string]Flow{}, newest: map[string]Flow{},
		live: map[string]*live{}, offers: map[string]*offer{}}
	if err := e.register(o.Flows); err != nil {
		return nil, err
	}
	for _, dir := range []string{o.database(), o.lock()} {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return nil, fmt.Errorf("open engine: %w", err)
		}
	}
	var err error
	if e.root, err = os.OpenRoot(o.Dir); err != nil {
		return nil, fmt.Errorf("open engine: %w", err)
	}
	if e.lock, err = takeLock(ctx, o); err != nil {
		e.root.Close()
		return nil, err
	}
	if e.session, err = e.newSession(ctx); err != nil {
		return nil, errors.Join(err, e.lock.Unlock(), e.root.Close())
	}
	return e, nil
}

func takeLock(ctx context.Context, o Options) (*lockfile.Lock, error) {
	purpose := cmp.Or(o.Purpose, o.Scope)
	if o.Wait {
		return lockfile.WaitLock(ctx, o.lock(), purpose)
	}
	return lockBriefly(ctx, o.lock(), purpose)
}

func (e *Engine) register(flows []Flow) error {
	for _, f := range flows {
		name := f.registered()
		if _, dup := e.flows[name]; dup {
			return fmt.Errorf("open engine: flow %s is given twice", name)
		}
		if f.Name == "" || f.Version < 1 || f.Run == nil {
			return fmt.Errorf("open engine: flow %s: a flow has a name, a version from 1 and a function", name)
		}
		e.flows[name] = f
		if f.Version > e.newest[f.Name].Version {
			e.newest[f.Name] = f
		}
	}
	return nil
}

// Close stops what runs, leaving it open, and frees the lock. It returns when
// nothing of the engine is left. Further calls do nothing.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	s := e.session
	e.mu.Unlock()
	var err error
	if s != nil {
		err = s.close()
	}
	e.following.Wait()
	return errors.Join(err, e.lock.Unlock(), e.root.Close())
}

// Drain waits until nothing runs any more: every interaction of this process,
// background ones too, has ended or was cut. It returns the errors of the
// background ones that were cut, once each.
func (e *Engine) Drain(ctx context.Context) error {
	var errs []error
	seen := map[*live]bool{}
	for {
		l := e.anyRunning(seen)
		if l == nil {
			return errors.Join(errs...)
		}
		seen[l] = true
		select {
		case <-l.stopped:
		case <-ctx.Done():
			return errors.Join(append(errs, ctx.Err())...)
		}
		if err := l.unreported(); err != nil {
			errs = append(errs, &CutError{ID: l.id, Err: err})
		}
	}
}

func (e *Engine) anyRunning(except map[*live]bool) *live {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.live {
		if !except[l] {
			return l
		}
	}
	return nil
}

func (e *Engine) crash(label string) {
	if e.opts.CrashPoint != nil {
		e.opts.CrashPoint(label)
	}
}

func (e *Engine) find(id string) *live {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live[id]
}

// forget takes an interaction that ended out of memory.
func (e *Engine) forget(l *live) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live[l.id] == l {
		delete(e.live, l.id)
	}
}

// closeTimeout bounds how long Close waits for steps that do not heed their
// context.
const closeTimeout = 20 * time.Second

// handle is what a started or resumed interaction is followed through.
type handle = dbos.WorkflowHandle[outcome]
