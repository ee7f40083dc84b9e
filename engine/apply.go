package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// inPlace is from which length on Append writes into the file itself. Shorter
// files are replaced, so that no reader sees half an addition.
const inPlace = 256 << 10

// apply does what an intent says, unless it was done. Its errors are
// *EditedError, or halting: what the file system refuses today it may allow
// tomorrow.
func (e *Engine) apply(in intent) error {
	e.crash(fmt.Sprintf("before %s %s", in.Op, in.Path))
	err := e.do(in)
	var edited *EditedError
	if err != nil && !errors.As(err, &edited) {
		return Halt(fmt.Errorf("%s %s: %w", in.Op, in.Path, err))
	}
	e.crash(fmt.Sprintf("after %s %s", in.Op, in.Path))
	return err
}

func (e *Engine) do(in intent) error {
	if in.Op == Rename {
		return e.rename(in)
	}
	now, _, err := look(e.root, in.Path, -1)
	if err != nil {
		return err
	}
	switch got := now.digest(); got {
	case in.After:
		// Done, but perhaps not yet on the disk.
		return e.settle(in.Path)
	case in.Before:
		return e.change(in)
	default:
		if in.Op == Append && now.length > in.Length {
			if done, err := e.mend(in); done || err != nil {
				return err
			}
		}
		return errors.Join(&EditedError{Path: in.Path, Op: in.Op, Want: in.Before, Got: got}, e.tidy(in.Path))
	}
}

func (e *Engine) change(in intent) error {
	switch in.Op {
	case Delete:
		if err := e.root.Remove(in.Path); err != nil {
			return err
		}
		return e.syncDir(path.Dir(in.Path))
	case Append:
		if in.Length >= inPlace {
			return e.extend(in, in.Data)
		}
		old, err := e.root.ReadFile(in.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return e.replace(in.Path, append(old, in.Data...), in.Mode)
	case Create:
		return e.create(in)
	default:
		return e.replace(in.Path, in.Data, in.Mode)
	}
}

// replace puts a whole file in its place: written beside, flushed, renamed.
func (e *Engine) replace(name string, data []byte, mode fs.FileMode) error {
	return e.place(name, data, mode, e.root.Rename)
}

// create links a whole file into its place, which must be free.
func (e *Engine) create(in intent) error {
	err := e.place(in.Path, in.Data, in.Mode, e.root.Link)
	if errors.Is(err, fs.ErrExist) {
		return &EditedError{Path: in.Path, Op: in.Op, Want: Absent, Got: "a file"}
	}
	if err != nil {
		// A file system without links: that the place is free was seen just now.
		return e.replace(in.Path, in.Data, in.Mode)
	}
	return nil
}

// place writes a temporary file and moves it into its place. When the place is
// on another file system than .conclave, the temporary file is its neighbour.
func (e *Engine) place(name string, data []byte, mode fs.FileMode, move func(from, to string) error) error {
	var err error
	for _, temp := range tempNames(name) {
		if err = e.stage(name, temp, data, mode); err != nil {
			break
		}
		if err = move(temp, name); err == nil {
			return e.settle(name)
		}
		if errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return errors.Join(err, e.tidy(name))
}

// stage writes data to a temporary file and flushes it.
func (e *Engine) stage(name, temp string, data []byte, mode fs.FileMode) error {
	if err := e.mkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := e.mkdirAll(path.Dir(temp), 0o700); err != nil {
		return err
	}
	if err := e.remove(temp); err != nil {
		return err
	}
	if mode = mode.Perm(); mode == 0 {
		mode = 0o644
	}
	f, err := e.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if info, old := e.root.Lstat(name); old == nil {
		err = errors.Join(err, f.Chmod(info.Mode().Perm()))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	e.crash("staged " + name)
	return nil
}

// tempNames are the temporary files of name, always the same for one file, so
// that what a kill leaves behind is overwritten and not collected.
func tempNames(name string) []string {
	id := Digest([]byte(name))[:32]
	return []string{path.Join(tempDir, id), path.Join(path.Dir(name), ".conclave-"+id)}
}

func (e *Engine) remove(name string) error {
	if err := e.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// tidy removes the temporary files of name.
func (e *Engine) tidy(name string) error {
	var err error
	for _, temp := range tempNames(name) {
		err = errors.Join(err, e.remove(temp))
	}
	return err
}

// extend writes rest at the end of a long file.
func (e *Engine) extend(in intent, rest []byte) error {
	f, err := e.root.OpenFile(in.Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	half := len(rest) / 2 // two writes, so that tests can die between them
	_, err = f.Write(rest[:half])
	if err == nil {
		e.crash("half of " + in.Path)
		_, err = f.Write(rest[half:])
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// mend completes an addition that a kill has torn: the file begins as it was
// before, and what follows is the beginning of what was to be added.
func (e *Engine) mend(in intent) (bool, error) {
	_, first, err := look(e.root, in.Path, in.Length)
	if err != nil || first.digest() != in.Before {
		return false, err
	}
	f, err := e.root.Open(in.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	torn, err := io.ReadAll(io.NewSectionReader(f, in.Length, int64(len(in.Data))+1))
	if err != nil || !bytes.HasPrefix(in.Data, torn) {
		return false, err
	}
	return true, e.extend(in, in.Data[len(torn):])
}

func (e *Engine) rename(in intent) error {
	from, _, err := look(e.root, in.Path, -1)
	if err != nil {
		return err
	}
	to, _, err := look(e.root, in.To, -1)
	if err != nil {
		return err
	}
	switch {
	case from.digest() == Absent && to.digest() == in.After:
		return e.settle(in.Path, in.To)
	case from.digest() != in.Before:
		return &EditedError{Path: in.Path, Op: in.Op, Want: in.Before, Got: from.digest()}
	case to.digest() != Absent:
		return &EditedError{Path: in.To, Op: in.Op, Want: Absent, Got: to.digest()}
	}
	if err := e.mkdirAll(path.Dir(in.To), 0o755); err != nil {
		return err
	}
	if err := e.root.Rename(in.Path, in.To); err != nil {
		return err
	}
	return e.settle(in.Path, in.To)
}

// settle makes the names of files durable.
func (e *Engine) settle(names ...string) error {
	for _, name := range names {
		if err := e.tidy(name); err != nil {
			return err
		}
		err := e.syncDir(path.Dir(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file deleted with its directory
			return err
		}
	}
	return nil
}

// mkdirAll makes directories and their names durable.
func (e *Engine) mkdirAll(dir string, mode fs.FileMode) error {
	if dir == "." {
		return nil
	}
	if info, err := e.root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := e.mkdirAll(path.Dir(dir), mode); err != nil {
		return err
	}
	if err := e.root.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return e.syncDir(path.Dir(dir))
}
