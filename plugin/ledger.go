package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"conclave/internal/atomicfile"
	"conclave/internal/lockfile"
)

// Ledger is what was written where, and who was told of it.
type Ledger struct {
	Format  int               `json:"format"`
	Files   map[string]string `json:"files"`          // below market, with their SHA-256
	Made    []string          `json:"made,omitempty"` // directories that were not there before
	Clients []Client          `json:"clients"`

	dir string
}

// Client is a program that was told of the plugin, for the person or in one
// project of theirs.
type Client struct {
	Name    string   `json:"client"`
	Project string   `json:"project,omitempty"` // "" for everywhere
	Before  Snapshot `json:"before"`            // what the client had then
}

// Is says whether it is that installation.
func (c Client) Is(name, project string) bool { return c.Name == name && c.Project == project }

// Read reads the ledger in a directory; one that is not there is empty.
func Read(dir string) (*Ledger, error) {
	l := &Ledger{dir: dir}
	return l, l.read()
}

func (l *Ledger) read() error {
	*l = Ledger{Format: 1, Files: map[string]string{}, Made: l.Made, dir: l.dir}
	text, err := os.ReadFile(l.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, l)
	}
	if err == nil && l.Format != 1 {
		err = fmt.Errorf("it is of format %d, and this program knows 1", l.Format)
	}
	for name := range l.Files {
		if err == nil && !filepath.IsLocal(filepath.FromSlash(name)) {
			err = fmt.Errorf("it names a file elsewhere: %q", name)
		}
	}
	if err != nil {
		return fmt.Errorf("read %s, which says what was installed: %w", l.file(), err)
	}
	return nil
}

// Locked does something with the ledger as it stands now, while nobody else does.
func (l *Ledger) Locked(do func() error) error {
	if err := l.makeDir(l.dir); err != nil {
		return err
	}
	lock, err := lockfile.TryLock(filepath.Join(l.dir, "lock"), "install the plugin")
	if err != nil {
		return err
	}
	if err = l.read(); err == nil {
		err = do()
	}
	err = errors.Join(err, lock.Unlock())
	if _, missing := os.Stat(l.file()); missing != nil {
		slices.SortFunc(l.Made, func(a, b string) int { return len(b) - len(a) })
		for _, dir := range l.Made {
			_ = os.Remove(dir) // which is empty only if nobody else uses it
		}
	}
	return err
}

func (l *Ledger) file() string { return filepath.Join(l.dir, "installed.json") }

// Market is the directory that clients are told of.
func (l *Ledger) Market() string { return filepath.Join(l.dir, "market") }

// Has says whether a client was told, for the person or in the project.
func (l *Ledger) Has(name, project string) bool {
	return slices.ContainsFunc(l.Clients, func(c Client) bool { return c.Is(name, project) })
}

// Keep writes the ledger.
func (l *Ledger) Keep() error {
	err := l.makeDir(l.dir)
	text, e := json.MarshalIndent(l, "", "  ")
	if err = errors.Join(err, e); err == nil {
		err = atomicfile.Write(l.file(), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep a list of what is installed: %w", err)
	}
	return nil
}

// Write brings the files there, and takes away those of an earlier version. What
// is not in the ledger is somebody else's, and is not written over. It returns the
// names of those that were not there as they are now.
func (l *Ledger) Write(files map[string][]byte) (written []string, err error) {
	old := maps.Clone(l.Files)
	for name, text := range files {
		if there, err := os.ReadFile(l.path(name)); err == nil && old[name] == "" && !bytes.Equal(there, text) {
			return nil, fmt.Errorf("%s is there already, and not of Conclave's writing: move it away", l.path(name))
		}
	}
	for name, text := range files {
		l.Files[name] = digest(text)
		if err := l.plan(filepath.Dir(l.path(name))); err != nil {
			return nil, err
		}
	}
	if err := l.Keep(); err != nil { // before the first of them
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if there, err := os.ReadFile(l.path(name)); err == nil && bytes.Equal(there, files[name]) {
			continue
		}
		if err := l.makeDir(filepath.Dir(l.path(name))); err != nil {
			return written, err
		}
		if err := atomicfile.Write(l.path(name), files[name], 0o600); err != nil {
			return written, fmt.Errorf("write the plugin: %w", err)
		}
		written = append(written, filepath.FromSlash(name))
	}
	for name := range old {
		if files[name] == nil {
			if _, err := l.remove(name); err != nil {
				return written, err
			}
			delete(l.Files, name)
		}
	}
	return written, l.Keep()
}

// Remove takes everything away that was written, but for directories, which go when
// it is Locked no more, and returns the files that
// somebody has changed since: they stay.
func (l *Ledger) Remove() (changed []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		kept, err := l.remove(name)
		if err != nil {
			return changed, err
		}
		if kept {
			changed = append(changed, l.path(name))
		}
	}
	if err := os.Remove(l.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return changed, err
	}
	return changed, nil
}

// remove removes a file if it is still what was written.
func (l *Ledger) remove(name string) (kept bool, err error) {
	there, err := os.ReadFile(l.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("take the plugin away: %w", err)
	case digest(there) != l.Files[name]:
		return true, nil
	}
	return false, os.Remove(l.path(name))
}

func (l *Ledger) path(name string) string { return filepath.Join(l.Market(), filepath.FromSlash(name)) }

// plan notes the directories that have to be made for one.
func (l *Ledger) plan(dir string) error {
	for !slices.Contains(l.Made, dir) {
		_, err := os.Stat(dir)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		l.Made = append(l.Made, dir)
		dir = filepath.Dir(dir)
	}
	return nil
}

func (l *Ledger) makeDir(dir string) error {
	if err := l.plan(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Snapshot is what a client has in its own directories: names, and the digests of
// its settings. Nothing else of it is read.
type Snapshot map[string]string

// Look takes one of directories, each to so many levels below it, and of the
// files whose digests count.
func Look(dirs map[string]int, files []string) (Snapshot, error) {
	s := Snapshot{}
	for dir, levels := range dirs {
		if err := s.look(dir, levels); err != nil {
			return nil, fmt.Errorf("look what the client has: %w", err)
		}
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil {
			s[name] = digest(text)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look what the client has: %w", err)
		}
	}
	return s, nil
}

func (s Snapshot) look(name string, levels int) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s[name] = ""
	if !info.IsDir() || levels == 0 {
		return nil
	}
	entries, err := os.ReadDir(name)
	for _, e := range entries {
		err = errors.Join(err, s.look(filepath.Join(name, e.Name()), levels-1))
	}
	return err
}

// Left are the names that are there now and were not before, each without what is
// below it unless that has our name, and the settings that are not what they were.
func (s Snapshot) Left(now Snapshot) (fresh, changed []string) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		before, was := s[name]
		_, above := s[filepath.Dir(name)]
		_, aboveNow := now[filepath.Dir(name)]
		switch {
		case !was && (above || !aboveNow || filepath.Base(name) == Name):
			fresh = append(fresh, name)
		case was && before != now[name]:
			changed = append(changed, name)
		}
	}
	return fresh, changed
}
