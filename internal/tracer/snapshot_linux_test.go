package tracer

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// snapshot is everything below the directories that are watched, as it was at a
// moment at which nobody could change it: what a kill leaves there.
type snapshot []file

// file is one of a snapshot; a directory stands before what is in it.
type file struct {
	name string
	mode fs.FileMode
	time time.Time
	same string // an earlier name of the same file
	to   string // of a link
	data []piece
}

// piece is a part of a file, of which the shelf has one copy.
type piece *[]byte

// shelf keeps the pieces of files. Of two snapshots that follow each other
// almost all is the same.
type shelf struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]piece
}

const pieceSize = 4 << 10

func (s *shelf) keep(data []byte) []piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []piece
	for part := range slices.Chunk(data, pieceSize) {
		sum := sha256.Sum256(part)
		p := s.kept[sum]
		if p == nil {
			own := bytes.Clone(part)
			p = &own
			s.kept[sum] = p
		}
		all = append(all, p)
	}
	return all
}

// photographer makes snapshots of one place, one after the other.
type photographer struct {
	watch
	*shelf
	known map[string]kept // by names
}

// kept is the content of a file when it was last read.
type kept struct {
	inode uint64
	size  int64
	data  []piece
}

// take makes a snapshot. Of what is known nothing is read again but the file that
// has changed; "" stands for all of them.
func (p *photographer) take(changed string) (snapshot, error) {
	var all snapshot
	inodes := map[uint64]string{}
	for _, top := range p.tops {
		err := filepath.WalkDir(filepath.Join(p.dir, top), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			f := file{name: strings.TrimPrefix(name, p.dir+"/"), mode: info.Mode(), time: info.ModTime()}
			stat := info.Sys().(*syscall.Stat_t)
			switch {
			case d.IsDir():
			case d.Type() == fs.ModeSymlink:
				f.to, err = os.Readlink(name)
			case !d.Type().IsRegular():
				return nil // nobody listens there any more
			case stat.Nlink > 1 && inodes[stat.Ino] != "":
				f.same = inodes[stat.Ino]
			default:
				inodes[stat.Ino] = f.name
				f.data, err = p.content(f.name, stat, changed == "" || changed == f.name)
			}
			all = append(all, f)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (p *photographer) content(name string, stat *syscall.Stat_t, changed bool) ([]piece, error) {
	old, ok := p.known[name]
	if ok && !changed && old.inode == stat.Ino && old.size == stat.Size {
		return old.data, nil
	}
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return nil, err
	}
	now := kept{stat.Ino, stat.Size, p.keep(data)}
	p.known[name] = now
	return now.data, nil
}

// restore makes everything as it was.
func (w watch) restore(s snapshot) error {
	for _, top := range w.tops {
		if err := os.RemoveAll(filepath.Join(w.dir, top)); err != nil {
			return err
		}
	}
	for _, f := range s {
		if err := f.restore(w.dir); err != nil {
			return err
		}
	}
	for _, f := range slices.Backward(s) { // a directory after what is in it
		if f.to == "" {
			if err := os.Chtimes(filepath.Join(w.dir, f.name), f.time, f.time); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f file) restore(dir string) error {
	name := filepath.Join(dir, f.name)
	switch {
	case f.to != "":
		return os.Symlink(f.to, name)
	case f.same != "":
		return os.Link(filepath.Join(dir, f.same), name)
	case f.mode.IsDir():
		if err := os.Mkdir(name, 0o700); err != nil {
			return err
		}
		return os.Chmod(name, f.mode.Perm())
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for _, p := range f.data {
		if _, err = out.Write(*p); err != nil {
			break
		}
	}
	return errors.Join(err, out.Chmod(f.mode.Perm()), out.Close())
}

// volatile says whether a file is memory of those who have a database open: the
// first who opens it when they are dead makes it anew. It is written without the
// system being asked.
func (f file) volatile() bool { return strings.HasSuffix(f.name, "-shm") }

// differs says in what another snapshot is not this one; "" for nothing.
func (s snapshot) differs(other snapshot) string {
	var bad []string
	for i := range max(len(s), len(other)) {
		switch {
		case i >= len(s) || i >= len(other) || s[i].name != other[i].name:
			return strings.Join(append(bad, fmt.Sprintf("%s is not in both", append(s[i:], other[i:]...)[0].name)), "\n")
		case s[i].mode != other[i].mode || s[i].same != other[i].same || s[i].to != other[i].to:
			bad = append(bad, s[i].name+" is of another kind")
		case !s[i].volatile() && !slices.Equal(s[i].data, other[i].data):
			bad = append(bad, s[i].name+" has other bytes")
		}
	}
	return strings.Join(bad, "\n")
}
