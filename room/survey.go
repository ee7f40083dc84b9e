package room

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// survey walks a project, several directories at a time, and asks the rule
// about every name. A directory is watched before it is read, so that nothing
// comes between.
type survey struct {
	root    *os.Root
	rule    Rule
	limit   int
	watch   *watch // nil: nobody asks what changes
	workers int

	files    atomic.Int64
	mu       sync.Mutex
	more     *sync.Cond
	queue    []task
	busy     int
	err      error
	found    []*found
	withheld []string
	aliases  []string
}

// task is a directory to look at. Of a withheld one nothing is noted: it is
// watched alone.
type task struct {
	dir    string
	hidden bool
}

// entry is a name in a directory.
type entry struct {
	at    string      // below the view
	name  string      // the end of that
	mode  fs.FileMode // its type alone
	size  int64
	mtime int64
	id    inode
	links uint64
	mount bool // something else is mounted there
}

// found is what one directory holds.
type found struct {
	dir     string
	sum     [sha256.Size]byte
	files   int
	bytes   int64
	masks   []mask
	aliases []string // withheld symbolic links
	mounts  []string
	linked  []linkedFile
}

type linkedFile struct {
	id   inode
	path string
}

// surveyors is how many directories are read at a time.
func surveyors() int { return min(runtime.GOMAXPROCS(0), 4) }

// run looks at a directory and at everything below it.
func (s *survey) run(first task) error {
	s.more = sync.NewCond(&s.mu)
	s.queue = []task{first}
	var all sync.WaitGroup
	for range s.workers {
		all.Go(s.work)
	}
	all.Wait()
	return s.err
}

func (s *survey) work() {
	l, err := newLister(s.root, s.watch)
	if err != nil {
		s.fail(err)
		return
	}
	defer l.close()
	var scratch []byte
	ask := s.rule.asker(s.root)
	for {
		t, ok := s.next()
		if !ok {
			return
		}
		var f *found
		var below []task
		if f, below, scratch, err = s.directory(l, t, ask, scratch[:0]); err != nil {
			s.fail(err)
		}
		s.done(f, below)
	}
}

// next waits for a directory. There is none left when nobody works at one that
// could hold more.
func (s *survey) next() (task, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && s.busy > 0 && s.err == nil {
		s.more.Wait()
	}
	if len(s.queue) == 0 || s.err != nil {
		return task{}, false
	}
	t := s.queue[len(s.queue)-1]
	s.queue = s.queue[:len(s.queue)-1]
	s.busy++
	return t, true
}

func (s *survey) done(f *found, below []task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f != nil {
		s.found = append(s.found, f)
	}
	s.queue = append(s.queue, below...)
	if s.busy--; len(below) > 0 || s.busy == 0 {
		s.more.Broadcast()
	}
}

func (s *survey) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	if s.more != nil {
		s.more.Broadcast()
	}
}

// directory looks at one directory. One that is gone will be missed by nobody;
// one that cannot be read is withheld whole, for who may not list it may still
// guess names in it, and it may become readable.
func (s *survey) directory(l *lister, t task, ask asker, scratch []byte) (*found, []task, []byte, error) {
	entries, err := l.list(t.dir, t.hidden)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, scratch, nil
	case errors.Is(err, fs.ErrPermission) && t.hidden:
		return nil, nil, scratch, nil
	case errors.Is(err, fs.ErrPermission) && t.dir != ".":
		return &found{dir: t.dir, masks: []mask{{Path: t.dir, Why: "cannot be read by this user"}}}, nil, scratch, nil
	case err != nil:
		return nil, nil, scratch, err
	case t.hidden:
		return nil, directories(entries), scratch, nil
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	f := &found{dir: t.dir}
	var below []task
	for i := range entries {
		e := &entries[i]
		at := e.at
		if e.mount {
			f.mounts = append(f.mounts, at)
		}
		why, looked := ask(at, e.mode.IsDir())
		if why == "" && looked && s.watch != nil {
			if err := s.watch.addFile(at); err != nil {
				return nil, nil, scratch, err
			}
			why, _ = ask(at, false) // it may have been written in between
		}
		switch {
		case why != "":
			f.withhold(at, e, why)
		case !e.mode.IsDir():
			scratch = f.file(at, e, scratch)
		}
		if e.mode.IsDir() {
			below = append(below, task{at, why != ""})
		}
	}
	f.sum = sha256.Sum256(scratch)
	if s.files.Add(int64(f.files)) > int64(s.limit) {
		return nil, nil, scratch, fmt.Errorf("has more than %d files (%w); raise the limit, or name a part of it", s.limit, ErrRefused)
	}
	return f, below, scratch, nil
}

func directories(entries []entry) []task {
	var below []task
	for _, e := range entries {
		if e.mode.IsDir() {
			below = append(below, task{e.at, true})
		}
	}
	return below
}

func (f *found) withhold(at string, e *entry, why string) {
	f.masks = append(f.masks, mask{Path: at, Why: why})
	if e.mode&fs.ModeSymlink != 0 {
		f.aliases = append(f.aliases, at)
	}
}

// file notes a visible file, and adds its line to the listing.
func (f *found) file(at string, e *entry, listing []byte) []byte {
	f.files++
	f.bytes += e.size
	if e.links > 1 && e.mode.IsRegular() {
		f.linked = append(f.linked, linkedFile{e.id, at})
	}
	listing = append(append(listing, e.name...), 0)
	listing = append(strconv.AppendInt(listing, e.size, 10), 0)
	return append(strconv.AppendInt(listing, e.mtime, 10), 0)
}
