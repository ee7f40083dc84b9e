// Package atomicfile is the one way in which a file takes the place of another:
// written beside it under a name of its own, then renamed. A reader sees the old
// file or the new one, whole; after a kill one of the two is there.
//
// Whatever stands at the name, a link or a device too, is replaced and never
// written through. The mode is that of a new file, less the umask. Errors are
// *fs.PathError and name the file that was wanted, not the temporary one.
//
// Write and WriteIn are for what must outlive a pulled plug: the content is
// flushed before it gets its name, and the name after. Replace and Fill do not
// wait for the disk: they are for what can be made again.
//
// A kill between the two steps leaves a temporary file, hidden, which IsTemp
// knows: whoever lists a directory passes over it, and who holds its lock may
// remove it. The package starts nothing, keeps nothing and takes no lock: of two
// who write at once the last one wins, and who reads before writing needs a lock.
package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// Write puts data in the place of a file and makes both content and name durable.
func Write(name string, data []byte, mode fs.FileMode) error {
	return at(name, func(t target) error { return t.write(data, mode) })
}

// WriteIn is Write for a file below a directory that is open already.
func WriteIn(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	return target{root, name, name}.write(data, mode)
}

// Replace puts data in the place of a file and does not wait for the disk.
func Replace(name string, data []byte, mode fs.FileMode) error {
	return at(name, func(t target) error {
		temp, err := t.stage(mode, func(f *os.File) error {
			_, err := f.Write(data)
			return t.about(err)
		})
		return t.rename(temp, err)
	})
}

// Fill is Replace for content that is written piece by piece. An error of fill
// is returned as it is, and leaves what was there.
func Fill(name string, mode fs.FileMode, fill func(io.Writer) error) error {
	return at(name, func(t target) error {
		temp, err := t.stage(mode, func(f *os.File) error { return fill(f) })
		return t.rename(temp, err)
	})
}

// Stage writes the flushed temporary file of name beside it, for who gives it
// its name in a way of their own; they remove it when that is done or fails.
func Stage(root *os.Root, name string, data []byte, mode fs.FileMode) (temp string, err error) {
	return target{root, name, name}.flushed(data, mode)
}

// target is a file to be replaced.
type target struct {
	root  *os.Root
	name  string
	shown string // in errors
}

func at(name string, do func(target) error) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return target{shown: name}.about(err)
	}
	defer root.Close()
	return do(target{root, filepath.Base(name), name})
}

func (t target) write(data []byte, mode fs.FileMode) error {
	temp, err := t.flushed(data, mode)
	if err := t.rename(temp, err); err != nil {
		return err
	}
	return t.about(SyncDirIn(t.root, path.Dir(t.name)))
}

func (t target) flushed(data []byte, mode fs.FileMode) (temp string, err error) {
	return t.stage(mode, func(f *os.File) error {
		if _, err := f.Write(data); err != nil {
			return t.about(err)
		}
		return t.about(f.Sync())
	})
}

// stage makes the temporary file, or leaves none.
func (t target) stage(mode fs.FileMode, fill func(*os.File) error) (temp string, err error) {
	temp = path.Join(path.Dir(t.name), tempFor(path.Base(t.name)))
	f, err := t.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", t.about(err)
	}
	err = fill(f)
	if closing := f.Close(); err == nil {
		err = t.about(closing)
	}
	if err != nil {
		_ = t.root.Remove(temp) // a disk that cannot write may not remove either
	}
	return temp, err
}

// rename gives the temporary file its name, if it could be made.
func (t target) rename(temp string, staged error) error {
	if staged != nil {
		return staged
	}
	err := t.root.Rename(temp, t.name)
	if err != nil {
		_ = t.root.Remove(temp)
	}
	return t.about(err)
}

// about says of which file an error is: the temporary name means nothing to
// anybody.
func (t target) about(err error) error {
	if err == nil {
		return nil
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	} else if le := (*os.LinkError)(nil); errors.As(err, &le) {
		err = le.Err
	}
	return &fs.PathError{Op: "write", Path: t.shown, Err: err}
}

// temporary is what tempFor makes, and nobody else is likely to.
var temporary = regexp.MustCompile(`^\..+\.[0-9a-f]{16}\.new$`)

// IsTemp says that a name is that of a temporary file.
func IsTemp(name string) bool { return temporary.MatchString(name) }

// tempFor makes a new name beside base; few file systems have room for more
// than 255 bytes.
func tempFor(base string) string {
	var random [8]byte
	rand.Read(random[:])
	if len(base) > 200 {
		base = "long"
	}
	return "." + base + "." + hex.EncodeToString(random[:]) + ".new"
}
