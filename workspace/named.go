package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OpenNamed opens a file that the person named on the command line. It may be
// reached by a link, for the person said so, but by none that leads out of a
// workspace: that is where somebody else may have put it. It is a regular file,
// or the open would wait for somebody who never comes, or read for ever.
func OpenNamed(file string) (*os.File, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	if err := LeadsOut(file); err != nil {
		return nil, err
	}
	return openRegular(file)
}

func openRegular(file string) (*os.File, error) {
	before, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, &Refused{file, odd(before.Mode())}
	}
	f, err := os.OpenFile(file, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && !after.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", file, errChanged)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// LeadsOut refuses a name in a workspace whose file is elsewhere.
func LeadsOut(file string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	root, ok := marked(filepath.Dir(abs))
	if !ok {
		return nil
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return &Refused{file, "a link that leads out of the workspace; name the file itself"}
	}
	return nil
}

// ReadNamed reads a file that the person named, of at most that many bytes.
func ReadNamed(file string, most int64) ([]byte, error) {
	f, err := OpenNamed(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readAtMost(f, info, file, most)
}

func sortEntries(entries []fs.DirEntry) {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}
