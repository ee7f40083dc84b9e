package collect

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"conclave/record"
	"conclave/session"
	"conclave/transcript"
)

// recording is one session and its record. The record is open while there is
// something to write; what it takes to go on stays in memory.
type recording struct {
	c       *Collector
	run     string
	path    string             // of the record
	sources map[string]*source // by place
	callers session.Callers

	writer  *record.Writer
	left    *record.Writer // no longer written, and to be closed
	head    record.Hash    // as the writer was closed
	emitter *transcript.Emitter
	past    *past // as the record was read

	used     time.Time
	dirty    bool // appended and not flushed
	unsynced bool // appended and not committed
	unstated bool // entries since the last stop event
}

// AppendLog implements transcript.Store: the record of the session, whichever
// writer it has by now.
func (s *recording) AppendLog(line []byte) error {
	s.dirty, s.unsynced = true, true
	return s.writer.AppendLog(line)
}

// open makes sure that the record can be written. t is of use when the record
// has yet to be made.
func (s *recording) open(t target) error {
	s.used = time.Now()
	if s.writer != nil {
		return nil
	}
	if s.emitter != nil {
		return s.reopen()
	}
	past := newPast()
	w, _, err := record.ResumeEach(s.path, past.visit)
	if errors.Is(err, fs.ErrNotExist) {
		return s.create(t)
	}
	if err != nil {
		return err
	}
	s.write(w)
	s.past = past
	s.unstated = past.unstated > 0
	sum, err := past.continued()
	if err != nil {
		return fmt.Errorf("resume record %s: %w", s.path, err)
	}
	return s.begin(past.attrs["prompt_name"], past.attrs["adapter"], sum)
}

func (s *recording) create(t target) error {
	attrs := map[string]string{"prompt_name": t.promptName(), "adapter": t.Kind.Adapter, "collected": t.Path}
	for name, value := range map[string]string{
		"session_id": t.Session, "project": t.Project, "parent_thread_id": t.Parent,
	} {
		if value != "" {
			attrs[name] = value
		}
	}
	w, err := record.Create(s.path, record.Header{Run: s.run, Program: s.c.o.Program, Attributes: attrs})
	if err != nil {
		return err
	}
	s.write(w)
	s.past = newPast()
	return s.begin(attrs["prompt_name"], attrs["adapter"], nil)
}

func (s *recording) begin(prompt, adapter string, sum *transcript.Summary) error {
	e, err := transcript.NewEmitter(transcript.Options{PromptName: prompt, Adapter: adapter,
		Store: s, Continue: sum, Stream: s.c.o.Stream, StreamQuiet: s.c.o.StreamQuiet, StreamNoRaw: s.c.o.StreamNoRaw})
	if err != nil {
		return errors.Join(fmt.Errorf("go on with record %s: %w: it was not made by collecting", s.path, err), s.close())
	}
	s.emitter = e
	if !s.past.started {
		return e.Start()
	}
	return nil
}

// reopen goes on with a record that was closed for a while. If it is not as it
// was left, somebody else wrote it.
func (s *recording) reopen() error {
	w, rec, err := record.Resume(s.path)
	if err != nil {
		return err
	}
	if rec.Head != s.head {
		return errors.Join(fmt.Errorf("go on with record %s: it has changed since it was closed; start again", s.path), w.Close())
	}
	s.write(w)
	return nil
}

// write takes a writer that was opened.
func (s *recording) write(w *record.Writer) {
	s.writer = w
	s.c.writing[s] = true
}

// close lets go of the record until it is needed again.
func (s *recording) close() error { return errors.Join(s.detach(), s.closeWriter()) }

// closeWriter makes what was written durable, and lets the next writer in.
func (s *recording) closeWriter() error {
	if s.left == nil {
		return nil
	}
	err := s.left.Close()
	s.left = nil
	return err
}

// detach writes the last of what is to be said, and leaves the writer to
// closeWriter. The record cannot be opened before that is done.
func (s *recording) detach() (err error) {
	if s.writer == nil {
		return nil
	}
	for _, src := range s.sources {
		err = errors.Join(err, src.state(false))
	}
	s.head, _ = s.writer.Head()
	s.left, s.writer, s.dirty, s.unsynced = s.writer, nil, false, false
	delete(s.c.writing, s)
	return err
}

// flush shows what was appended to readers of the record.
func (s *recording) flush() error {
	if s.writer == nil || !s.dirty {
		return nil
	}
	s.dirty = false
	return s.writer.Flush()
}

// commit states the positions and makes everything durable.
func (s *recording) commit() error {
	if s.writer == nil {
		return nil
	}
	for _, src := range s.sources {
		if err := src.state(false); err != nil {
			return err
		}
	}
	if !s.unsynced {
		return nil
	}
	s.dirty, s.unsynced = false, false
	return s.writer.Commit()
}

// stop says that collecting has ended for now, and leaves the writer to
// closeWriter.
func (s *recording) stop() error {
	if s.writer == nil || !s.unstated {
		return s.detach()
	}
	s.unstated = false
	return errors.Join(s.emitter.Stop(), s.detach())
}

// letGo forgets a record that is closed, if none of its files is held: it is
// read again when one of them changes.
func (s *recording) letGo() {
	for _, src := range s.sources {
		if !src.settled {
			return
		}
	}
	s.emitter, s.past = nil, nil
}

// event writes a position.
func (s *recording) event(p position) error {
	return s.emitter.Event(slog.LevelDebug, eventPosition, "position in a collected file", p)
}

// size is that of the record's file.
func (s *recording) size() int64 {
	info, err := os.Stat(s.path)
	if err != nil {
		return -1
	}
	return info.Size()
}
