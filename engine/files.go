package engine

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
)

// Absent is the digest of a file that is not there.
const Absent = "absent"

// Digest is how changes tell contents apart: SHA-256 in hexadecimal.
func Digest(data []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// state is a file's content, by the running hash over it.
type state struct {
	sum    hash.Hash // nil for a file that is absent
	length int64
}

func (s state) digest() string {
	if s.sum == nil {
		return Absent
	}
	return fmt.Sprintf("%x", s.sum.Sum(nil))
}

// plus is s with data behind it.
func (s state) plus(data []byte) state {
	h := sha256.New()
	if s.sum != nil {
		// The state of the standard library's hash can always be copied.
		copied, err := s.sum.(hash.Cloner).Clone()
		if err != nil {
			panic(err)
		}
		h = copied
	}
	h.Write(data)
	return state{h, s.length + int64(len(data))}
}

// world is the files as they are, or will be after the changes planned so far.
type world struct {
	root   *os.Root
	states map[string]state
}

func (w *world) look(name string) (state, error) {
	if s, ok := w.states[name]; ok {
		return s, nil
	}
	return look(w.root, name, allBytes)
}

const allBytes = math.MaxInt64

// look reads the first limit bytes of a file. Whatever is no regular file is
// refused: a link would lead the change somewhere else.
func look(root *os.Root, name string, limit int64) (state, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, fileError(name, err)
	}
	if !info.Mode().IsRegular() {
		return state{}, &UnfitError{name, "it is no regular file but " + kindOf(info.Mode())}
	}
	f, err := root.Open(name)
	if err != nil {
		return state{}, fileError(name, err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, limit))
	return state{h, n}, Halt(err)
}

// fileError halts on what the system says, which may change; that a path leads
// out of the workspace is os.Root's own word.
func fileError(name string, err error) error {
	var sys syscall.Errno
	if errors.As(err, &sys) {
		return Halt(err)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &UnfitError{name, err.Error()}
}

// kindOf is a word for what is no regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
