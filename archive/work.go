package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/archive/source"
	"conclave/bundle"
	"conclave/record"
	"conclave/session"
	"conclave/workspace"
)

// work reads one source from where it was left and sends its chunks. What is
// wrong with a file is noted with it; the error is one of the archive.
func (a *Archive) work(ctx context.Context, j *job, out chan<- message) error {
	send := func(m message) error {
		select {
		case out <- m:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	var room []byte
	c := &cutter{pool: &a.pool, emit: func(k *chunk) error {
		switch {
		case !a.isCache:
			room = a.pack(k, room)
			k.packed = bytes.Clone(k.packed) // it may have to wait
		case j.bundle == nil:
			a.packer.refer(k, blockPlain, reference{path: j.path, offset: k.pos, packed: len(k.raw)})
			a.giveBack(k)
		} // the blocks of a bundle are packed by the writer, who has the time
		return send(message{job: j, chunk: k})
	}}
	err := a.cut(j, c)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, bundle.ErrNoPieces) {
		return err // it has to be read another way
	}
	if err != nil {
		j.problem, j.fault = err.Error(), err
	}
	if a.opts.Judge != nil {
		a.judge(j)
	}
	return send(message{job: j, done: true})
}

// pack packs a block into room and gives the memory of its bytes back.
func (a *Archive) pack(k *chunk, room []byte) []byte {
	room = a.packer.pack(k, room)
	a.giveBack(k)
	return room
}

func (a *Archive) giveBack(k *chunk) {
	raw := k.raw
	k.raw = nil
	a.pool.Put(&raw)
}

// judgeBytes is how large a record in a bundle may be to be judged: it has to be
// unpacked for it.
const judgeBytes = 32 << 20

// judge looks for leaks in a record, or the one in a bundle. A record that
// cannot be judged has a problem of its own already.
func (a *Archive) judge(j *job) {
	var src io.ReaderAt
	switch {
	case j.replay != nil && j.kind == source.Record:
		src = j.replay
	case j.kind == source.Record:
		f, err := workspace.OpenNamed(j.path)
		if err != nil {
			return
		}
		defer f.Close()
		src = f
	case j.bundle != nil && j.bundle.Has(bundle.RecordFile) && j.bundle.Size(bundle.RecordFile) <= judgeBytes:
		b, err := j.bundle.ReadFile(bundle.RecordFile, judgeBytes)
		if err != nil {
			return
		}
		src = bytes.NewReader(b)
	default:
		return
	}
	if found, err := a.opts.Judge(src); err == nil {
		j.findings, j.judged = found, true
	}
}

// cut reads the source into c.
func (a *Archive) cut(j *job, c *cutter) error {
	if j.replay != nil {
		return a.cutReplay(j, c)
	}
	if j.bundle != nil {
		return a.cutBundle(j, c)
	}
	f, err := workspace.OpenNamed(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone since it was found; the next refresh sees it
	}
	if err != nil {
		return err
	}
	defer f.Close()
	from, cursor, err := a.resume(j, f)
	if err != nil {
		return err
	}
	if j.kind == source.Record {
		return a.cutRecord(j, c, f, cursor)
	}
	feed := a.newFeed(j)
	c.feed = feed
	if s, ok := feed.(*sessionFeed); ok {
		if err := s.identify(io.NewSectionReader(f, 0, j.size)); err != nil {
			return err
		}
		j.began = s.began
		if from > 0 {
			if err := warm(s, f, from); err != nil {
				return err
			}
			s.due(nil) // it is in the block before
		}
		s.seq = j.seq
	}
	// A file may grow while it is read: what is behind its present end comes
	// with the next refresh.
	within, err := midLine(f, from)
	if err != nil {
		return err
	}
	return c.lines(io.NewSectionReader(f, from, j.size-from), from, within)
}

// midLine reports whether a place is within a line; blocks begin there only in
// one that is too long.
func midLine(f io.ReaderAt, at int64) (bool, error) {
	if at == 0 {
		return false, nil
	}
	before := make([]byte, 1)
	_, err := f.ReadAt(before, at-1)
	return before[0] != '\n', err
}

func (a *Archive) cutRecord(j *job, c *cutter, src io.ReaderAt, from record.Cursor) error {
	feed := &logFeed{index: a.newIndexer(), project: projectOf(j.path), of: recordOf(src)}
	if c.feed = feed; feed.of != nil {
		j.began, feed.of.alone = feed.of.begin.At, j.alone
		if from.Offset > 0 {
			if err := a.warmRecord(j, feed.of, src, from); err != nil {
				return err
			}
		}
	}
	return c.record(src, from, func(f record.Frame) {
		switch f.Kind {
		case record.KindHeader:
			j.header = string(f.Payload)
		case record.KindSeal:
			j.seal = string(f.Payload)
		}
	})
}

func (a *Archive) newFeed(j *job) feed {
	if k := session.OfName(j.kind); k != nil {
		return newSessionFeed(session.Of(j.path, k), a.newIndexer())
	}
	return &logFeed{index: a.newIndexer(), project: projectOf(j.path)}
}

func (a *Archive) newIndexer() indexer { return indexer{redactor: a.opts.Redactor, off: a.isCache} }

// projectOf is the workspace of a record.
func projectOf(path string) string {
	dir := filepath.Dir(path)
	if strings.HasSuffix(filepath.ToSlash(dir), ".conclave/records") {
		return filepath.Dir(filepath.Dir(dir))
	}
	return dir
}

// resume finds the place to read on from: the beginning of the last block,
// which may have grown, if the file still has there what the archive holds. If
// not, the file was replaced, and is read from its beginning as another one.
func (a *Archive) resume(j *job, f *os.File) (from int64, cursor record.Cursor, err error) {
	if j.known == nil {
		return 0, cursor, nil
	}
	pos, block, seq, at, err := a.lastBlock(j.known.id)
	if err != nil || pos < 0 {
		return 0, cursor, err
	}
	have, _, err := a.loadBlock(block)
	if err != nil {
		return 0, cursor, err
	}
	there := make([]byte, len(have))
	if n, _ := f.ReadAt(there, pos); n < len(have) || !bytes.Equal(there, have) {
		j.replaced = true
		return 0, cursor, nil
	}
	j.dropPos, j.seq = pos, seq
	if at != nil {
		if err := json.Unmarshal(at, &cursor); err != nil {
			return 0, cursor, fmt.Errorf("read the cursor of %s: %w", j.path, err)
		}
	}
	return pos, cursor, nil
}

// warm shows a mapping what came before the place to read on from.
func warm(s *sessionFeed, f *os.File, until int64) error {
	start := int64(0)
	if memory := s.file.Kind.Memory; memory > 0 {
		start = max(0, until-memory)
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, start, until-start), 1<<20)
	if start > 0 {
		if err := skipLine(r); err != nil {
			return err
		}
	}
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			if long = append(long, part...); len(long) > session.MaxLine {
				long = nil
				if err := skipLine(r); err != nil {
					return err
				}
			}
			continue
		}
		line := part
		if len(long) > 0 {
			long = append(long, part...)
			line = long
		}
		if line = bytes.TrimSuffix(line, []byte("\n")); len(bytes.TrimSpace(line)) > 0 {
			s.warm(line)
		}
		long = long[:0]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func skipLine(r *bufio.Reader) error {
	for {
		_, err := r.ReadSlice('\n')
		if err == nil || err == io.EOF {
			return nil
		}
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}
