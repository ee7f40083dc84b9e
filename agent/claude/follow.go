package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"conclave/session/claude"
	"conclave/transcript"
)

// follower reads the session files of one session as they grow. The program
// appends whole lines and never rewrites; a rest without a newline is held
// until its end comes.
type follower struct {
	projects string
	session  string
	opts     claude.Options
	emit     func(transcript.Item) error
	seen     func(uuid string)

	main   *followed
	agents map[string]*followed      // by path
	caller map[string]string         // tool call of an agent → source that made it
	began  func(f claude.File) error // called at first sight of a file
	uuids  map[string]bool           // of a session that is taken up again
}

type followed struct {
	file   claude.File
	f      *os.File
	offset int64
	rest   []byte
	mapper *claude.Mapper
	order  *order
	since  time.Time // first seen
	linked bool      // its parent is known
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
	if err := f.discover(); err != nil {
		return err
	}
	for _, d := range f.all() {
		info, err := d.f.Stat()
		if err != nil {
			return fmt.Errorf("look at the session to resume: %w", err)
		}
		d.offset = info.Size()
	}
	return nil
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
	if err := f.discover(); err != nil {
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

func (f *follower) discover() error {
	if f.main == nil {
		path, err := sessionFile(f.projects, f.session)
		if err != nil || path == "" {
			return err
		}
		if f.main, err = f.open(claude.File{Path: path, Session: f.session}); err != nil {
			return err
		}
	}
	dir := filepath.Join(filepath.Dir(f.main.file.Path), f.session, "subagents")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || f.agents[path] != nil {
			return err
		}
		if file, ok := claude.Locate(path); ok && file.Agent != "" {
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

func (f *follower) open(file claude.File) (*followed, error) {
	fd, err := os.Open(file.Path)
	if err != nil {
		return nil, fmt.Errorf("follow session file: %w", err)
	}
	o := f.opts
	o.Source = file.Source()
	if err := f.began(file); err != nil {
		fd.Close()
		return nil, err
	}
	return &followed{file: file, f: fd, mapper: claude.NewMapper(o), order: newOrder(maps.Clone(f.uuids)), since: time.Now(), linked: file.Agent == ""}, nil
}

// linkWait is how long a subagent's lines wait for the note that names its
// parent, and for the parent's line that holds the call; they are written
// together.
const linkWait = 500 * time.Millisecond

func (f *follower) link(d *followed, last bool) (bool, error) {
	if d.linked {
		return true, nil
	}
	meta, ok, err := d.file.Meta()
	if err != nil {
		return false, err
	}
	late := last || time.Since(d.since) > linkWait
	if !ok {
		return late, nil
	}
	parent := meta.Parent(func(id string) string { return f.caller[id] })
	if parent.Source == "" && !late {
		return false, nil
	}
	d.mapper.SetParent(parent)
	d.linked = true
	return true, nil
}

func (f *follower) read(d *followed, last bool) error {
	if ready, err := f.link(d, last); err != nil || !ready {
		return err
	}
	for {
		buf := make([]byte, 64<<10) // new each time: entries share the lines' memory
		n, err := d.f.ReadAt(buf, d.offset)
		d.offset += int64(n)
		if err := f.lines(d, buf[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("read session file: %w", err)
		}
	}
	if last && len(d.rest) > 0 {
		line := d.rest
		d.rest = nil
		if err := f.line(d, line); err != nil {
			return err
		}
	}
	return f.record(d, d.order.late(last))
}

func (f *follower) lines(d *followed, chunk []byte) error {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			d.rest = append(d.rest, chunk...)
			return nil
		}
		line := chunk[:i:i]
		if len(d.rest) > 0 {
			line = append(d.rest, line...)
			d.rest = nil
		}
		if err := f.line(d, line); err != nil {
			return err
		}
		chunk = chunk[i+1:]
	}
}

func (f *follower) line(d *followed, line []byte) error {
	uuid, parent := claude.Order(line)
	return f.record(d, d.order.next(line, uuid, parent))
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
	items := d.mapper.Map(line)
	d.mapper.Calls(func(id string) { f.caller[id] = d.file.Source() })
	for _, it := range items {
		if err := f.emit(it); err != nil {
			return err
		}
	}
	f.seen(d.mapper.UUID())
	return nil
}

// flush emits what the mappers held back.
func (f *follower) flush() error {
	for _, d := range f.all() {
		for _, it := range d.mapper.Flush() {
			if err := f.emit(it); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *follower) close() {
	for _, d := range f.all() {
		d.f.Close()
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
