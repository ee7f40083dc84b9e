package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"conclave/internal/tail"
	"conclave/session"
	"conclave/session/claude"
	"conclave/session/kind"
	"conclave/transcript"
)

// follower reads the session files of one session as they grow. Lines are
// followed and mapped as everybody's are (package session); what is its own is
// the order in which they are taken.
type follower struct {
	projects string
	session  string
	opts     claude.Options
	emit     func(transcript.Item) error
	seen     func(uuid string)

	main    *followed
	agents  map[string]*followed // by path
	callers session.Callers
	began   func(f session.File) error // called at first sight of a file
	uuids   map[string]bool            // of a session that is taken up again
	past    bool                       // what the files hold now was recorded when it was said

	every    time.Duration // between two looks for subagents
	searched time.Time     // the last one
	readSize int           // bytes per read; 0: the reader's own
}

// followed is one file.
type followed struct {
	*session.Follower
	file   session.File
	mapper *claude.Mapper
	order  *order
}

// sessionFile finds the main file of a session; "" when there is none yet.
func sessionFile(projects, session string) (string, error) {
	found, err := filepath.Glob(filepath.Join(globQuote(projects), "*", session+".jsonl"))
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// globQuote keeps special characters of a path from being read as a pattern.
func globQuote(path string) string {
	var b []byte
	for i := range len(path) {
		if bytes.IndexByte([]byte(`*?[\`), path[i]) >= 0 && os.PathSeparator == '/' {
			b = append(b, '\\')
		}
		b = append(b, path[i])
	}
	return string(b)
}

// skipPast makes the follower begin where the files of the session end now:
// what a resumed session holds already was recorded when it was said.
func (f *follower) skipPast() error {
	f.past = true
	defer func() { f.past = false }()
	return f.discover(true)
}

func (f *follower) all() []*followed {
	var out []*followed
	if f.main != nil {
		out = append(out, f.main)
	}
	var paths []string
	for p := range f.agents {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		out = append(out, f.agents[p])
	}
	return out
}

// poll emits every line that is complete by now. last says that nothing will
// be written any more: a rest without a newline is then a line, too.
func (f *follower) poll(last bool) error {
	if err := f.discover(last); err != nil {
		return err
	}
	for _, d := range f.all() {
		if err := f.read(d, false); err != nil {
			return err
		}
	}
	if !last {
		return nil
	}
	for _, d := range f.all() { // now that each parent is known that ever will be
		if err := f.read(d, true); err != nil {
			return err
		}
	}
	return nil
}

// discover looks for files that are new. now says that it cannot wait.
func (f *follower) discover(now bool) error {
	if f.main == nil {
		path, err := sessionFile(f.projects, f.session)
		if err != nil || path == "" {
			return err
		}
		file := session.File{Path: path, Kind: claude.Kind, Source: transcript.Main, Session: f.session}
		if f.main, err = f.open(file); err != nil {
			return err
		}
	}
	if !now && time.Since(f.searched) < f.every {
		return nil
	}
	f.searched = time.Now()
	err := filepath.WalkDir(claude.Kind.Subagents(f.main.file.Path), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || f.agents[path] != nil {
			return err
		}
		if file, ok := claude.Locate(path); ok && !file.Main() {
			file.Kind = claude.Kind
			if f.agents[path], err = f.open(file); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f *follower) open(file session.File) (*followed, error) {
	o := tail.Options{NoHash: true, ReadSize: f.readSize}
	info, err := os.Stat(file.Path)
	if err != nil {
		return nil, fmt.Errorf("follow session file: %w", err)
	}
	if f.past {
		o.Start = info.Size()
	}
	if err := f.began(file); err != nil {
		return nil, err
	}
	opts := f.opts
	opts.Source = file.Source
	d := &followed{file: file, mapper: claude.NewMapper(opts), order: newOrder(maps.Clone(f.uuids))}
	d.Follower = session.Follow(file, f.callers, o, time.Now(), func() kind.Mapper { return d.mapper })
	return d, nil
}

func (f *follower) read(d *followed, last bool) error {
	if ready, err := d.Link(last); err != nil || !ready {
		return err
	}
	if last {
		d.Finish()
	}
	for d.Next() {
		line := bytes.Clone(d.Line()) // entries share the line's memory
		uuid, parent := claude.Order(line)
		if err := f.record(d, d.order.next(line, uuid, parent)); err != nil {
			return err
		}
	}
	if err := d.Err(); err != nil {
		return fmt.Errorf("read session file: %w", err)
	}
	return f.record(d, d.order.late(last))
}

func (f *follower) record(d *followed, lines [][]byte) error {
	for _, line := range lines {
		if err := f.one(d, line); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) one(d *followed, line []byte) error {
	for _, it := range d.MapLine(nil, line) {
		if err := f.emit(it); err != nil {
			return err
		}
	}
	f.seen(d.mapper.UUID())
	return nil
}

// flush emits what the mappers held back.
func (f *follower) flush() error { return f.rest((*claude.Mapper).Flush) }

// due emits what they hold back for its place alone.
func (f *follower) due() error { return f.rest((*claude.Mapper).Due) }

func (f *follower) rest(of func(*claude.Mapper) []transcript.Item) error {
	for _, d := range f.all() {
		for _, it := range of(d.mapper) {
			if err := f.emit(it); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *follower) close() {
	for _, d := range f.all() {
		d.Close()
	}
}

// unrecognised sums what the mappers did not know.
func (f *follower) unrecognised() map[string]int64 {
	sum := map[string]int64{}
	for _, d := range f.all() {
		for name, n := range d.mapper.Stats().Unrecognised {
			sum[name] += n
		}
	}
	return sum
}
