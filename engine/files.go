package engine

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Absent is the digest of a file that is not there.
const Absent = "absent"

// Digest is how changes tell contents apart: SHA-256 in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// state is a file's content, by the running hash over it.
type state struct {
	sum    hash.Hash // nil for a file that is absent
	length int64
}

func stateOf(data []byte) state {
	h := sha256.New()
	h.Write(data)
	return state{h, int64(len(data))}
}

func read(r io.Reader) (state, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return state{h, n}, err
}

func (s state) digest() string {
	if s.sum == nil {
		return Absent
	}
	return hex.EncodeToString(s.sum.Sum(nil))
}

// plus is s with data behind it.
func (s state) plus(data []byte) state {
	h := sha256.New()
	if s.sum != nil {
		// The state of the standard library's hash can always be copied.
		b, err := s.sum.(encoding.BinaryMarshaler).MarshalBinary()
		if err == nil {
			err = h.(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
		}
		if err != nil {
			panic(err)
		}
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
	s, _, err := look(w.root, name, -1)
	return s, err
}

// look reads a file. With limit ≥ 0 it also returns the state of the first
// limit bytes. Whatever is no regular file is refused: a link would lead the
// change somewhere else.
func look(root *os.Root, name string, limit int64) (whole, first state, err error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, state{}, nil
	}
	if err != nil {
		return state{}, state{}, fileError(err)
	}
	if !info.Mode().IsRegular() {
		return state{}, state{}, fmt.Errorf("change %s: it is no regular file but %s", name, info.Mode().Type())
	}
	f, err := root.Open(name)
	if err != nil {
		return state{}, state{}, fileError(err)
	}
	defer f.Close()
	if limit >= 0 {
		if first, err = read(io.LimitReader(f, limit)); err != nil {
			return state{}, state{}, Halt(err)
		}
		if whole, err = read(f); err != nil {
			return state{}, state{}, Halt(err)
		}
		return whole, first, nil
	}
	if whole, err = read(f); err != nil {
		return state{}, state{}, Halt(err)
	}
	return whole, state{}, nil
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
