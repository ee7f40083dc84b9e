package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/atomicfile"
	"conclave/internal/jsontext"
	"conclave/workspace"
)

// hookDir is where hooks leave the paths of session files: one small file per
// path, named after it, so that a path is noted once however often it is told.
func hookDir(workspace string) string { return filepath.Join(stateDir(workspace), "hooks") }

// hint is what one of these files holds.
type hint struct {
	Path  string    `json:"path"`
	Event string    `json:"event,omitempty"`
	Agent string    `json:"agent_id,omitempty"`
	Noted time.Time `json:"noted"`
}

// Note takes the JSON that Claude Code gives to a hook and notes the session
// files that it names, for the collector of the workspace to follow. It returns
// those that were not known.
func Note(workspace string, hook []byte) (noted []string, err error) {
	if err := jsontext.Check(hook); err != nil {
		return nil, fmt.Errorf("read the hook's input: %w", err)
	}
	get := func(key string) string {
		s, _ := jsontext.String(jsontext.Get(hook, key))
		return s
	}
	dir := hookDir(workspace)
	told := false
	for _, key := range []string{"transcript_path", "agent_transcript_path"} {
		path := get(key)
		if path == "" {
			continue
		}
		told = true
		if !filepath.IsAbs(path) {
			return noted, fmt.Errorf("note %s %q: it is no absolute path", key, path)
		}
		h := hint{Path: filepath.Clean(path), Event: get("hook_event_name"), Noted: time.Now().UTC()}
		if key == "agent_transcript_path" {
			h.Agent = get("agent_id")
		}
		fresh, err := leave(dir, h)
		if err != nil {
			return noted, err
		}
		if fresh {
			noted = append(noted, h.Path)
		}
	}
	if !told {
		return nil, errors.New("read the hook's input: it names no transcript_path")
	}
	return noted, nil
}

// leave writes a hint whole or not at all, and not twice.
func leave(dir string, h hint) (fresh bool, err error) {
	sum := sha256.Sum256([]byte(h.Path))
	name := filepath.Join(dir, hex.EncodeToString(sum[:12])+".json")
	if _, err := os.Stat(name); err == nil {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("note a session file: %w", err)
	}
	b, err := json.Marshal(h)
	if err != nil {
		return false, fmt.Errorf("note a session file: %w", err)
	}
	if err := atomicfile.Replace(name, append(b, '\n'), 0o600); err != nil {
		return false, fmt.Errorf("note a session file: %w", err)
	}
	return true, nil
}

// readSpool returns the paths that were noted.
func readSpool(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var paths []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		b, err := workspace.ReadOwn(filepath.Join(dir, e.Name()), workspace.MaxFile)
		var h hint
		if err == nil && json.Unmarshal(b, &h) == nil && filepath.IsAbs(h.Path) {
			paths = append(paths, h.Path)
		}
	}
	return paths
}
