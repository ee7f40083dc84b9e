package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"conclave/internal/lockfile"
)

// Create begins the record of a run at path, which must not exist; missing
// directories are made (0700). Header and name are durable with the first
// Commit. Format is set here; a zero Created becomes now. The caller must Close
// the Writer.
func Create(path string, h Header) (*Writer, error) {
	if err := checkRunID(h.Run); err != nil {
		return nil, fmt.Errorf("create record %s: %w", path, err)
	}
	h.Format = formatVersion
	if h.Created.IsZero() {
		h.Created = time.Now()
	}
	h.Created = h.Created.UTC()
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	lock, err := lockRecord(path, h.Run)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create record: %w", err), lock.Unlock())
	}
	w := newWriter(path, h, osFile{f}, Cursor{Head: newChain().head})
	w.lock = lock
	if err := w.begin(); err != nil {
		// Without a header there is no run: leave the path free.
		return nil, errors.Join(err, f.Close(), os.Remove(path), lock.Unlock())
	}
	return w, nil
}

// begin writes magic and header.
func (w *Writer) begin() error {
	p, err := json.Marshal(w.header)
	if err == nil {
		err = checkSize(len(p))
	}
	if err != nil {
		return fmt.Errorf("create record %s: %w", w.path, err)
	}
	w.buf = append(w.buf, magic...)
	w.linked = len(magic)
	w.add(KindHeader, "", p, time.Now())
	w.unnamed = true
	return w.Flush()
}

// Recovery is what Resume found.
type Recovery struct {
	Header Header `json:"header"`
	Frames uint64 `json:"frames"` // whole frames, all of them kept
	// Unmarked of them stood past the last durable mark. They are whole,
	// but nobody had been told that they were durable.
	Unmarked uint64 `json:"unmarked"`
	// TornBytes were cut at TornAt.
	TornBytes int64 `json:"torn_bytes"`
	TornAt    int64 `json:"torn_at"`
	Head      Hash  `json:"head"` // over Frames
	// Seal is set when Resume returned ErrSealed: the run had ended.
	Seal *Seal `json:"seal,omitempty"`
}

// Resume continues the record of a run that was not sealed. It reads and
// verifies the whole file; a torn tail is cut, with a word about it in
// Recovery and as a log line "record.torn_tail" in the record. Damage is
// returned as a *Damage and nothing is changed. For a sealed record it returns
// ErrSealed, and the seal in Recovery. A file without a whole header is what a
// writer leaves that died at the very beginning: nobody was told of the run, so
// the file is removed, and the error is fs.ErrNotExist as if it had never been.
func Resume(path string) (*Writer, Recovery, error) { return ResumeEach(path, nil) }

// ResumeEach is Resume, and shows each frame that was kept to visit, in order,
// before the first new one can be appended: how a resumed run finds its
// numbers in one reading. An error of visit leaves the record as it is.
func ResumeEach(path string, visit func(Frame) error) (*Writer, Recovery, error) {
	real, err := filepath.EvalSymlinks(path) // one record, one lock
	if err != nil {
		return nil, Recovery{}, fmt.Errorf("resume record: %w", err)
	}
	lock, err := lockRecord(real, filepath.Base(real))
	if err != nil {
		return nil, Recovery{}, err
	}
	w, rec, err := resume(real, visit)
	if errors.Is(err, errUnborn) {
		err = errors.Join(err, os.Remove(real))
	}
	if err != nil {
		return nil, rec, errors.Join(fmt.Errorf("resume record %s: %w", path, err), lock.Unlock())
	}
	w.lock = lock
	if err := w.settle(rec); err != nil {
		return nil, rec, errors.Join(err, w.Close())
	}
	return w, rec, nil
}

var errUnborn = fmt.Errorf("it has no whole header, the run never began: %w", fs.ErrNotExist)

// resume opens the record and cuts what is torn.
func resume(path string, visit func(Frame) error) (*Writer, Recovery, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, Recovery{}, err
	}
	rec, end, err := survey(f, visit)
	if err == nil && rec.TornBytes > 0 {
		err = f.Truncate(end.Offset)
	}
	if err != nil {
		return nil, rec, errors.Join(err, f.Close())
	}
	return newWriter(path, rec.Header, osFile{f}, end), rec, nil
}

// survey reads all of f and says what Resume will do about it.
func survey(f *os.File, visit func(Frame) error) (Recovery, Cursor, error) {
	r := NewReader(f)
	for r.Next() {
		if r.Frame().Withheld {
			return Recovery{}, Cursor{}, errors.New("it is a copy with payloads withheld: resume the original")
		}
		if visit == nil {
			continue
		}
		if err := visit(r.Frame()); err != nil {
			return Recovery{}, Cursor{}, err
		}
	}
	end := r.Cursor()
	rec := Recovery{Header: r.header, Frames: end.Count, Unmarked: end.Count - r.durable, Head: end.Head, Seal: r.seal}
	switch {
	case r.Err() != nil:
		return rec, end, r.Err()
	case rec.Seal != nil:
		return rec, end, ErrSealed
	case rec.Frames == 0:
		return rec, end, errUnborn
	}
	info, err := f.Stat()
	if err != nil {
		return rec, end, err
	}
	rec.TornBytes, rec.TornAt = info.Size()-end.Offset, end.Offset
	return rec, end, nil
}

// settle makes durable what was kept, and says on the record what was cut.
func (w *Writer) settle(rec Recovery) error {
	w.durable = rec.Frames - rec.Unmarked
	if rec.TornBytes == 0 {
		return w.Commit()
	}
	w.durable = 0 // the cut itself has to become durable, too
	line, err := tornLine(rec, time.Now())
	if err != nil {
		return err
	}
	w.add(KindLog, "", line, time.Now())
	return w.Commit()
}

// tornLine is the word about a cut, as a log record.
func tornLine(rec Recovery, now time.Time) ([]byte, error) {
	type context struct {
		Frames    uint64 `json:"frames"`
		Unmarked  uint64 `json:"unmarked"`
		TornBytes int64  `json:"torn_bytes"`
		TornAt    int64  `json:"torn_at"`
	}
	return json.Marshal(struct {
		Timestamp string  `json:"timestamp"`
		Level     string  `json:"level"`
		Logger    string  `json:"logger"`
		Event     string  `json:"event"`
		Message   string  `json:"message"`
		Context   context `json:"context"`
	}{
		now.UTC().Format("2006-01-02T15:04:05.000000-07:00"), "WARNING", "conclave.record", "record.torn_tail",
		"Torn tail cut when the record was resumed.",
		context{rec.Frames, rec.Unmarked, rec.TornBytes, rec.TornAt},
	})
}

func lockRecord(path, what string) (*lockfile.Lock, error) {
	l, err := lockfile.TryLock(path+".lock", "record "+what)
	if err != nil {
		return nil, fmt.Errorf("write record %s: %w", path, err)
	}
	return l, nil
}
