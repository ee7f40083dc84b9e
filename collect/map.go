package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"conclave/internal/tail"
	"conclave/session"
	"conclave/session/tree"
	"conclave/transcript"
)

// MapOptions say how to map. The zero value works.
type MapOptions struct {
	Adapter string // "" finds it out, file by file
	OmitRaw bool

	// SourceTime stamps each entry with the time that its line bears (a line
	// without one has that of the line before it, the first ones 1970) in
	// place of the time of mapping: the same input then gives the same bytes.
	SourceTime bool

	Progress func(Balance) // about once a second
}

// Map maps what is at the paths, files or directories of session files, to log
// records of entries, and hands them to out in order. It keeps no state. The
// error is out's, or that a path cannot be read at all; what is wrong with single
// files is in the Balance.
func Map(ctx context.Context, paths []string, out transcript.Store, o MapOptions) (Balance, error) {
	m := newMapping(ctx, out, o)
	for _, path := range paths {
		if err := m.path(path); err != nil {
			return m.balance(), err
		}
	}
	return m.balance(), nil
}

func (m *mapping) path(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		t, err := classify(path, m.o.Adapter, true)
		if errors.Is(err, session.ErrNotYet) {
			err = nil
		}
		if err != nil {
			return err
		}
		return m.file(t)
	}
	targets, err := m.find(path)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := m.file(t); err != nil {
			return err
		}
	}
	return nil
}

// MapReader is Map for lines that come from r.
func MapReader(ctx context.Context, r io.Reader, out transcript.Store, o MapOptions) (Balance, error) {
	m := newMapping(ctx, out, o)
	k := session.OfAdapter(o.Adapter)
	var err, read error
	in := &counter{r: r}
	m.far = func() (read, size int64) { return in.n, in.n }
	begin := func() error {
		t := targetOf(session.Unnamed("-", k))
		t.Session = "stdin"
		return m.begin(t)
	}
	var first [][]byte // lines that do not tell whose they are
	for line := range transcript.Lines(in, &read) {
		if m.mapper == nil {
			if k == nil {
				k = session.Sniff(line)
			}
			if first = append(first, bytes.Clone(line)); k == nil && len(first) < session.SniffLines {
				continue
			}
			if err = begin(); err == nil {
				err = m.lines(first)
			}
		} else {
			err = m.lines([][]byte{line})
		}
		if err != nil {
			break
		}
	}
	if err == nil && m.mapper == nil && len(first) > 0 {
		if err = begin(); err == nil {
			err = m.lines(first)
		}
	}
	if err == nil && m.mapper != nil {
		err = m.end()
	}
	m.b.Files, m.b.BytesOnDisk, m.b.BytesRead = 1, in.n, in.n
	return m.balance(), errors.Join(err, read)
}

// lines maps lines that came from a reader.
func (m *mapping) lines(list [][]byte) error {
	for _, line := range list {
		m.items = m.mapper.Append(m.items[:0], line)
		if err := m.line(false); err != nil {
			return err
		}
	}
	return nil
}

// counter knows how much was read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// mapping is the work of Map.
type mapping struct {
	ctx      context.Context
	o        MapOptions
	out      transcript.Store
	b        Balance
	emitters map[string]*transcript.Emitter // by record
	prompts  map[string]int
	callers  session.Callers
	said     time.Time
	far      func() (read, size int64) // of the file at hand

	mapper  session.Mapper
	emitter *transcript.Emitter
	items   []transcript.Item
	stamp   time.Time
}

func newMapping(ctx context.Context, out transcript.Store, o MapOptions) *mapping {
	return &mapping{ctx: ctx, o: o, out: out, emitters: map[string]*transcript.Emitter{},
		prompts: map[string]int{}, callers: session.Callers{}, said: time.Now()}
}

func (m *mapping) balance() Balance {
	m.b.Records = len(m.emitters)
	m.b.sort()
	return m.b
}

// find lists the session files below dir: session by session, parents before
// children.
func (m *mapping) find(dir string) ([]target, error) {
	type ranked struct {
		t    target
		rank int
	}
	var found []ranked
	err := tree.Walk([]string{dir}, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			m.b.gap(path, err.Error(), 0)
			return nil
		}
		if d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return nil
		}
		t, err := classify(path, m.o.Adapter, false)
		switch {
		case errors.Is(err, session.ErrNotYet):
		case errors.Is(err, session.ErrNoSession):
			m.b.Skipped = append(m.b.Skipped, path)
			return nil
		case err != nil:
			m.b.gap(path, err.Error(), 0)
			return nil
		}
		rank := 0
		if t.run += "@" + t.Dir; !t.Main() {
			note, _, _ := t.Kind.Note(t.File) // without it the parent stays unnamed
			rank = 1 + note.Depth
		}
		found = append(found, ranked{t, rank})
		return nil
	})
	slices.SortStableFunc(found, func(a, b ranked) int {
		if c := strings.Compare(a.t.run, b.t.run); c != 0 {
			return c
		}
		return a.rank - b.rank
	})
	var targets []target
	for _, r := range found {
		targets = append(targets, r.t)
	}
	return targets, err
}

// begin prepares for the lines of a file.
func (m *mapping) begin(t target) error {
	m.mapper = t.Kind.NewMapper(t.File, session.Options{NoRaw: m.o.OmitRaw, Reuse: true})
	m.stamp = time.Unix(0, 0).UTC()
	if m.emitter = m.emitters[t.run]; m.emitter != nil {
		return nil
	}
	prompt := t.promptName()
	if m.prompts[prompt]++; m.prompts[prompt] > 1 {
		prompt = fmt.Sprintf("%s#%d", prompt, m.prompts[prompt])
	}
	opts := transcript.Options{PromptName: prompt, Adapter: t.Kind.Adapter, Store: m.out}
	if m.o.SourceTime {
		opts.Now = func() time.Time { return m.stamp }
	}
	e, err := transcript.NewEmitter(opts)
	m.emitter, m.emitters[t.run] = e, e
	return err
}

func (m *mapping) file(t target) error {
	if err := m.begin(t); err != nil {
		return err
	}
	f := session.Follow(t.File, m.callers, tail.Options{ReadSize: 256 << 10, MaxLine: session.MaxLine,
		PieceSize: session.PieceSize, NoHash: true}, time.Time{}, func() session.Mapper { return m.mapper })
	defer f.Close()
	f.Finish()
	m.far = func() (read, size int64) { return f.Offset(), f.Size() }
	m.b.Files++
	for f.Next() {
		m.items = f.Map(m.items[:0])
		if err := m.line(f.Piece()); err != nil {
			return err
		}
	}
	size := f.Size()
	m.b.BytesOnDisk += size
	m.b.BytesRead += f.Offset()
	switch {
	case f.Err() != nil:
		m.b.gap(t.Path, f.Err().Error(), size-f.Offset())
	case f.Generation() > 0:
		m.b.gap(t.Path, "it was changed while it was being read", 0)
	case f.Offset() < size:
		m.b.gap(t.Path, "not read", size-f.Offset())
	}
	return m.end()
}

func (m *mapping) end() error {
	err := m.emit(m.mapper.Flush())
	for name, n := range m.mapper.Unknown() {
		m.b.count(name, n)
	}
	return err
}

func (m *mapping) line(piece bool) error {
	m.b.Lines++
	if m.o.SourceTime && !piece {
		if at := m.mapper.Time(); at != 0 {
			m.stamp = time.UnixMicro(at).UTC()
		}
	}
	if err := m.emit(m.items); err != nil {
		return err
	}
	if m.b.Lines%1024 == 0 {
		return m.pause()
	}
	return nil
}

// pause looks up from the work.
func (m *mapping) pause() error {
	if m.o.Progress != nil && time.Since(m.said) >= time.Second {
		m.said = time.Now()
		b := m.b
		read, size := m.far()
		b.BytesRead, b.BytesOnDisk = b.BytesRead+read, b.BytesOnDisk+size
		m.o.Progress(b)
	}
	return m.ctx.Err()
}

func (m *mapping) emit(items []transcript.Item) error {
	for i := range items {
		it := &items[i]
		m.b.Entries++
		m.b.Added++
		if m.o.OmitRaw {
			it.Raw = nil
		}
		if _, err := m.emitter.Emit(*it); err != nil {
			return err
		}
	}
	return nil
}
