package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"conclave/internal/atomicfile"
)

// inPlace is from which length on Append writes into the file itself. Shorter
// files are replaced, so that no reader sees half an addition.
const inPlace = 256 << 10

// application is intents on their way into files: directories whose names have
// changed are made durable once, at the end.
type application struct {
	*Engine
	touched map[string]struct{}
}

// apply does what intents say, in order, unless it was done. Its errors are
// *EditedError, or halting: what the file system refuses today it may allow
// tomorrow.
func (e *Engine) apply(intents ...intent) error {
	a := &application{e, map[string]struct{}{}}
	var stopped error
	for _, in := range intents {
		e.crash(fmt.Sprintf("before %s %s", in.Op, in.Path))
		err := a.do(in)
		var edited *EditedError
		if err != nil && !errors.As(err, &edited) {
			return Halt(fmt.Errorf("%s %s: %w", in.Op, in.Path, err))
		}
		e.crash(fmt.Sprintf("after %s %s", in.Op, in.Path))
		if stopped = err; err != nil {
			break
		}
	}
	for dir := range a.touched {
		err := atomicfile.SyncDirIn(e.root, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it went with its last file
			return Halt(fmt.Errorf("sync %s: %w", dir, err))
		}
	}
	return stopped
}

// touch has the directories of files made durable.
func (a *application) touch(names ...string) {
	for _, name := range names {
		a.touched[path.Dir(name)] = struct{}{}
	}
}

func (a *application) do(in intent) error {
	if in.Op == Rename {
		return a.rename(in)
	}
	now, err := look(a.root, in.Path, allBytes)
	if err != nil {
		return err
	}
	switch got := now.digest(); got {
	case in.After:
		// Done, but perhaps not yet on the disk.
		a.touch(in.Path)
		return a.tidy(in.Path)
	case in.Before:
		return a.change(in)
	default:
		if in.Op == Append && now.length > in.Length {
			if done, err := a.mend(in); done || err != nil {
				return err
			}
		}
		return errors.Join(&EditedError{Path: in.Path, Op: in.Op, Want: in.Before, Got: got}, a.tidy(in.Path))
	}
}

func (a *application) change(in intent) error {
	if in.Op == Append && in.Length >= inPlace {
		return a.extend(in, in.Data)
	}
	a.touch(in.Path)
	switch in.Op {
	case Delete:
		return a.root.Remove(in.Path)
	case Append:
		old, err := a.root.ReadFile(in.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return a.replace(in, append(old, in.Data...))
	case Create:
		return a.create(in)
	default:
		return a.replace(in, in.Data)
	}
}

// replace puts a whole file in its place: written beside, flushed, renamed.
func (a *application) replace(in intent, data []byte) error {
	return a.place(in, data, a.root.Rename)
}

// create links a whole file into its place, which must be free.
func (a *application) create(in intent) error {
	err := a.place(in, in.Data, func(from, to string) error {
		if err := a.root.Link(from, to); err != nil {
			return err
		}
		return a.root.Remove(from)
	})
	if errors.Is(err, fs.ErrExist) {
		return &EditedError{Path: in.Path, Op: in.Op, Want: Absent, Got: "a file"}
	}
	if err != nil {
		// A file system without links: that the place is free was seen just now.
		return a.replace(in, in.Data)
	}
	return nil
}

// place writes a temporary file and moves it into its place. When the place is
// on another file system than .conclave, the temporary file is its neighbour.
func (a *application) place(in intent, data []byte, move func(from, to string) error) error {
	var err error
	for i, temp := range tempNames(in.Path) {
		if err = a.stage(in, temp, data); err != nil {
			break
		}
		if err = move(temp, in.Path); err == nil && i == 0 {
			return nil
		}
		if err == nil || errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return errors.Join(err, a.tidy(in.Path))
}

// stage writes data to a temporary file and flushes it.
func (a *application) stage(in intent, temp string, data []byte) error {
	if err := a.mkdirAll(path.Dir(in.Path), 0o755); err != nil {
		return err
	}
	mode := in.Mode.Perm()
	if mode == 0 {
		mode = 0o644
	}
	mode = private(in.Path, mode)
	f, err := a.openTemp(temp, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if in.Before != Absent {
		if info, old := a.root.Lstat(in.Path); old == nil {
			err = errors.Join(err, f.Chmod(info.Mode().Perm()))
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	a.crash("staged " + in.Path)
	return nil
}

// openTemp makes a temporary file, in place of one that a kill has left.
func (a *application) openTemp(temp string, mode fs.FileMode) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := a.root.OpenFile(temp, flags, mode)
	switch {
	case errors.Is(err, fs.ErrExist):
		if err := a.remove(temp); err != nil {
			return nil, err
		}
	case errors.Is(err, fs.ErrNotExist):
		if err := a.mkdirAll(path.Dir(temp), 0o700); err != nil {
			return nil, err
		}
	default:
		return f, err
	}
	return a.root.OpenFile(temp, flags, mode)
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
	first, err := look(e.root, in.Path, in.Length)
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

func (a *application) rename(in intent) error {
	from, err := look(a.root, in.Path, allBytes)
	if err != nil {
		return err
	}
	to, err := look(a.root, in.To, allBytes)
	if err != nil {
		return err
	}
	switch {
	case from.digest() == Absent && to.digest() == in.After:
		a.touch(in.Path, in.To)
		return nil
	case from.digest() != in.Before:
		return &EditedError{Path: in.Path, Op: in.Op, Want: in.Before, Got: from.digest()}
	case to.digest() != Absent:
		return &EditedError{Path: in.To, Op: in.Op, Want: Absent, Got: to.digest()}
	}
	if err := a.mkdirAll(path.Dir(in.To), 0o755); err != nil {
		return err
	}
	a.touch(in.Path, in.To)
	return a.root.Rename(in.Path, in.To)
}

// private is the mode of what is made at a path: the engine's own is the
// person's alone, whatever was asked for.
func private(name string, mode fs.FileMode) fs.FileMode {
	if name == stateDir || strings.HasPrefix(name, stateDir+"/") {
		return mode & 0o700
	}
	return mode
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
	if err := e.root.Mkdir(dir, private(dir, mode)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.SyncDirIn(e.root, path.Dir(dir))
}
