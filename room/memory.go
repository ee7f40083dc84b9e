package room

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// memory is a file or a directory of a file system in memory. A directory is a
// fileSink to fill and, once it is filled, an fs.FS; to readers every node is its
// own description.
type memory struct {
	name  string
	mode  fs.FileMode
	data  []byte
	below map[string]*memory // of a directory
}

func newMemory(name string) *memory {
	return &memory{name: name, mode: fs.ModeDir | 0o700, below: map[string]*memory{}}
}

func (m *memory) sub(dir string) (fileSink, error) {
	if dir == "." {
		return m, nil
	}
	for element := range strings.SplitSeq(dir, "/") {
		next := m.below[element]
		if next == nil {
			next = newMemory(element)
			m.below[element] = next
		}
		if !next.IsDir() {
			return nil, fmt.Errorf("%q is a file: %w", dir, fs.ErrExist)
		}
		m = next
	}
	return m, nil
}

func (m *memory) create(name string, mode fs.FileMode) (io.WriteCloser, error) {
	if m.below[name] != nil {
		return nil, fmt.Errorf("%q: %w", name, fs.ErrExist)
	}
	f := &memory{name: name, mode: mode}
	m.below[name] = f
	return memoryWriter{f}, nil
}

// Close does nothing: what is in memory stays there.
func (m *memory) Close() error { return nil }

type memoryWriter struct{ *memory }

func (w memoryWriter) Write(p []byte) (int, error) {
	w.data = append(w.data, p...)
	return len(p), nil
}

// Open opens a file or a directory for reading.
func (m *memory) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if name != "." {
		for element := range strings.SplitSeq(name, "/") {
			if m = m.below[element]; m == nil {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
		}
	}
	if m.IsDir() {
		return &memoryDir{memory: m}, nil
	}
	return memoryFile{m, bytes.NewReader(m.data)}, nil
}

// Stat, and what fs.FileInfo and fs.DirEntry ask for.
func (m *memory) Stat() (fs.FileInfo, error) { return m, nil }
func (m *memory) Info() (fs.FileInfo, error) { return m, nil }
func (m *memory) Name() string               { return m.name }
func (m *memory) Size() int64                { return int64(len(m.data)) }
func (m *memory) Mode() fs.FileMode          { return m.mode }
func (m *memory) Type() fs.FileMode          { return m.mode.Type() }
func (m *memory) IsDir() bool                { return m.mode.IsDir() }
func (m *memory) ModTime() time.Time         { return time.Time{} }
func (m *memory) Sys() any                   { return nil }

type memoryFile struct {
	*memory
	*bytes.Reader
}

// Size is the file's; both of its parts have one.
func (f memoryFile) Size() int64 { return f.memory.Size() }

// memoryDir is a directory that is being listed.
type memoryDir struct {
	*memory
	listed int
}

func (d *memoryDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// ReadDir returns the next n entries, or the rest.
func (d *memoryDir) ReadDir(n int) ([]fs.DirEntry, error) {
	names := slices.Sorted(maps.Keys(d.below))[d.listed:]
	if n > 0 && len(names) == 0 {
		return nil, io.EOF
	}
	if n > 0 {
		names = names[:min(n, len(names))]
	}
	d.listed += len(names)
	list := make([]fs.DirEntry, len(names))
	for i, name := range names {
		list[i] = d.below[name]
	}
	return list, nil
}
