package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The most that is read of a file, by its kind.
const (
	MaxConfig  = 1 << 20  // conclave.yaml, .gitignore
	MaxText    = 1 << 20  // instructions, scripts, what agents are told
	MaxQuest   = 2 << 20  // quest.md, which is read as a whole by every command
	MaxFile    = 64 << 20 // conversations and the like
	maxEntries = 200_000  // names in one directory
)

// Refused is something in a workspace that is not opened.
type Refused struct{ name, Reason string }

func (e *Refused) Error() string { return e.name + ": " + e.Reason }

// SizeError is a file that is larger than its kind may be.
type SizeError struct {
	name       string
	size, most int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: %d bytes, at most %d are read; make it smaller", e.name, e.size, e.most)
}

// errChanged is a file that was exchanged while it was opened.
var errChanged = errors.New("it changed while it was opened; try again")

// ReadFile reads a regular file of at most that many bytes, whole.
func ReadFile(root *os.Root, name string, most int64) ([]byte, error) {
	f, info, err := openPlain(root, name, fs.FileMode.IsRegular)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, info, name, most)
}

func readAtMost(f *os.File, info fs.FileInfo, name string, most int64) ([]byte, error) {
	if info.Size() > most {
		return nil, &SizeError{name, info.Size(), most}
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	if n := int64(len(data)); n > most {
		return nil, &SizeError{name, n, most}
	}
	return data, nil
}

// ReadDir lists a directory below root that no link leads to, sorted by name; "."
// is root itself.
func ReadDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, _, err := openPlain(root, name, fs.FileMode.IsDir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return list(f, name)
}

// openPlain opens what is at a name if it is of the wanted kind. Every part of
// the name is looked at without following it, opened, and compared: what was
// opened is what stood there under that very name.
func openPlain(root *os.Root, name string, want func(fs.FileMode) bool) (*os.File, fs.FileInfo, error) {
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, nil, &Refused{name, "not a path inside the workspace"}
	}
	if dir := path.Dir(name); dir != "." {
		parent, err := openParent(root, dir, name)
		if err != nil {
			return nil, nil, err
		}
		defer parent.Close()
		root = parent
	}
	f, info, err := OpenIn(root, path.Base(name), os.O_RDONLY, want)
	return f, info, explain(name, err)
}

// Unfit says why a thing in a held directory is not opened: it is of another kind,
// it has other names (hard links), or it was exchanged meanwhile.
type Unfit struct {
	Mode    fs.FileMode
	Names   uint64
	Changed bool
}

func (e *Unfit) Error() string {
	switch {
	case e.Changed:
		return errChanged.Error()
	case e.Names != 1:
		return "a file with other names (hard links), which may lie elsewhere; put a copy there"
	}
	return unwanted(e.Mode)
}

// OpenIn opens what is at one name in a held directory if it is of the wanted
// kind: it is looked at without following it, opened, and compared. What is not
// opened for what it is gives an *Unfit. One that another of our own replaces or
// removes at that very moment is looked at again: it is there, or it is not.
func OpenIn(root *os.Root, name string, flags int, want func(fs.FileMode) bool) (*os.File, fs.FileInfo, error) {
	for try := 1; ; try++ {
		f, info, err := openIn(root, name, flags, want)
		var unfit *Unfit
		if try == openTries || !errors.As(err, &unfit) || !unfit.Changed && unfit.Names > 0 {
			return f, info, err
		}
	}
}

// openTries bounds how often something is looked at that changes all the time.
const openTries = 10

func openIn(root *os.Root, name string, flags int, want func(fs.FileMode) bool) (*os.File, fs.FileInfo, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !want(before.Mode()) {
		return nil, nil, &Unfit{Mode: before.Mode(), Names: 1}
	}
	f, err := root.OpenFile(name, flags|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err == nil && (!want(after.Mode()) || !os.SameFile(before, after)) {
		err = &Unfit{Changed: true}
	}
	if n := uint64(1); err == nil && !after.IsDir() {
		if n, err = links(f, after); err == nil && n != 1 {
			err = &Unfit{Mode: after.Mode(), Names: n}
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, after, nil
}

// OpenDirIn holds a directory inside a held one.
func OpenDirIn(root *os.Root, name string) (*os.Root, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, &Unfit{Mode: before.Mode(), Names: 1}
	}
	child, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := child.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		child.Close()
		return nil, &Unfit{Changed: true}
	}
	return child, nil
}

// explain names the thing, and what to do about it.
func explain(name string, err error) error {
	var unfit *Unfit
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &unfit):
		return fmt.Errorf("%s: %w", name, cause(err))
	case unfit.Changed:
		return fmt.Errorf("%s: %w", name, errChanged)
	}
	return &Refused{name, unfit.Error()}
}

// openParent opens the directories of a path one by one.
func openParent(root *os.Root, dir, name string) (*os.Root, error) {
	at, held := root, (*os.Root)(nil)
	walked := ""
	for part := range strings.SplitSeq(dir, "/") {
		walked = path.Join(walked, part)
		next, err := OpenDirIn(at, part)
		err = explain(walked, err)
		if held != nil {
			held.Close()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", name, cause(err))
		}
		if err != nil {
			return nil, err
		}
		at, held = next, next
	}
	return held, nil
}

// list reads a directory's names, sorted, and refuses one that has too many.
func list(f *os.File, name string) ([]fs.DirEntry, error) {
	entries, err := f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	if len(entries) > maxEntries {
		return nil, &Refused{name, fmt.Sprintf("more than %d names in one directory; nobody needs so many", maxEntries)}
	}
	sortEntries(entries)
	return entries, nil
}

// unwanted says what a thing is that should have been something else, and what
// to do about it.
func unwanted(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a link, and links are not followed; put the thing itself there, or remove it"
	case mode.IsRegular():
		return "a file, not a directory; move it away"
	case mode.IsDir():
		return "a directory, not a file; move it away"
	}
	return odd(mode) + "; remove it"
}

// odd says what a thing is that is no regular file.
func odd(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory, not a regular file"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO, not a regular file"
	case mode&fs.ModeSocket != 0:
		return "a socket, not a regular file"
	}
	return "a device or the like, not a regular file"
}

// cause drops the operation and path that the message names already.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return le.Err
	}
	return err
}
