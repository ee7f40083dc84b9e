package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Bounds of what is read of a repository.
const (
	maxSmall = 64 << 10  // HEAD, a reference, a pointer
	maxText  = 4 << 20   // a configuration, a list of ignored files
	maxRefs  = 64 << 20  // packed-refs
	maxIndex = 256 << 20 // of a million files
)

// slurp reads a file of a repository whole. A link that leads out of it, what
// is no regular file and what is larger than the bound are errors.
func slurp(root *os.Root, name string, limit int64) ([]byte, time.Time, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case !info.Mode().IsRegular():
		return nil, time.Time{}, fmt.Errorf("%s is no regular file", f.Name())
	case info.Size() > limit:
		return nil, time.Time{}, fmt.Errorf("%s has more than %d bytes", f.Name(), limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if int64(len(b)) > limit {
		err = errors.Join(err, fmt.Errorf("%s has more than %d bytes", f.Name(), limit))
	}
	return b, info.ModTime(), err
}

// optional is slurp for a file that need not be there.
func optional(root *os.Root, name string, limit int64) ([]byte, error) {
	b, _, err := slurp(root, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// maxObjectFiles bounds the files of an object directory that are looked at.
const maxObjectFiles = 2_000_000

// checkObjects wants an object directory that holds its own objects: nothing in
// it is a link, a device or a FIFO, and it names no other directory.
func checkObjects(common *os.Root) error {
	const top = "objects"
	info, err := common.Lstat(top)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory of its own: the objects may be those of another repository", common.Name()+"/"+top)
	}
	seen := 0
	err = fs.WalkDir(common.FS(), top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > maxObjectFiles {
			return fmt.Errorf("%s holds more than %d files", common.Name()+"/"+top, maxObjectFiles)
		}
		if !d.IsDir() && !d.Type().IsRegular() {
			return fmt.Errorf("%s is no regular file: the objects may be those of another repository", common.Name()+"/"+path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	others, err := optional(common, top+"/info/alternates", maxText)
	if err == nil && len(others) > 0 {
		err = fmt.Errorf("%s/%s/info/alternates names objects of another repository: make it whole with git repack -a -d and remove that file",
			common.Name(), top)
	}
	return err
}
