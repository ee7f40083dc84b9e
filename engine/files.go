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
		return state{}, fileError(err)
	}
	if !info.Mode().IsRegular() {
		return state{}, fmt.Errorf("change %s: it is no regular file but %s", name, info.Mode().Type())
	}
	f, err := root.Open(name)
	if err != nil {
		return state{}, fileError(err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, limit))
	return state{h, n}, Halt(err)
}

// fileError halts on what the system says, which may change; that a path leads
// out of the workspace is os.Root's own word, and final.
func fileError(err error) error {
	var sys syscall.Errno
	if errors.As(err, &sys) {
		return Halt(err)
	}
	return err
}
