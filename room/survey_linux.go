package room

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lister reads the directories of a view by descriptor: one call opens a
// directory, one adds the watch, and each name costs one more. Its entries
// hold until the next call.
type lister struct {
	top     *os.File
	watch   *watch
	buf     []byte
	entries []entry
}

func newLister(root *os.Root, w *watch) (*lister, error) {
	top, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	return &lister{top: top, watch: w, buf: make([]byte, 64<<10)}, nil
}

func (l *lister) close() { l.top.Close() }

// list reads a directory below the root, without following a link on the way,
// after it was put under watch. Of a hidden one only the types are needed.
func (l *lister) list(dir string, hidden bool) ([]entry, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(int(l.top.Fd()), dir, &how)
	switch err {
	case nil:
	case unix.ENOTDIR, unix.ELOOP: // it was replaced since it was listed
		return nil, fs.ErrNotExist
	default:
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	defer unix.Close(fd)
	if l.watch != nil {
		if err := l.watch.add(fd, dir, hidden); err != nil {
			return nil, err
		}
	}
	l.entries = l.entries[:0]
	for {
		n, err := unix.ReadDirent(fd, l.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, err)
		}
		if n == 0 {
			return l.entries, nil
		}
		if err := l.parse(fd, dir, l.buf[:n], hidden); err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, err)
		}
	}
}

// The layout of struct linux_dirent64.
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

func (l *lister) parse(fd int, dir string, b []byte, hidden bool) error {
	for len(b) > direntName {
		n := int(binary.NativeEndian.Uint16(b[direntLength:]))
		name := b[direntName:n]
		name = name[:bytes.IndexByte(name, 0)]
		if s := string(name); s != "." && s != ".." {
			e := newEntry(dir, name)
			known := b[direntType]
			var err error
			if hidden && known != unix.DT_UNKNOWN {
				e.mode = modeOf(uint16(known) << 12)
			} else {
				err = e.stat(fd, b[direntName:])
			}
			switch err {
			case nil:
				l.entries = append(l.entries, e)
			case unix.ENOENT: // it is gone
			default:
				return fmt.Errorf("look at %s: %w", e.name, err)
			}
		}
		b = b[n:]
	}
	return nil
}

// newEntry makes one string do for path and name.
func newEntry(dir string, name []byte) entry {
	if dir == "." {
		at := string(name)
		return entry{at: at, name: at}
	}
	var b strings.Builder
	b.Grow(len(dir) + 1 + len(name))
	b.WriteString(dir)
	b.WriteByte('/')
	b.Write(name)
	at := b.String()
	return entry{at: at, name: at[len(dir)+1:]}
}

// stat looks at the name in a directory's buffer, which ends in a zero byte.
func (e *entry) stat(fd int, name []byte) error {
	var st unix.Statx_t
	const want = unix.STATX_TYPE | unix.STATX_SIZE | unix.STATX_MTIME | unix.STATX_NLINK | unix.STATX_INO
	_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&name[0])),
		unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, want, uintptr(unsafe.Pointer(&st)), 0)
	if errno != 0 {
		return errno
	}
	e.mode = modeOf(st.Mode)
	e.size, e.mtime = int64(st.Size), st.Mtime.Sec*1e9+int64(st.Mtime.Nsec)
	e.id, e.links = inode{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}, uint64(st.Nlink)
	e.mount = st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
	return nil
}

// modeOf is the type of a file in Go's words.
func modeOf(mode uint16) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}
