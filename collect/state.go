package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"conclave/internal/atomicfile"
	"conclave/internal/lockfile"
)

// State is how far collecting into a workspace has come, as the collector last
// said.
type State struct {
	Watching bool      `json:"watching"`         // somebody collects now
	By       string    `json:"by,omitempty"`     // who that is
	At       time.Time `json:"at,omitzero"`      // when the rest was said
	Behind   int64     `json:"behind,omitempty"` // bytes on disk that were not read then
	All      Total     `json:"all"`
	Balance            // of the last run alone, which may have been told to read one file
}

// Total is what was read of all files that any run has read to their ends, and of
// those of the last run.
type Total struct {
	Files   int   `json:"files"`
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	Lines   int64 `json:"lines"`
	Entries int64 `json:"entries"`
}

func stateFile(workspace string) string { return filepath.Join(stateDir(workspace), "state.json") }

// ReadState says how far collecting into a workspace has come.
func ReadState(workspace string) (State, error) {
	var s State
	text, err := os.ReadFile(stateFile(workspace))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("read the state of collecting: %w", err)
	}
	s.Balance.sort()
	s.Watching, s.By = false, ""
	if _, err := os.Stat(filepath.Join(stateDir(workspace), "lock")); err != nil {
		return s, nil // nobody has collected here
	}
	lock, err := lockfile.TryLock(filepath.Join(stateDir(workspace), "lock"), "look who collects")
	var held *lockfile.HeldError
	if errors.As(err, &held) {
		s.Watching, s.By = true, held.Holder.String()
		return s, nil
	}
	if err != nil {
		return s, err
	}
	return s, lock.Unlock()
}

// keepState writes how far it has come, for whoever asks. It is no part of the
// record: that it cannot be written stops nothing.
func (c *Collector) keepState(b Balance) {
	s := State{At: time.Now().UTC(), Behind: max(0, b.BytesOnDisk-b.BytesRead), All: c.total(b), Balance: b}
	if text, err := json.Marshal(s); err == nil {
		_ = atomicfile.Replace(stateFile(c.o.Workspace), text, 0o600)
	}
}

// total adds what the index knows of files that are not of this run.
func (c *Collector) total(b Balance) Total {
	t := Total{Files: b.Files, Records: b.Records, Bytes: b.BytesRead, Lines: b.Lines, Entries: b.Entries}
	others := map[string]bool{}
	for path, e := range c.index.Files {
		if c.byPath[path] != nil {
			continue
		}
		t.Files, t.Bytes, t.Lines, t.Entries = t.Files+1, t.Bytes+e.Size, t.Lines+e.Lines, t.Entries+e.Entries
		if c.sessions[e.Run] == nil {
			others[e.Run] = true
		}
	}
	t.Records += len(others)
	return t
}
