package room

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watch looks at every directory of a mounted view from before it was surveyed
// until its room is closed. A name that is withheld and was there stays absent
// whatever becomes of the file behind it. What comes into view later – by
// creation, renaming, another name, another content – cannot be kept absent, for
// a program may already have it open: then the room is ended, with the reason.
// So it is when the watch itself no longer knows.
type watch struct {
	root  *os.Root
	rule  Rule
	limit int
	end   func(error) // once, with what came into view

	file *os.File
	fd   int

	mu    sync.Mutex // of dirs
	dirs  map[int32]task
	files map[int32][]string // visible files whose content decides, by their inode's watch

	turn    sync.Mutex // one batch of events at a time
	absent  map[string]bool
	moved   renames            // that began at something withheld
	left    renames            // that began at something in view
	linked  map[inode][]string // in this batch: visible files with further names
	stale   bool               // in this batch: a name stands for something else than before
	covered bool               // a mount lies over each withheld name, and falls off when that is renamed or removed
	touched error              // what would make one fall off
	mounted []int              // the views' file systems, to be told that they are stale
	later   *time.Timer        // tells them again
	ended   bool
	closed  bool
	over    chan struct{}
}

const (
	watchShown  = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE
	watchHidden = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM

	firstRefresh = 20 * time.Millisecond
	lastRefresh  = 20 * time.Second
)

// openWatch makes a watch that looks at nothing yet.
func openWatch(v View, limits Limits, end func(error)) (*watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch the workspace: %w%s", err, raise(err, "fs.inotify.max_user_instances"))
	}
	file := os.NewFile(uintptr(fd), "inotify")
	root, err := os.OpenRoot(v.Source)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("watch the workspace: %w", err)
	}
	return &watch{root: root, rule: v.Withheld, limit: limits.MaxFiles, end: end, file: file, fd: fd,
		dirs: map[int32]task{}, files: map[int32][]string{}, linked: map[inode][]string{}, over: make(chan struct{})}, nil
}

// raise names the setting that a watch ran into.
func raise(err error, setting string) string {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EMFILE) {
		return "; raise it with sysctl " + setting
	}
	return ""
}

// add begins to look at an open directory.
func (w *watch) add(fd int, dir string, hidden bool) error {
	var mask uint32 = watchShown
	if hidden {
		mask = watchHidden
	}
	wd, err := unix.InotifyAddWatch(w.fd, "/proc/self/fd/"+strconv.Itoa(fd), mask|unix.IN_ONLYDIR|unix.IN_EXCL_UNLINK)
	if err != nil {
		return fmt.Errorf("watch %s: %w%s", dir, err, raise(err, "fs.inotify.max_user_watches"))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirs[int32(wd)] = task{dir, hidden}
	return nil
}

// addFile begins to look at a visible file whose content decides about it: it
// may be written through another name, which no directory of the view has.
func (w *watch) addFile(at string) error {
	f, err := openPlain(w.root, at)
	if err != nil {
		return nil // gone again; what comes in its place is asked about then
	}
	defer f.Close()
	wd, err := unix.InotifyAddWatch(w.fd, "/proc/self/fd/"+strconv.Itoa(int(f.Fd())), unix.IN_MODIFY|unix.IN_CLOSE_WRITE)
	if err != nil {
		return fmt.Errorf("watch %s: %w%s", at, err, raise(err, "fs.inotify.max_user_watches"))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.files[int32(wd)], at) {
		w.files[int32(wd)] = append(w.files[int32(wd)], at)
	}
	return nil
}

// start begins to act on what is seen. Absent are the names that do not exist
// in the view.
func (w *watch) start(absent []string) {
	w.absent = map[string]bool{}
	for _, at := range absent {
		w.absent[at] = true
	}
	go w.attend()
}

// attend acts on events as they come, until the watch is closed.
func (w *watch) attend() {
	defer close(w.over)
	conn, err := w.file.SyscallConn()
	if err == nil {
		var failed error
		err = conn.Read(func(uintptr) bool { // waits for more as long as it is told that there was none
			failed = w.settle()
			return failed != nil
		})
		err = errors.Join(failed, err)
	}
	if !errors.Is(err, os.ErrClosed) {
		w.fail(err)
	}
}

// settle acts on everything that has happened so far, and says why the room
// has to end, if it has to.
func (w *watch) settle() error {
	w.turn.Lock()
	defer w.turn.Unlock()
	b := make([]byte, 64<<10)
	for !w.closed {
		n, err := unix.Read(w.fd, b)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return nil
		case err != nil:
			return err
		}
		w.batch(b[:n])
	}
	return os.ErrClosed
}

func (w *watch) fail(err error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.expose(fmt.Errorf("the watch over the workspace ended: %w", err))
}

// unexposed says why nothing may start, after a look at everything that has
// happened so far.
func (r *Room) unexposed() error {
	if r.watch == nil {
		return nil
	}
	if err := r.watch.settle(); err != nil {
		return fmt.Errorf("watch the workspace: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exposed
}

// expose ends the room.
func (w *watch) expose(err error) {
	if !w.ended {
		w.ended = true
		w.end(err)
	}
}

// appeared words what came into view.
func appeared(at, why string) error {
	return fmt.Errorf("%w: %s came into the workspace's view (%s); ask again", ErrExposed, at, why)
}

func (w *watch) batch(b []byte) {
	w.stale = false
	for len(b) >= unix.SizeofInotifyEvent && !w.ended {
		var e event
		e, b = nextEvent(b)
		w.handle(e)
	}
	w.checkLinked()
	if w.stale && !w.ended {
		w.refresh(firstRefresh)
	}
}

// handle acts on one event.
func (w *watch) handle(e event) {
	if e.is(unix.IN_Q_OVERFLOW) {
		w.expose(fmt.Errorf("%w: more changed in the workspace than can be watched; ask again, or raise sysctl fs.inotify.max_queued_events", ErrExposed))
		return
	}
	w.mu.Lock()
	in, known := w.dirs[e.wd]
	names := w.files[e.wd]
	if e.is(unix.IN_IGNORED) {
		delete(w.dirs, e.wd)
		delete(w.files, e.wd)
	}
	w.mu.Unlock()
	for _, at := range names {
		if why := w.rule.ask(w.root, at, false); why != "" && !w.absent[at] {
			w.expose(appeared(at, why))
			return
		}
	}
	if !known || e.name == "" {
		return
	}
	at := join(in.dir, e.name)
	if in.hidden || w.absent[at] {
		w.outOfView(at, e, in.hidden)
		return
	}
	w.inView(at, e)
}

// outOfView: what happens to a withheld name is of interest only if the file
// goes elsewhere, or a directory comes there that has to be watched too.
func (w *watch) outOfView(at string, e event, below bool) {
	if e.is(unix.IN_MOVED_FROM) {
		w.moved.begin(e.cookie, at)
	}
	if from := w.left.began(e); from != "" && !below && !e.is(unix.IN_ISDIR) {
		w.expose(appeared(from, "it became "+at+", which is withheld"))
		return
	}
	if e.is(unix.IN_ISDIR) && e.is(unix.IN_CREATE|unix.IN_MOVED_TO) {
		w.scan(task{at, true})
	}
	if !below && !e.is(unix.IN_MODIFY|unix.IN_CLOSE_WRITE) && w.touched == nil {
		w.touched = appeared(at, "it was replaced or removed, and what hid it with it")
		if w.covered {
			w.expose(w.touched)
		}
	}
}

func (w *watch) inView(at string, e event) {
	came := e.is(unix.IN_CREATE | unix.IN_MOVED_TO)
	w.stale = w.stale || came || e.is(unix.IN_DELETE|unix.IN_MOVED_FROM)
	switch from := w.moved.began(e); {
	case e.is(unix.IN_MOVED_FROM):
		w.left.begin(e.cookie, at)
		return
	case e.is(unix.IN_DELETE):
		return
	case from != "":
		w.expose(appeared(at, "it was "+from+", which is withheld"))
		return
	}
	why, looked := w.rule.asker(w.root)(at, e.is(unix.IN_ISDIR))
	if why != "" {
		w.expose(appeared(at, why))
		return
	}
	if came && looked {
		if err := w.addFile(at); err != nil {
			w.expose(fmt.Errorf("%w: %w", ErrExposed, err))
			return
		}
	}
	switch {
	case came && e.is(unix.IN_ISDIR):
		w.scan(task{dir: at})
	case came:
		w.count(at)
	}
}

// count notes a new file that has further names.
func (w *watch) count(at string) {
	fi, err := w.root.Lstat(filepath.FromSlash(at))
	if err != nil || !fi.Mode().IsRegular() {
		return // gone again, or a link, which leads to nothing that is absent
	}
	if id, links, ok := identity(fi); ok && links > 1 {
		w.linked[id] = append(w.linked[id], at)
	}
}

// scan looks at a directory that has come, with everything below it.
func (w *watch) scan(t task) {
	s := &survey{root: w.root, rule: w.rule, limit: w.limit, watch: w, workers: 1}
	if err := s.run(t); err != nil {
		w.expose(fmt.Errorf("%w: %s came into the workspace's view: %w", ErrExposed, t.dir, err))
		return
	}
	seen := s.sumUp()
	for _, m := range seen.masks {
		if !w.absent[m.Path] {
			w.expose(appeared(m.Path, m.Why))
			return
		}
	}
	for id, names := range seen.linked {
		w.linked[id] = append(w.linked[id], names...)
	}
}

// checkLinked looks whether a new name is one of a withheld file.
func (w *watch) checkLinked() {
	if len(w.linked) == 0 || w.ended {
		return
	}
	s := &survey{root: w.root, withheld: slices.Collect(maps.Keys(w.absent))}
	names, err := s.furtherNames(w.linked)
	w.linked = map[inode][]string{}
	switch {
	case err != nil:
		w.expose(fmt.Errorf("%w: a file with further names came into the workspace's view: %w", ErrExposed, err))
	case len(names) > 0:
		w.expose(appeared(names[0].Path, names[0].Why))
	}
}

// cover says that withheld names are hidden by mounts: see covered.
func (w *watch) cover() {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.covered = true; w.touched != nil {
		w.expose(w.touched)
	}
}

func (w *watch) close() error {
	w.turn.Lock()
	w.closed = true
	w.turn.Unlock()
	err := w.file.Close()
	if w.absent != nil {
		<-w.over
	}
	return errors.Join(err, w.root.Close())
}

// renames are the beginnings of the last few.
type renames []rename

type rename struct {
	cookie uint32
	from   string
}

func (r *renames) begin(cookie uint32, from string) {
	*r = append((*r)[max(0, len(*r)-63):], rename{cookie, from})
}

// began says where the rename began that ends with e; empty if not among these.
func (r renames) began(e event) string {
	for _, m := range r {
		if e.is(unix.IN_MOVED_TO) && m.cookie == e.cookie {
			return m.from
		}
	}
	return ""
}

// event is one thing that happened.
type event struct {
	wd           int32
	mask, cookie uint32
	name         string
}

func (e event) is(mask uint32) bool { return e.mask&mask != 0 }

func nextEvent(b []byte) (event, []byte) {
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	e := event{wd: int32(u32(0)), mask: u32(4), cookie: u32(8)}
	end := unix.SizeofInotifyEvent + int(u32(12))
	e.name = unix.ByteSliceToString(b[unix.SizeofInotifyEvent:end])
	return e, b[end:]
}

// mountedView is the file system of a view that a program sees. It remembers
// what its names stood for; when one stands for something else it is told to
// forget.
type mountedView struct {
	w  *watch
	fd int
}

// keepFresh takes a descriptor by which the file system of a view is set up
// again. The view is no longer told anything when what is returned is closed.
func (w *watch) keepFresh(fd int) *mountedView {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.mounted = append(w.mounted, fd)
	return &mountedView{w, fd}
}

func (m *mountedView) Close() error {
	m.w.turn.Lock()
	defer m.w.turn.Unlock()
	m.w.mounted = slices.DeleteFunc(m.w.mounted, func(fd int) bool { return fd == m.fd })
	return unix.Close(m.fd)
}

// refresh makes the views forget what they remember: setting a file system up
// again drops all names that nobody has open. What somebody had open at this
// moment is dropped by one of the next.
func (w *watch) refresh(next time.Duration) {
	for _, fd := range w.mounted {
		_ = unix.FsconfigSetFlag(fd, "ro") // else it would ask for more than it has
		_ = unix.FsconfigReconfigure(fd)   // at worst a program reads what stood there before
	}
	if w.later != nil {
		w.later.Stop()
	}
	if len(w.mounted) == 0 || next > lastRefresh {
		return
	}
	w.later = time.AfterFunc(next, func() {
		w.turn.Lock()
		defer w.turn.Unlock()
		if !w.closed {
			w.refresh(next * 10)
		}
	})
}
