package collect

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/record"
	"conclave/session"
	"conclave/session/tree"
	"conclave/transcript"
)

// search looks through all roots.
func (c *Collector) search(how string) {
	c.lastSearch = time.Now()
	c.searchSpool()
	c.walk(c.o.Roots, how)
	for path, how := range c.expected {
		c.consider(path, how)
	}
	c.searchSubagents(func(path string) bool { return !c.below(path) })
}

// below says whether a path is in one of the roots.
func (c *Collector) below(path string) bool {
	for _, root := range c.o.Roots {
		if strings.HasPrefix(path, root+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// walk considers every file at and below paths, and has the directories watched.
func (c *Collector) walk(paths []string, how string) {
	err := tree.Walk(paths, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				c.fault(path, err.Error())
			}
			return nil
		}
		delete(c.faults, path)
		if d.IsDir() {
			if d.Name() == ".conclave" && !slices.Contains(paths, path) {
				return fs.SkipDir
			}
			c.events.add(path)
		} else if strings.HasSuffix(path, ".jsonl") {
			c.consider(path, how)
		}
		return nil
	})
	if err != nil {
		panic(err) // nothing above returns one
	}
}

// fault notes what is wrong with a file that no record is of yet, and says so in
// the log once.
func (c *Collector) fault(path, reason string) {
	if c.faults[path] == reason {
		return
	}
	c.faults[path] = reason
	if c.o.Stream == nil {
		return
	}
	e, err := transcript.NewEmitter(transcript.Options{PromptName: path, Adapter: cmp.Or(c.o.Adapter, "unknown"),
		Stream: c.o.Stream, StreamQuiet: c.o.StreamQuiet})
	if err == nil {
		e.Fault(transcript.Main, errors.New(reason))
	}
}

// searchSubagents looks beside the main files that are in use, and wanted.
func (c *Collector) searchSubagents(wanted func(path string) bool) {
	for path, s := range c.byPath {
		if wanted(path) && s.t.Kind.Subagents != nil && s.t.Place() == transcript.Main &&
			s.t.Session != "" && time.Since(s.active) < coolAfter {
			dir := s.t.Kind.Subagents(path)
			if _, err := os.Stat(dir); err == nil {
				c.walk([]string{dir}, "scan")
			}
		}
	}
}

// searchSpool takes up the paths that hooks have told.
func (c *Collector) searchSpool() {
	if !c.o.Hooks {
		return
	}
	for _, path := range readSpool(hookDir(c.o.Workspace)) {
		if c.byPath[path] == nil && !c.skipped[path] && c.expected[path] == "" {
			c.expected[path] = "hook"
			c.events.add(filepath.Dir(path))
			c.consider(path, "hook")
		}
	}
}

// event takes a file event.
func (c *Collector) event(e event) {
	if e.all {
		c.search("event")
		for _, s := range c.byPath {
			c.ready[s] = true
		}
		return
	}
	if filepath.Dir(e.path) == hookDir(c.o.Workspace) {
		c.searchSpool()
		return
	}
	if s := c.byPath[e.path]; s != nil {
		c.ready[s] = true
		return
	}
	if c.expected[e.path] != "" {
		c.consider(e.path, "event")
		return
	}
	c.walk([]string{e.path}, "event")
}

// consider takes a file up, if it is one to follow.
func (c *Collector) consider(path, how string) {
	if c.byPath[path] != nil || c.skipped[path] {
		return
	}
	if first := c.second[path]; first != "" {
		if sameFile(first, path) {
			return
		}
		delete(c.second, path) // it is the only name by now, or another file
	}
	if known := c.expected[path]; known != "" {
		how = known
	}
	t, err := classify(path, c.o.Adapter, c.named[path])
	switch {
	case errors.Is(err, session.ErrNotYet):
		c.expected[path] = how
		return
	case errors.Is(err, session.ErrNoSession) && c.named[path]:
		c.fault(path, "it is no regular file")
		return
	case errors.Is(err, session.ErrNoSession):
		c.skipped[path] = true
		delete(c.expected, path)
		return
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		c.fault(path, err.Error())
		return
	}
	delete(c.faults, path)
	info, err := os.Stat(path)
	if err != nil {
		return // a path that tells by itself, of a file that is late
	}
	delete(c.expected, path)
	c.take(t, how, info.Size())
}

// settle takes a file up at the end, although it has no whole line.
func (c *Collector) settle(path string) {
	info, err := os.Stat(path)
	if err != nil || c.byPath[path] != nil || info.Size() == 0 && !c.named[path] {
		return
	}
	t, err := classify(path, c.o.Adapter, c.named[path])
	if errors.Is(err, session.ErrNotYet) {
		err = nil
	}
	if err == nil {
		how := c.expected[path]
		delete(c.expected, path)
		c.take(t, how, info.Size())
	}
}

// take makes a source of a target. A file that the session had at another path
// has moved; if that one is still there, it is the same file by a second name, or
// the new one gets its own record.
func (c *Collector) take(t target, how string, size int64) {
	now := time.Now()
	s := &source{t: t, how: how, found: size, since: now, active: now}
	run, settled := c.index.run(t.Path)
	if settled {
		s.t.run = run
	}
	s.sess = c.session(s.t.run)
	if had := s.sess.sources[t.Place()]; had != nil && had.t.Path != t.Path && sameFile(had.t.Path, t.Path) {
		c.second[t.Path] = had.t.Path
		return
	}
	if settled && c.index.restore(s) {
		c.own(s)
		return
	}
	if old := s.sess.at(t.Place()); old != "" && old != t.Path && !sameFile(old, t.Path) {
		if _, err := os.Stat(old); err == nil {
			s.t.run = runID(s.t.run, pathHash(t.Path))
			s.sess = c.session(s.t.run)
		} else if before := s.sess.sources[t.Place()]; before != nil {
			c.moved(before, t.Path, how)
			return
		}
	}
	c.own(s)
	c.ready[s] = true
}

// sameFile: two names of one file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func (c *Collector) own(s *source) {
	s.sess.sources[s.t.Place()] = s
	c.byPath[s.t.Path] = s
}

func (c *Collector) moved(s *source, path, how string) {
	delete(c.byPath, s.t.Path)
	c.byPath[path] = s
	c.ready[s] = true
	s.t.Path, s.how = path, how
	s.moved = s.file != nil
	s.settled = false
}

func (c *Collector) session(run string) *recording {
	s := c.sessions[run]
	if s == nil {
		path, err := record.Path(c.o.Workspace, run)
		if err != nil {
			panic(err) // runID makes only ids that are accepted
		}
		s = &recording{c: c, run: run, path: path, sources: map[string]*source{}, callers: map[string]string{}}
		c.sessions[run] = s
	}
	return s
}

// at is the path that the session has for a place, "" if it has none.
func (s *recording) at(place string) string {
	if src := s.sources[place]; src != nil {
		return src.t.Path
	}
	if s.past == nil {
		if s.past = readPast(s.path); s.past == nil {
			return ""
		}
	}
	if p := s.past.sources[place]; p != nil {
		return p.at.Path
	}
	return ""
}

// readPast reads a record without taking it; nil when there is none.
func readPast(path string) *past {
	r, err := record.Open(path)
	if err != nil {
		return nil
	}
	defer r.Close()
	p := newPast()
	for r.Next() {
		if p.visit(r.Frame()) != nil {
			return nil
		}
	}
	return p
}
