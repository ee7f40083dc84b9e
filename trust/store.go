package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"conclave/internal/atomicfile"
	"conclave/internal/lockfile"
	"conclave/internal/newer"
)

// version of the file. The first had none: it was the map alone.
const version = 2

type file struct {
	Version    int              `json:"version"`
	Workspaces map[string]grant `json:"workspaces"`
}

func (s Store) grant(workspace string) (grant, error) {
	grants, err := s.read()
	if err != nil {
		return grant{}, err
	}
	key, err := canonical(workspace)
	return grants[key], err
}

// patience is how long a change waits for another one, which takes milliseconds.
const patience = 10 * time.Second

// change reads, changes and writes the file while nobody else does: of two
// words that are given at once, both are kept.
func (s Store) change(workspace string, fn func(map[string]grant, string)) (err error) {
	key, err := canonical(workspace)
	if err != nil {
		return err
	}
	if s.Path == "" {
		return errNoPath
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock, err := lockfile.WaitLock(ctx, s.Path+".lock", "note what is trusted")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	grants, err := s.read()
	if err != nil {
		return err
	}
	fn(grants, key)
	data, err := json.MarshalIndent(file{version, grants}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(s.Path, append(data, '\n'), 0o600)
}

var errNoPath = errors.New("no data directory is known in which your word could be kept; set HOME")

func (s Store) read() (map[string]grant, error) {
	if s.Path == "" {
		return nil, errNoPath
	}
	data, err := os.ReadFile(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]grant{}, nil
	}
	if err != nil {
		return nil, err
	}
	grants, err := parse(data)
	if errors.As(err, new(*newer.Error)) {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; mend it, or remove it and trust your workspaces anew", s.Path, err)
	}
	return grants, nil
}

func parse(data []byte) (map[string]grant, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, err
	}
	grants := map[string]grant{}
	if _, ok := keys["version"]; !ok {
		return grants, json.Unmarshal(data, &grants)
	}
	f := file{Workspaces: grants}
	if err := json.Unmarshal(keys["version"], &f.Version); err != nil {
		return nil, err
	}
	if err := newer.Check(f.Version, version); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if f.Version != version {
		return nil, fmt.Errorf("version %d is not known here", f.Version)
	}
	return f.Workspaces, nil
}
