package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"conclave/archive/runs"
	"conclave/internal/atomicfile"
	"conclave/internal/lockfile"
	"conclave/internal/newer"
)

// Marks are what a person notes of runs: stars, pins, how far they have read, and
// queries that they want to ask again. They are the person's own, in one file
// beside their archive, whatever workspace they are in.
type Marks struct {
	Version int            `json:"version"`
	Stars   []string       `json:"stars"`
	Pins    []Pin          `json:"pins"`
	Seen    map[string]int `json:"seen"`
	Queries []SavedQuery   `json:"queries"`
}

// Pin is an entry of a run that the person wants to find again.
type Pin struct {
	Run   string    `json:"run"`
	Entry int       `json:"entry"`
	Note  string    `json:"note,omitempty"`
	At    time.Time `json:"at"`
}

// SavedQuery is a query with a name.
type SavedQuery struct {
	Name  string `json:"name"`
	Query string `json:"query"`
}

// Mark is one change of marks: of several members that are set each is made.
type Mark struct {
	Run   string      `json:"run,omitempty"`
	Star  *bool       `json:"star,omitempty"`
	Seen  *int        `json:"seen,omitempty"`
	Pin   *bool       `json:"pin,omitempty"` // of Entry
	Entry int         `json:"entry,omitempty"`
	Note  string      `json:"note,omitempty"`
	Query *SavedQuery `json:"query,omitempty"` // an empty one is forgotten
}

const (
	marksVersion = 1
	maxMarks     = 10000 // stars, pins and runs that were read; the oldest of the last are forgotten
	maxQueries   = 500
	maxNote      = 2000
	maxQuery     = 100_000
	maxMarksFile = 16 << 20
)

// marksFile is where they are. What was read last is kept for as long as the file
// is the same.
type marksFile struct {
	path string // "" where no home is known

	mu   sync.Mutex
	info os.FileInfo
	held Marks

	asked bool
	last  os.FileInfo // as it was when changed looked, or when this process wrote it
}

func (a *App) marksFile() *marksFile {
	dir := a.userDataDir()
	if dir == "" {
		return &marksFile{}
	}
	return &marksFile{path: filepath.Join(dir, "conclave", "marks.json")}
}

// Marks are all of them.
func (l *Library) Marks() (Marks, error) { return l.marks.read() }

// Mark makes one change, and returns all marks. Two processes at once lose
// nothing: each reads and writes while it holds the file's lock.
func (l *Library) Mark(ctx context.Context, m Mark) (Marks, error) {
	if err := m.check(); err != nil {
		return Marks{}, err
	}
	return l.marks.change(ctx, m)
}

func (m *Mark) check() error {
	switch {
	case m.Run == "" && (m.Star != nil || m.Seen != nil || m.Pin != nil):
		return usageError("a mark is of a run: name it")
	case len(m.Run) > 1000 || !utf8.ValidString(m.Run):
		return usageError("that is no run's name")
	case m.Star == nil && m.Seen == nil && m.Pin == nil && m.Query == nil:
		return usageError("say what to mark: star, pin, seen or query")
	case m.Entry < 0 || m.Seen != nil && *m.Seen < 0:
		return usageError("entries are counted from 0")
	case len(m.Note) > maxNote:
		return usageError("a note has at most %d characters", maxNote)
	case m.Query != nil && !m.Query.fits():
		return usageError("a saved query needs a name of at most 200 characters, and is itself shorter than %d", maxQuery)
	}
	return nil
}

func (q *SavedQuery) fits() bool {
	return strings.TrimSpace(q.Name) != "" && len(q.Name) <= 200 && len(q.Query) <= maxQuery
}

func (f *marksFile) read() (Marks, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load()
}

// changed says whether another process has marked something since it was last
// asked.
func (f *marksFile) changed() bool {
	if f.path == "" {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil {
		info = nil
	}
	last, asked := f.last, f.asked
	f.last, f.asked = info, true
	return asked && !sameMarks(info, last)
}

func sameMarks(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// load reads the file if it has changed.
func (f *marksFile) load() (Marks, error) {
	none := Marks{Version: marksVersion}.clone()
	if f.path == "" {
		return none, nil
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, environmentError("%w", err)
	}
	if f.info != nil && sameMarks(info, f.info) {
		return f.held.clone(), nil
	}
	if info.Size() > maxMarksFile {
		return none, environmentError("%s has %d bytes, which marks never have: move it away", f.path, info.Size())
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return none, environmentError("%w", err)
	}
	m := none.clone()
	if err := json.Unmarshal(text, &m); err != nil {
		return none, environmentError("read the marks in %s: %w: move it away, and they begin anew", f.path, err)
	}
	if err := newer.Check(m.Version, marksVersion); err != nil {
		return none, environmentError("%s: %w", f.path, err)
	}
	f.info, f.held = info, m
	return m.clone(), nil
}

func (f *marksFile) change(ctx context.Context, c Mark) (Marks, error) {
	if f.path == "" {
		return Marks{}, environmentError("no home is known, so there is no place for marks: set HOME")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return Marks{}, environmentError("%w", err)
	}
	lock, err := lockfile.WaitLock(ctx, f.path+".lock", "marking a run")
	if err != nil {
		return Marks{}, environmentError("wait for the marks: %w", err)
	}
	defer lock.Unlock()
	m, err := f.load()
	if err != nil {
		return m, err
	}
	if err := m.take(c, time.Now().UTC()); err != nil {
		return m, err
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = atomicfile.Write(f.path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return m, environmentError("keep the marks: %w", err)
	}
	if f.info, err = os.Stat(f.path); err != nil {
		f.info = nil // it is read again, then
	}
	f.last = f.info
	f.held = m.clone()
	return m, nil
}

func (m *Marks) take(c Mark, now time.Time) error {
	if c.Star != nil {
		m.Stars = slices.DeleteFunc(m.Stars, func(r string) bool { return r == c.Run })
		if *c.Star {
			m.Stars = append(m.Stars, c.Run)
		}
	}
	if c.Pin != nil {
		m.Pins = slices.DeleteFunc(m.Pins, func(p Pin) bool { return p.Run == c.Run && p.Entry == c.Entry })
		if *c.Pin {
			m.Pins = append(m.Pins, Pin{c.Run, c.Entry, c.Note, now})
		}
	}
	if c.Query != nil {
		m.Queries = slices.DeleteFunc(m.Queries, func(q SavedQuery) bool { return q.Name == c.Query.Name })
		if c.Query.Query != "" {
			m.Queries = append(m.Queries, *c.Query)
		}
	}
	if c.Seen != nil {
		if _, known := m.Seen[c.Run]; !known && len(m.Seen) >= maxMarks {
			for run := range m.Seen { // how far one of ten thousand was read is no loss
				delete(m.Seen, run)
				break
			}
		}
		m.Seen[c.Run] = *c.Seen
	}
	if len(m.Stars) > maxMarks || len(m.Pins) > maxMarks || len(m.Queries) > maxQueries {
		return noError("there are %d stars, %d pins and %d saved queries: take some away first",
			len(m.Stars), len(m.Pins), len(m.Queries))
	}
	return nil
}

func (m Marks) clone() Marks {
	m.Stars, m.Pins = append([]string{}, m.Stars...), append([]Pin{}, m.Pins...)
	m.Queries = append([]SavedQuery{}, m.Queries...)
	if m.Seen = maps.Clone(m.Seen); m.Seen == nil {
		m.Seen = map[string]int{}
	}
	return m
}

func (m *Marks) starred() map[string]bool {
	set := map[string]bool{}
	for _, r := range m.Stars {
		set[r] = true
	}
	return set
}

// listed adds to a run what was noted of it.
func (m *Marks) listed(r runs.Run) ListedRun {
	l := ListedRun{Run: r, Starred: slices.Contains(m.Stars, r.ID)}
	for _, p := range m.Pins {
		if p.Run == r.ID {
			l.Pins++
		}
	}
	return l
}
