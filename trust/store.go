package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/internal/atomicfile"
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

func (s Store) change(workspace string, fn func(map[string]grant, string)) error {
	grants, err := s.read()
	if err != nil {
		return err
	}
	key, err := canonical(workspace)
	if err != nil {
		return err
	}
	fn(grants, key)
	data, err := json.MarshalIndent(file{version, grants}, "", "  ")
	if err != nil {
		return err
	}
	return s.write(append(data, '\n'))
}

func (s Store) read() (map[string]grant, error) {
	if s.Path == "" {
		return nil, errors.New("no data directory is known in which your word could be kept; set HOME")
	}
	data, err := os.ReadFile(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]grant{}, nil
	}
	if err != nil {
		return nil, err
	}
	grants, err := parse(data)
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

// write replaces the file as a whole.
func (s Store) write(data []byte) error {
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(s.Path, data, 0o600)
}
