package dice

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"conclave/internal/atomicfile"
	"conclave/workspace"
)

// Options of a log.
type Options struct {
	Path     string // of dice-log.jsonl
	SeedPath string // of the secret seed; kept with mode 0600, away from the campaign
	// Head is a file in which the log keeps its own Mark, away from the campaign,
	// and Marks are what others have kept: a log that lacks what they name was
	// cut, exchanged or removed.
	Head  string
	Marks []Mark
	// TestSeed fixes the seed of new epochs. The log then says "test".
	TestSeed *Seed
	// acceptLostSeed lets an epoch whose seed file is gone end as lost, so that
	// the table can go on. Its rolls can then never be verified.
	acceptLostSeed bool
}

// Log is an open dice log. It may be used by several goroutines; only one
// process may hold it (the campaign's lock sees to that).
type Log struct {
	mu   sync.Mutex
	opt  Options
	f    *os.File
	size int64
	st   *state
	seed Seed
	cut  int
	err  error // set when a write could not be undone
}

// seedLostError says that an epoch is open and its seed cannot be read.
type seedLostError struct {
	epoch int
	err   error
}

func (e *seedLostError) Error() string {
	return fmt.Sprintf("the seed of dice epoch %d is lost: %v", e.epoch, e.err)
}

func (e *seedLostError) Unwrap() error { return e.err }

// DamageError says what is wrong with a log, or with its seed: with which line,
// or 0 for all of it. Seal is the way on.
type DamageError struct {
	Path string
	Line int
	Err  error
}

func (e *DamageError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// OpenLog opens or creates a log and begins an epoch if none is open. A last
// line without its line feed was never shown to anyone: it is cut.
// Anything else that is wrong is a *DamageError and left alone; so is a log that
// lacks what a Mark names.
func OpenLog(opt Options) (*Log, error) {
	st, err := opt.expecting()
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(opt.Path); err != nil {
		if err := opt.gone(st, err); !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	f, err := workspace.OpenOwn(opt.Path, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Log{opt: opt, f: f, st: st}
	if err := l.load(); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *Log) load() error {
	data, err := io.ReadAll(l.f)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if err := replay(l.opt.Path, data[:whole], l.st, nil); err != nil {
		return err
	}
	if err := l.st.missing(); err != nil { // before anything is cut: it may be needed to find out
		return &DamageError{l.opt.Path, 0, err}
	}
	l.size, l.cut = int64(whole), len(data)-whole
	if l.cut > 0 {
		if err := l.f.Truncate(l.size); err != nil {
			return fmt.Errorf("cut the torn last line of %s: %w", l.opt.Path, err)
		}
		if err := l.f.Sync(); err != nil {
			return err
		}
	}
	return l.resume()
}

// replay walks the lines and hands each to see.
func replay(path string, data []byte, st *state, see func(no int, l Line) error) error {
	offset := int64(0)
	for no := 1; len(data) > 0; no++ {
		raw, rest, _ := bytes.Cut(data, []byte("\n"))
		line, err := decode(raw)
		if err == nil {
			err = st.apply(line, offset)
		}
		if err == nil && see != nil {
			err = see(no, line)
		}
		if err != nil {
			return &DamageError{path, no, err}
		}
		offset += int64(len(raw)) + 1
		data = rest
	}
	return nil
}

// resume finds the seed of the open epoch, or begins the next one.
func (l *Log) resume() error {
	if !l.st.open {
		return l.begin("")
	}
	seed, err := readSeed(l.opt.SeedPath)
	if err == nil && seed.commitment() != l.st.commit {
		err = errors.New("the seed file is of another epoch")
	}
	if err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err
		}
		if !l.opt.acceptLostSeed {
			return &DamageError{l.opt.SeedPath, 0, &seedLostError{l.st.epoch, err}}
		}
		if err := l.append(&Line{Event: eventLost, Epoch: l.st.epoch, Note: "the seed is lost"}); err != nil {
			return err
		}
		return l.begin("the seed before was lost")
	}
	l.seed = seed
	return nil
}

// begin commits to a new seed. The seed is on the disk before its commitment:
// a crash in between leaves a seed that nobody was promised.
func (l *Log) begin(note string) error {
	var seed Seed
	if l.opt.TestSeed != nil {
		seed = *l.opt.TestSeed
	} else {
		rand.Read(seed[:])
	}
	if err := writeSeed(l.opt.SeedPath, seed); err != nil {
		return err
	}
	l.seed = seed
	return l.append(&Line{
		Event: eventEpoch, V: epochVersion, Epoch: l.st.epoch + 1, Commit: seed.commitment(),
		Test: l.opt.TestSeed != nil, NoOverride: l.st.noOverride, Note: note,
	})
}

// append writes one line durably, then lets it count.
func (l *Log) append(line *Line) error {
	if l.err != nil {
		return l.err
	}
	data, err := line.encode(l.st.head)
	if err != nil {
		return err
	}
	if err := l.there(); err != nil {
		return err
	}
	if _, err = l.f.WriteAt(data, l.size); err == nil {
		err = l.f.Sync()
	}
	if err == nil && l.size == 0 {
		err = atomicfile.SyncDir(filepath.Dir(l.opt.Path))
	}
	if err != nil {
		if undo := l.f.Truncate(l.size); undo != nil {
			l.err = fmt.Errorf("write %s: %w; and the rest could not be cut: %v", l.opt.Path, err, undo)
			return l.err
		}
		return fmt.Errorf("write %s: %w", l.opt.Path, err)
	}
	if err := l.st.apply(*line, l.size); err != nil {
		l.err = fmt.Errorf("%s: wrote a line against the rules: %w", l.opt.Path, err)
		return l.err
	}
	l.size += int64(len(data))
	return l.setHead()
}

// Commitment is C of the current epoch, and whether its seed is a test's.
func (l *Log) Commitment() (commit string, test bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.commit, l.st.test
}

// TableSeed takes the table's own text into the current epoch. It must come
// before the first roll; once only.
func (l *Log) TableSeed(text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.st.seated {
		return errors.New("the table seed is fixed before the first roll of an epoch; rotate the dice to give a new one")
	}
	return l.table(text)
}

func (l *Log) table(text string) error {
	line := &Line{Event: eventTable, Epoch: l.st.epoch, Client: text}
	if text == "" {
		line.Note = "no table seed"
	}
	return l.append(line)
}

// Rotate shows the seed of the current epoch and begins the next one; roll
// numbers go on. Restoring a save point is a Rotate. The id makes it happen
// once: asked again after a kill, it does what is left of it.
func (l *Log) Rotate(id, reason string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.turn(id, reason); err != nil || l.st.open {
		return err
	}
	return l.begin(reason)
}

// turn ends the epoch, unless that was done by the same id.
func (l *Log) turn(id, reason string) error {
	if _, done := l.st.turned[id]; done {
		return nil
	}
	return l.finish(id, reason)
}

// End shows the seed of the current epoch. The next roll or OpenLog begins a
// new one.
func (l *Log) End(reason string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end(reason)
}

func (l *Log) end(reason string) error { return l.finish("", reason) }

func (l *Log) finish(id, reason string) error {
	if !l.st.open {
		return nil
	}
	return l.append(&Line{Event: eventSeed, Epoch: l.st.epoch, ID: id, Seed: hex.EncodeToString(l.seed[:]), Note: reason})
}

// Fork ends the epoch, copies the log to path and begins a new epoch here. The
// copy begins its own when it is opened: the two tables share no future number.
// The id is as for Rotate.
func (l *Log) Fork(id, path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.turn(id, "fork"); err != nil {
		return err
	}
	data := make([]byte, cmp.Or(l.st.turned[id], l.size))
	if _, err := l.f.ReadAt(data, 0); err != nil {
		return err
	}
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return err
	}
	if l.st.open {
		return nil
	}
	return l.begin("fork")
}

// Close closes the file; the epoch stays open for the next process.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}
