package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReadOwn reads a file that the program keeps in a workspace by its path: a
// regular file, no link. The directory is one that was opened through the door.
func ReadOwn(file string, most int64) ([]byte, error) {
	f, info, err := openOwn(file, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, info, file, most)
}

// OpenOwn opens such a file for reading and writing and makes it if it is not
// there. Nothing is made, written or cut through a link.
func OpenOwn(file string, mode fs.FileMode) (*os.File, error) {
	f, _, err := openOwn(file, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	}
	return f, err
}

func openOwn(file string, flags int) (*os.File, fs.FileInfo, error) {
	before, err := os.Lstat(file)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, &Refused{file, unwanted(before.Mode())}
	}
	f, err := os.OpenFile(file, flags|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err != nil || !os.SameFile(before, after) {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", file, errChanged)
	}
	return f, after, nil
}
