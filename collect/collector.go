package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"conclave/internal/lockfile"
	"conclave/internal/tail"
	"conclave/record"
	"conclave/transcript"
)

// Bounds of what is open at a time. Files at rest beyond them are closed and
// opened again when they change.
const (
	maxOpenFiles   = 200
	maxOpenRecords = 32
	// turn is how much is read of one file before the next has its turn.
	turn = 4 << 20
	// coolAfter is when a file without change is looked at less often.
	coolAfter = time.Minute
	coldLook  = 10 * time.Second
)

// Collector follows session files. Use it from one goroutine.
type Collector struct {
	o       Options
	hurry   func() bool // reading has to stop at the next line
	records string
	events  *watcher
	index   *index

	sessions map[string]*recording // by run
	writing  map[*recording]bool   // those whose records can be written
	byPath   map[string]*source
	ready    map[*source]bool
	expected map[string]string // paths that are not there yet, or not telling → how they are known
	named    map[string]bool   // Files: taken whatever they hold
	skipped  map[string]bool
	second   map[string]string // further names of files that are followed → the one by which they are
	faults   map[string]string // path → what is wrong with it

	lastNew, lastLook, lastCold, lastSearch, lastSaid time.Time
}

// New returns a collector. Nothing is read before Run.
func New(o Options) (*Collector, error) {
	if o.Workspace == "" {
		return nil, errors.New("collect: no workspace to put records into")
	}
	o.fill()
	c := &Collector{o: o, records: record.Dir(o.Workspace),
		sessions: map[string]*recording{}, writing: map[*recording]bool{}, byPath: map[string]*source{}, ready: map[*source]bool{},
		expected: map[string]string{}, named: map[string]bool{}, skipped: map[string]bool{}, second: map[string]string{},
		faults: map[string]string{}}
	c.o.Roots = slices.Clone(o.Roots)
	for i, p := range o.Roots {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, fmt.Errorf("collect: %w", err)
		}
		c.o.Roots[i] = abs
	}
	for _, p := range o.Files {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, fmt.Errorf("collect: %w", err)
		}
		c.named[abs] = true
		c.expected[abs] = "import"
	}
	return c, nil
}

// Run collects until ctx ends, or until there is nothing more to do when that
// was asked for; then it reads every file to its end (see StopWithin) and
// closes the records.
// An error is one of keeping the record; what is wrong with single files is in
// the Balance.
func (c *Collector) Run(ctx context.Context) (err error) {
	lock, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.end(), lock.Unlock()) }()
	c.hurry = func() bool { return ctx.Err() != nil }
	c.search("scan")
	c.lastNew, c.lastSaid = time.Now(), time.Now()
	if c.o.Once {
		if err := c.sweep(ctx); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		if err := c.pass(ctx); err != nil {
			return err
		}
		if c.idle() {
			break
		}
		if len(c.ready) > 0 {
			c.events.poll(c.event)
		} else if err := c.wait(ctx); err != nil {
			return err
		}
	}
	c.hurry = c.stopping(ctx.Err() != nil)
	return c.finish()
}

// stopping says when reading to the end has to stop: never, or some time after
// an interruption.
func (c *Collector) stopping(interrupted bool) func() bool {
	if !interrupted || c.o.StopWithin <= 0 {
		return func() bool { return false }
	}
	end := time.Now().Add(c.o.StopWithin)
	return func() bool { return time.Now().After(end) }
}

func (c *Collector) begin(ctx context.Context) (*lockfile.Lock, error) {
	dir := stateDir(c.o.Workspace)
	if err := os.MkdirAll(hookDir(c.o.Workspace), 0o700); err != nil {
		return nil, fmt.Errorf("collect: %w", err)
	}
	lock, err := c.lock(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("collect into %s: %w", c.o.Workspace, err)
	}
	c.index = loadIndex(dir)
	if !c.o.NoEvents && !c.o.Once {
		c.events = newWatcher()
		c.events.add(hookDir(c.o.Workspace))
	}
	return lock, nil
}

// ErrOthers: another process will read what is there.
var ErrOthers = errors.New("somebody else collects here")

// following is the purpose of a lock whose holder reads what comes.
const following = "follow session files"

func (c *Collector) lock(ctx context.Context, dir string) (*lockfile.Lock, error) {
	purpose := "collect session files"
	if !c.o.Once {
		purpose = following
	}
	name := filepath.Join(dir, "lock")
	lock, err := lockfile.TryLock(name, purpose)
	held := (*lockfile.HeldError)(nil)
	if !c.o.Queue || !errors.As(err, &held) {
		return lock, err
	}
	if held.Holder.Purpose == following {
		return nil, ErrOthers
	}
	next, err := lockfile.TryLock(filepath.Join(dir, "next"), "wait to collect session files")
	if errors.As(err, &held) {
		return nil, ErrOthers // who waits has not begun to read
	}
	if err != nil {
		return nil, err
	}
	lock, err = lockfile.WaitLock(ctx, name, purpose)
	return lock, errors.Join(err, next.Unlock())
}

// end lets go of everything.
func (c *Collector) end() error {
	var err error
	for _, s := range c.sessions {
		err = errors.Join(err, s.close())
	}
	for _, s := range c.byPath {
		if s.file != nil {
			s.file.Close()
		}
	}
	return errors.Join(err, c.events.close())
}

// idle says whether it is time to stop by itself.
func (c *Collector) idle() bool {
	if len(c.ready) > 0 {
		return false
	}
	return c.o.Once || c.o.Idle > 0 && time.Since(c.lastNew) >= c.o.Idle
}

// wait waits for an event or for the next look, and does what a look does.
func (c *Collector) wait(ctx context.Context) error {
	next := time.Until(c.lastLook.Add(c.o.PollInterval))
	timer := time.NewTimer(max(next, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-timer.C:
		return c.look()
	case e, ok := <-c.events.channel():
		if ok {
			c.event(e)
		}
		c.events.poll(c.event)
		return nil
	}
}

// look is the safety net: it asks the files themselves.
func (c *Collector) look() error {
	now := time.Now()
	c.lastLook = now
	cold := now.Sub(c.lastCold) >= coldLook
	if cold {
		c.lastCold = now
	}
	for _, s := range c.byPath {
		if cold || !s.settled && now.Sub(s.active) < coolAfter || !s.linked {
			if c.changed(s) {
				c.ready[s] = true
			}
		}
	}
	for path, how := range c.expected {
		c.consider(path, how)
	}
	if now.Sub(c.lastSearch) >= c.o.DiscoveryInterval {
		c.lastSearch = now
		c.searchSpool()
		if cold || c.events.blind(c.o.Roots) {
			c.search("scan")
		} else {
			c.searchSubagents(func(string) bool { return true })
		}
	}
	for _, s := range c.sessions {
		if err := s.commit(); err != nil {
			return err
		}
	}
	return nil
}

// changed says whether a file may have something new.
func (c *Collector) changed(s *source) bool {
	if s.settled {
		return !c.index.same(s.t.Path)
	}
	info, err := os.Stat(s.t.Path)
	if err != nil || s.file.State() != tail.Following {
		return true
	}
	return info.Size() != s.file.Offset()+s.file.Pending() || !s.linked || !s.file.Is(info)
}

// pass reads from every file that is ready, each up to a turn.
func (c *Collector) pass(ctx context.Context) error {
	for _, s := range c.inOrder() {
		if ctx.Err() != nil {
			return nil
		}
		took, more, err := c.read(s)
		if err != nil {
			return err
		}
		if took > 0 {
			c.lastNew = time.Now()
		}
		if !more {
			delete(c.ready, s)
			c.rest(s)
		}
		c.events.poll(c.event)
		c.say()
	}
	return nil
}

// sweep reads what is ready session after session, each to its end, and lets go
// of it: what is held does not grow with the number of sessions, and no record
// is opened twice. Of what comes while it does so the usual passes take care.
func (c *Collector) sweep(ctx context.Context) (err error) {
	ends := endings{c: c}
	defer func() { err = errors.Join(err, ends.wait(0)) }()
	list := c.inOrder()
	for len(list) > 0 && ctx.Err() == nil {
		sess := list[0].sess
		n := slices.IndexFunc(list, func(s *source) bool { return s.sess != sess })
		if n < 0 {
			n = len(list)
		}
		for _, s := range list[:n] {
			if err := c.readAll(ctx, s); err != nil || ctx.Err() != nil {
				return err
			}
		}
		if err := ends.add(sess, list[:n]); err != nil {
			return err
		}
		list = list[n:]
		c.say()
	}
	return nil
}

// readAll reads a file to the end that it has now.
func (c *Collector) readAll(ctx context.Context, s *source) error {
	if err := c.open(s); err != nil {
		return err
	}
	for more := true; more && ctx.Err() == nil; {
		var took int64
		var err error
		if took, more, err = s.read(turn, true); err != nil {
			return err
		}
		if took > 0 {
			c.lastNew = time.Now()
		}
		if err := s.sess.flush(); err != nil {
			return err
		}
		c.say()
	}
	if ctx.Err() != nil {
		return nil // the end of the run sees to the rest
	}
	delete(c.ready, s)
	return s.finish()
}

// inOrder sorts what is ready: session by session, parents before children.
func (c *Collector) inOrder() []*source {
	list := make([]*source, 0, len(c.ready))
	for s := range c.ready {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *source) int {
		return cmp.Or(cmp.Compare(a.sess.run, b.sess.run), cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.t.Path, b.t.Path))
	})
	return list
}

func (s *source) rank() int {
	if s.t.Place() == transcript.Main {
		return 0
	}
	if s.file == nil {
		return 1
	}
	return 1 + s.file.Depth
}

// read gives one file its turn.
func (c *Collector) read(s *source) (took int64, more bool, err error) {
	if err := c.open(s); err != nil {
		return 0, false, err
	}
	if took, more, err = s.read(turn, false); err != nil {
		return took, more, err
	}
	return took, more, s.sess.flush()
}

// open opens the record of a source and, the first time, connects the two.
func (c *Collector) open(s *source) error {
	if err := s.sess.open(s.t); err != nil {
		return err
	}
	if s.file == nil || s.settled {
		s.settled = false
		s.attach()
		if err := s.announce(); err != nil {
			return err
		}
	}
	if s.moved {
		if err := s.move(); err != nil {
			return err
		}
	}
	return c.closeRecords(s.sess)
}

// closeRecords keeps the number of open records within bounds.
func (c *Collector) closeRecords(except *recording) error {
	if len(c.writing) <= maxOpenRecords {
		return nil
	}
	var open []*recording
	for s := range c.writing {
		if s != except {
			open = append(open, s)
		}
	}
	slices.SortFunc(open, func(a, b *recording) int { return a.used.Compare(b.used) })
	for _, s := range open[:len(open)-maxOpenRecords/2] {
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// rest lets go of the handle of a file that has nothing new, when there are
// many.
func (c *Collector) rest(s *source) {
	if s.file != nil && len(c.byPath) > maxOpenFiles && s.file.Pending() == 0 {
		s.file.Release()
	}
}

// finish reads every file to its end.
func (c *Collector) finish() (err error) {
	c.events.poll(c.event)
	c.searchSpool()
	c.search("scan")
	for path := range c.expected { // a line without newline may be all that there is
		c.settle(path)
	}
	for _, s := range c.byPath {
		c.ready[s] = true
	}
	for _, s := range c.inOrder() {
		if s.settled && !c.changed(s) {
			continue
		}
		if err := c.open(s); err != nil {
			return err
		}
		if err := s.finish(); err != nil {
			return err
		}
		c.rest(s)
		c.say()
	}
	ends := endings{c: c}
	for s := range maps.Clone(c.writing) {
		err = errors.Join(err, ends.add(s, nil))
	}
	if err = errors.Join(err, ends.wait(0)); err != nil {
		return err
	}
	c.keepState(c.Balance())
	return c.index.save(c.byPath)
}

// say tells of the progress, about once a second.
func (c *Collector) say() {
	if time.Since(c.lastSaid) < time.Second {
		return
	}
	c.lastSaid = time.Now()
	b := c.Balance()
	c.keepState(b)
	if c.o.Progress != nil {
		c.o.Progress(b)
	}
}

// Balance draws up the account. It is final after Run.
func (c *Collector) Balance() Balance {
	b := Balance{Files: len(c.byPath), Records: len(c.sessions)}
	for _, s := range c.byPath {
		s.balance(&b)
	}
	for path := range c.skipped {
		b.Skipped = append(b.Skipped, path)
	}
	for path, reason := range c.faults {
		b.gap(path, reason, 0)
	}
	for path, how := range c.expected {
		if c.named[path] {
			b.gap(path, "it is not there", 0)
		} else if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			b.gap(path, "found by "+how+", and it cannot be told yet what it is", info.Size())
		}
	}
	b.sort()
	return b
}

func (s *source) balance(b *Balance) {
	b.Lines += s.lines
	b.Entries += s.entries
	b.Added += s.added
	for name, n := range s.unknown {
		b.count(name, n)
	}
	size, read := s.size, s.size
	if s.file == nil && !s.settled {
		size, read = s.found, 0 // its turn is to come
	}
	if s.file != nil {
		if read = s.file.Offset(); size == 0 { // reading has not ended
			size = s.file.Size()
		}
		if lost := s.file.Lost(); lost > 0 {
			b.gap(s.t.Path, "cut off before the line was whole", lost)
		}
		if err := s.file.Err(); err != nil {
			b.gap(s.t.Path, err.Error(), max(0, size-read))
		} else if s.waiting > 0 && read+s.waiting >= size {
			b.Waiting = append(b.Waiting, Gap{s.t.Path, s.waiting, "its last line has no end yet"})
		} else if read < size {
			b.gap(s.t.Path, "not read yet", size-read)
		}
	}
	b.BytesOnDisk += size
	b.BytesRead += read
	for _, f := range s.faults {
		b.gap(s.t.Path, f, 0)
	}
}
