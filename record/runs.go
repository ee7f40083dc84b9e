package record

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Extension ends the name of every record.
const Extension = ".record"

// NewRunID returns an id that sorts by time and that nobody else has:
// 20260102T150405.678Z-1f0c9a3b5d7e.
func NewRunID(now time.Time) string {
	var b [6]byte
	rand.Read(b[:])
	return now.UTC().Format("20060102T150405.000Z") + "-" + hex.EncodeToString(b[:])
}

// checkRunID accepts ids that are safe as file names on every system: letters,
// digits, and . _ - inside, at most 100 bytes.
func checkRunID(id string) error {
	if id == "" || len(id) > 100 {
		return fmt.Errorf("run id %.40q is %d bytes long: want 1 to 100", id, len(id))
	}
	for i := range len(id) {
		c := id[i]
		inside := i > 0 && i < len(id)-1 && strings.IndexByte("._-", c) >= 0
		if !inside && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return fmt.Errorf("run id %q: %q cannot be at byte %d", id, c, i)
		}
	}
	return nil
}

// Dir is where the records of a workspace are.
func Dir(workspaceRoot string) string {
	return filepath.Join(workspaceRoot, ".conclave", "records")
}

// Workspace is the workspace in which a record is kept; false for a file elsewhere.
func Workspace(file string) (root string, ok bool) {
	dir := filepath.Dir(file)
	root = filepath.Dir(filepath.Dir(dir))
	return root, Dir(root) == dir
}

// Path is where the record of a run is in a workspace.
func Path(workspaceRoot, runID string) (string, error) {
	if err := checkRunID(runID); err != nil {
		return "", err
	}
	return filepath.Join(Dir(workspaceRoot), runID+Extension), nil
}

// Info is a record that List found.
type Info struct {
	Run      string    `json:"run"`
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// List returns the records in dir in the order of their ids, which is that of
// time. It opens none of them. A directory that does not exist has none.
func List(dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	var found []Info
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), Extension)
		if !ok || checkRunID(id) != nil || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return nil, fmt.Errorf("list records: %w", err)
		}
		found = append(found, Info{Run: id, Path: filepath.Join(dir, e.Name()), Size: info.Size(), Modified: info.ModTime()})
	}
	return found, nil
}

// errMisnamed is returned for a record that lies under another run's name.
var errMisnamed = errors.New("the file holds another run than its name says")

// Named checks that the record at path is the one that its name says. A copy
// under another name would count as one more run.
func Named(path string, h Header) error {
	if name := strings.TrimSuffix(filepath.Base(path), Extension); name != h.Run {
		return fmt.Errorf("%s: %w: %s; it is a copy, or was renamed: move it elsewhere", path, errMisnamed, h.Run)
	}
	return nil
}
