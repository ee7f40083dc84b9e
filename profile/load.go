package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/workspace"
)

// Limits of a pack, in a directory or an archive.
const (
	maxArchive  = 8 << 20 // bytes of the archive itself
	maxUnpacked = 4 << 20 // bytes of all that is in it
	maxFile     = 1 << 20 // bytes of one file in it
	maxEntries  = 100
)

// Load reads a pack from a directory, a .zip or a .tar.gz. An error means that
// there is nothing to read; everything that is wrong with what was read is in
// the pack's Faults.
func Load(name string) (*Pack, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open pack: %w", err)
	}
	if info.IsDir() {
		return loadDir(name, FromPath)
	}
	if !IsArchive(name) {
		return nil, fmt.Errorf("open pack %s: a pack is a directory, a .zip or a .tar.gz", name)
	}
	if info.Size() > maxArchive {
		f := &files{name: archiveName(name), where: filepath.ToSlash(name)}
		f.fault(f.where, "archive-size", fmt.Sprintf("archive is %d bytes long", info.Size()),
			fmt.Sprintf("at most %d are read; nine profiles need a hundredth", maxArchive))
		return newPack(f, FromPath), nil
	}
	data, err := workspace.ReadNamed(name, maxArchive)
	if err != nil {
		return nil, fmt.Errorf("open pack: %w", err)
	}
	return newPack(readArchive(filepath.ToSlash(name), data), FromPath), nil
}

// IsArchive reports whether a file name is that of an archive Load can read.
func IsArchive(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".zip") || strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

func archiveName(name string) string {
	base := filepath.Base(name)
	for _, ext := range []string{".zip", ".tar.gz", ".tgz"} {
		if n := len(base) - len(ext); n > 0 && strings.EqualFold(base[n:], ext) {
			return base[:n]
		}
	}
	return base
}

// loadDir reads a directory through os.Root: nothing outside it is touched.
func loadDir(dir string, origin Origin) (*Pack, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open pack: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open pack: %w", err)
	}
	defer root.Close()
	f, err := readDir(root.FS(), filepath.Base(abs), filepath.ToSlash(dir))
	if err != nil {
		return nil, fmt.Errorf("open pack %s: %w", dir, err)
	}
	return newPack(f, origin), nil
}

// readDir takes the Markdown files at the top of a directory. Other files are
// none of ours; links are refused, for they may lead anywhere tomorrow.
func readDir(fsys fs.FS, name, where string) (*files, error) {
	f := &files{name: name, where: where, inside: "/", data: map[string][]byte{}}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	if len(entries) > maxEntries {
		f.fault(where, "pack-count", fmt.Sprintf("the directory holds %d files", len(entries)),
			fmt.Sprintf("a pack has nine profiles and at most %d files", maxEntries))
		return f, nil
	}
	for _, e := range entries {
		if !strings.EqualFold(filepath.Ext(e.Name()), ".md") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if !e.Type().IsRegular() {
			f.fault(f.path(e.Name()), "pack-link", e.Name()+" is not a plain file", "put the file itself there; links and devices are not followed")
			continue
		}
		data, err := readLimited(fsys, e.Name())
		if errors.Is(err, errTooBig) {
			f.fault(f.path(e.Name()), "profile-size", e.Name()+" is too long", fmt.Sprintf("keep it under %d bytes", maxProfile))
			continue
		}
		if err != nil {
			return nil, err
		}
		f.data[e.Name()] = data
	}
	return f, nil
}

var errTooBig = errors.New("too big")

func readLimited(fsys fs.FS, name string) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAtMost(file, maxProfile)
}

// readAtMost reads everything, or fails with errTooBig beyond a limit. The size
// that an archive declares is not believed.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, errTooBig
	}
	return b.Bytes(), nil
}
