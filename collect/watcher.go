package collect

import (
	"errors"

	"github.com/fsnotify/fsnotify"
)

// event is a hint that something has changed at a path, or everywhere.
type event struct {
	path string
	all  bool
}

// watcher turns file events into hints. A nil watcher gives none. Hints may be
// missing: the collector looks by itself, too.
type watcher struct {
	w      *fsnotify.Watcher
	out    chan event
	done   chan struct{}
	dirs   map[string]bool
	failed bool
}

func newWatcher() *watcher {
	w, err := fsnotify.NewBufferedWatcher(4096)
	if err != nil {
		return nil
	}
	o := &watcher{w: w, out: make(chan event, 4096), done: make(chan struct{}), dirs: map[string]bool{}}
	go o.run()
	return o
}

func (o *watcher) run() {
	defer close(o.done)
	defer close(o.out)
	for {
		select {
		case e, ok := <-o.w.Events:
			if !ok {
				return
			}
			o.tell(event{path: e.Name}) // a change of rights counts: it may be readable now
		case err, ok := <-o.w.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				o.tell(event{all: true})
			}
		}
	}
}

// tell never waits: a collector that is that far behind looks everywhere.
func (o *watcher) tell(e event) {
	select {
	case o.out <- e:
	default:
		o.overflow()
	}
}

func (o *watcher) overflow() {
	for {
		select {
		case <-o.out:
		default:
			select {
			case o.out <- event{all: true}:
				return
			default:
			}
		}
	}
}

// add has a directory watched.
func (o *watcher) add(dir string) {
	if o == nil || o.dirs[dir] {
		return
	}
	if err := o.w.Add(dir); err != nil {
		o.failed = true // its files are found by looking
		return
	}
	o.dirs[dir] = true
}

// blind says that some directory is not being watched.
func (o *watcher) blind(roots []string) bool {
	if o == nil || o.failed {
		return true
	}
	for _, r := range roots {
		if !o.dirs[r] {
			return true
		}
	}
	return false
}

func (o *watcher) channel() <-chan event {
	if o == nil {
		return nil
	}
	return o.out
}

// poll hands over the hints that wait.
func (o *watcher) poll(take func(event)) {
	if o == nil {
		return
	}
	for {
		select {
		case e, ok := <-o.out:
			if !ok {
				return
			}
			take(e)
		default:
			return
		}
	}
}

func (o *watcher) close() error {
	if o == nil {
		return nil
	}
	err := o.w.Close()
	<-o.done
	return err
}
