package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Tracked says whether the repository that a directory is in has something of
// that name there in its index, or below it: then it came with the repository, or
// goes with it. No program is run: the index is read once, in any of its forms, and
// nothing where there is no repository. A split index counts as if nothing had been
// taken out of it since it was split.
//
// An error says that the index could not be read. Nobody hides by it: a .git does
// not come with a clone, and whoever packs one up can leave it out as well.
func Tracked(dir, name string) (bool, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	top, err := locate(dir)
	if errors.Is(err, ErrNone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	at, err := filepath.Rel(top, dir)
	if err != nil {
		return false, err
	}
	prefix := ""
	if at != "." {
		prefix = filepath.ToSlash(at) + "/"
	}
	tracked, err := anyTracked(top, func(path []byte) bool {
		below, ok := bytes.CutPrefix(path, []byte(prefix))
		if !ok || len(below) < len(name) || !strings.EqualFold(string(below[:len(name)]), name) {
			return false
		}
		first, _, _ := strings.Cut(string(below), "/")
		return first == name ||
			strings.EqualFold(first, name) && sameFile(filepath.Join(dir, first), filepath.Join(dir, name))
	})
	if err != nil {
		err = fmt.Errorf("read the index of the git repository at %s: %w", top, err)
	}
	return tracked, err
}

// sameFile: on some systems a name has many spellings.
func sameFile(a, b string) bool {
	x, errX := os.Lstat(a)
	y, errY := os.Lstat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// anyTracked asks of the paths in the index of a work tree, and in the one that it
// is split from.
func anyTracked(top string, is func([]byte) bool) (bool, error) {
	to := filepath.Join(top, ".git")
	if info, err := os.Stat(to); err != nil {
		return false, err
	} else if !info.IsDir() {
		if to, err = pointer(top, ".git", "gitdir: "); err != nil {
			return false, err
		}
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return false, err
	}
	defer root.Close()
	for name := "index"; ; {
		b, err := optional(root, name, maxIndex)
		if err != nil || len(b) == 0 {
			return false, err
		}
		found, base, err := searchIndex(b, is)
		if found || err != nil || base == "" || name != "index" {
			return found, err
		}
		name = base
	}
}

// How an index is laid out: a header, and entries with the state of a file, the
// name of its object, flags and its path.
const (
	indexHeader   = 12
	indexState    = 40
	indexMode     = 24 // where in the state the mode is
	indexExtended = 0x4000
	indexLength   = 0x0fff // of the path, as far as it goes
)

var errIndex = errors.New("it is in no form that is known")

// searchIndex asks of the paths of an index, and names the file that it is split
// from. How long names of objects are stands in the configuration alone: it is
// tried.
func searchIndex(b []byte, is func([]byte) bool) (found bool, base string, err error) {
	for _, hash := range []int{20, 32} {
		if found, rest, ok := searchEntries(b, hash, is); ok {
			return found, sharedIndex(rest, hash), nil
		}
	}
	return false, "", errIndex
}

func searchEntries(b []byte, hash int, is func([]byte) bool) (found bool, rest []byte, ok bool) {
	if len(b) < indexHeader+hash || string(b[:4]) != "DIRC" {
		return false, nil, false
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return false, nil, false
	}
	rest = b[indexHeader : len(b)-hash]
	var path []byte
	for range count {
		if path, rest, ok = nextEntry(rest, path, hash, version == 4); !ok {
			return false, nil, false
		}
		found = found || is(path)
	}
	return found, rest, true
}

// sharedIndex is the file that an extension behind the entries names, "" for none.
func sharedIndex(b []byte, hash int) string {
	for len(b) >= 8 {
		kind, size := string(b[:4]), int64(binary.BigEndian.Uint32(b[4:]))
		if b = b[8:]; size > int64(len(b)) {
			return ""
		}
		if kind == "link" && size >= int64(hash) {
			return "sharedindex." + hex.EncodeToString(b[:hash])
		}
		b = b[size:]
	}
	return ""
}

// nextEntry takes an entry off an index. A path in version 4 is what the one before
// is without its end, and more.
func nextEntry(b, before []byte, hash int, packed bool) (path, rest []byte, ok bool) {
	fixed := indexState + hash + 2
	if len(b) < fixed {
		return nil, nil, false
	}
	switch binary.BigEndian.Uint32(b[indexMode:]) >> 12 {
	case 0o4, 0o10, 0o12, 0o16: // a directory of a sparse one, a file, a link, a submodule
	default:
		return nil, nil, false
	}
	flags := binary.BigEndian.Uint16(b[fixed-2:])
	if flags&indexExtended != 0 {
		fixed += 2
	}
	if fixed > len(b) {
		return nil, nil, false
	}
	text, kept := b[fixed:], []byte(nil)
	if packed {
		strip, n := offsetVarint(text)
		if n == 0 || strip > uint64(len(before)) {
			return nil, nil, false
		}
		text, kept = text[n:], before[:len(before)-int(strip)]
	}
	end := bytes.IndexByte(text, 0)
	if end < 0 {
		return nil, nil, false
	}
	path, rest = text[:end], text[end+1:]
	if packed {
		path = append(bytes.Clone(kept), path...)
	} else {
		size := (fixed + end + 8) &^ 7
		if size > len(b) {
			return nil, nil, false
		}
		rest = b[size:]
	}
	return path, rest, int(flags&indexLength) == min(len(path), indexLength)
}

// offsetVarint reads a number as packs write offsets, and how long it is; 0 if it
// is none.
func offsetVarint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 9 {
		c := b[n]
		n++
		if v |= uint64(c & 0x7f); c&0x80 == 0 {
			return v, n
		}
		v = (v + 1) << 7
	}
	return 0, 0
}
