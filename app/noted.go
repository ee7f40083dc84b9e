package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"conclave/internal/atomicfile"
)

// notedDir is where a person's workspaces are noted, beside their archive: a file for
// each in which a quest was spoken of or a table played, with its path in it, so that
// Now looks there before anything of it is in the archive. "": no home is known.
func (a *App) notedDir() string {
	dir := a.userDataDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "conclave", "workspaces")
}

// noteWorkspace notes a workspace in which the engine works, and forgets those that are gone.
// Nothing depends on it: where it cannot be written, the archive learns of the
// workspace later.
func (a *App) noteWorkspace(root string) {
	dir := a.notedDir()
	sum := sha256.Sum256([]byte(root))
	file := filepath.Join(dir, hex.EncodeToString(sum[:16]))
	if _, err := os.Lstat(file); dir == "" || err == nil || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	for _, n := range a.noted() {
		if _, err := os.Lstat(n.root); errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(n.file)
		}
	}
	_ = atomicfile.Write(file, []byte(root), 0o600)
}

type notedPlace struct {
	root, file string
	at         time.Time
}

// noted are the workspaces that were noted, the latest first.
func (a *App) noted() (list []notedPlace) {
	dir := a.notedDir()
	files, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return nil
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxNoted {
			continue
		}
		n := notedPlace{file: filepath.Join(dir, f.Name()), at: info.ModTime()}
		if text, err := os.ReadFile(n.file); err == nil && filepath.IsAbs(string(text)) {
			n.root = string(text)
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b notedPlace) int { return b.at.Compare(a.at) })
	return list
}

// maxNoted is how long the path of a workspace may be.
const maxNoted = 64 << 10

// notedAt is another time when a workspace was noted.
func (a *App) notedAt() time.Time {
	info, err := os.Stat(a.notedDir())
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
