package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/internal/newer"
	"conclave/workspace"
)

// stateVersion is raised when an older program could no longer read the state
// rightly. Unknown fields of a same-version state may be dropped.
const stateVersion = 1

// state is what state.json remembers.
type state struct {
	Version int                  `json:"version"`
	Files   map[string]installed `json:"files"`   // by file name in .campaign/profiles
	History []done               `json:"history"` // what Undo can take back, oldest first
}

// installed is the hash a file was written with, and by what.
type installed struct {
	SHA256 string `json:"sha256"`
	By     string `json:"by"`
}

// done is one change: for each file what was there before and after.
type done struct {
	ID     string               `json:"id"`
	What   string               `json:"what"`
	Before map[string]string    `json:"before"` // hash, or "" for no file
	After  map[string]string    `json:"after"`
	Files  map[string]installed `json:"files"` // the state's own entries before
}

// journal is durable before the sets are exchanged, and gone after all is done.
type journal struct {
	ID    string            `json:"id"`
	Fresh bool              `json:"fresh"` // there was no set before
	Old   map[string]string `json:"old"`   // listing of the old set: path to hash
	New   map[string]string `json:"new"`
	State state             `json:"state"` // to be written when the new set is live
}

func (p Project) statePath() string   { return filepath.Join(p.private(), "state.json") }
func (p Project) journalPath() string { return filepath.Join(p.private(), "journal.json") }
func (p Project) staged(id string) string {
	return filepath.Join(p.private(), "staged-"+id)
}
func (p Project) old(id string) string { return filepath.Join(p.private(), "old", id) }

func (p Project) readState() (state, error) {
	s := state{Version: stateVersion, Files: map[string]installed{}}
	if _, err := readJSON(p.statePath(), &s); err != nil {
		return s, err
	}
	if err := newer.Check(s.Version, stateVersion); err != nil {
		return s, fmt.Errorf("read %s: %w", p.statePath(), err)
	}
	if s.Version != stateVersion {
		return s, fmt.Errorf("read %s: version %d is not known here", p.statePath(), s.Version)
	}
	if s.Files == nil {
		s.Files = map[string]installed{}
	}
	return s, nil
}

func readJSON(name string, v any) (found bool, err error) {
	data, err := workspace.ReadOwn(name, workspace.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return true, nil
}

// writeJSON replaces a file so that a crash leaves the old or the new one.
func (p Project) writeJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp := name + ".tmp"
	if err := p.writeFile(tmp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.Rename(tmp, name); err != nil {
		return err
	}
	p.did("rename " + filepath.Base(name))
	return p.syncDir(filepath.Dir(name))
}

// writeFile writes a new file and makes it durable.
func (p Project) writeFile(name string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	p.did("create " + filepath.Base(name))
	_, err = f.Write(data)
	p.did("write " + filepath.Base(name))
	if err == nil && !p.noSync {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	p.did("sync " + filepath.Base(name))
	return err
}
