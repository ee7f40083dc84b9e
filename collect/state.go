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
	Balance
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
	s := State{At: time.Now().UTC(), Behind: max(0, b.BytesOnDisk-b.BytesRead), Balance: b}
	if text, err := json.Marshal(s); err == nil {
		_ = atomicfile.Replace(stateFile(c.o.Workspace), text, 0o600)
	}
}
