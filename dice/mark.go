package dice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"conclave/internal/atomicfile"
	"conclave/workspace"
)

// Mark is where a log stood: the number of its last roll, and the hash of its
// last line. Who keeps a mark apart from the log knows later whether lines of
// it are missing, which the log alone cannot say.
type Mark struct {
	N    uint64 `json:"n"`
	Hash string `json:"hash"`
}

// Mark is where the log stands.
func (l *Log) Mark() Mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Mark{l.st.n, l.st.head}
}

// marks are all that is known of where the log has stood.
func (o Options) marks() ([]Mark, error) {
	out := o.Marks
	if o.Head == "" {
		return out, nil
	}
	data, err := workspace.ReadOwn(o.Head, workspace.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil // a log of an older version, or a new one
	}
	var m Mark
	if err == nil && json.Unmarshal(data, &m) == nil && m.Hash != "" {
		out = append(out[:len(out):len(out)], m)
	}
	return out, err
}

// Check says what is wrong with a log, without changing anything: a line that
// does not hold, or what marks name and it lacks. That there is none, and none is
// missed, is an fs.ErrNotExist.
func Check(opt Options) error {
	st, err := opt.expecting()
	if err != nil {
		return err
	}
	data, err := workspace.ReadOwn(opt.Path, workspace.MaxFile)
	if err != nil {
		return opt.gone(st, err)
	}
	if err := replay(opt.Path, data[:bytes.LastIndexByte(data, '\n')+1], st, nil); err != nil {
		return err
	}
	if err := st.missing(); err != nil {
		return &DamageError{opt.Path, 0, err}
	}
	return nil
}

// expecting is the state before the first line: what must still come.
func (o Options) expecting() (*state, error) {
	marks, err := o.marks()
	st := newState()
	for _, m := range marks {
		st.want[m.Hash] = m.N
	}
	return st, err
}

// gone makes damage of a log that is not there although something stood in it.
func (o Options) gone(st *state, err error) error {
	if missing := st.missing(); missing != nil && errors.Is(err, fs.ErrNotExist) {
		return &DamageError{o.Path, 0, fmt.Errorf("the log is gone: %w", missing)}
	}
	return err
}

// setHead keeps the mark of the newest line.
func (l *Log) setHead() error {
	if l.opt.Head == "" {
		return nil
	}
	data, err := json.Marshal(Mark{l.st.n, l.st.head})
	if err != nil {
		return err
	}
	return atomicfile.Write(l.opt.Head, append(data, '\n'), 0o600)
}

// missing says which mark the lines of a log do not bear out.
func (s *state) missing() error {
	for _, n := range s.want {
		if n > s.n {
			return fmt.Errorf("lines are missing: the log ends with roll %d, and roll %d had fallen", s.n, n)
		}
		return errors.New("lines are missing or were exchanged: the last line that this table wrote is not among them")
	}
	return nil
}

// there says whether the log is the file that was opened.
func (l *Log) there() error {
	held, err := l.f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(l.opt.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(held, now):
		return &DamageError{l.opt.Path, 0, errors.New("it was removed or exchanged while the table had it open")}
	case err != nil:
		return err
	case held.Size() != l.size:
		return fmt.Errorf("%s has %d bytes, expected %d: someone else writes to it", l.opt.Path, held.Size(), l.size)
	}
	return nil
}
