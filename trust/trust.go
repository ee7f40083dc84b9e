// Package trust remembers which workspaces a person has said yes to.
//
// A cloned project can name programs and commands: its conclave.yaml, the
// checks of its criteria, its packs. None is used until the person has looked
// at them and said "conclave trust"; the yes holds for exactly that content,
// by hash, and is asked for again when it changes.
//
// It stores one JSON file in the user's data directory, 0600, outside every
// project. It refuses to guess: a workspace that it cannot read is not
// trusted.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Item is one thing that a workspace asks to be trusted with.
type Item struct {
	Name string `json:"name"` // conclave.yaml, check of criterion 2, …
	Text []byte `json:"-"`
}

// Digest stands for a set of items, in any order.
func Digest(items []Item) string {
	var lines []string
	for _, i := range items {
		name, text := sha256.Sum256([]byte(i.Name)), sha256.Sum256(i.Text)
		lines = append(lines, hex.EncodeToString(name[:])+hex.EncodeToString(text[:]))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// Store is the file in which the person's word is kept.
type Store struct{ Path string }

type grant struct {
	Digest string    `json:"digest"`
	Names  []string  `json:"names"`
	Since  time.Time `json:"since"`
}

// ErrUntrusted is returned for a workspace that the person has not said yes
// to, or that has changed since.
var ErrUntrusted = errors.New("this workspace is not trusted")

// Check returns nil when the person has trusted exactly these items of the
// workspace. A workspace that asks for nothing needs no trust.
func (s Store) Check(workspace string, items []Item) error {
	if len(items) == 0 {
		return nil
	}
	grants, err := s.read()
	if err != nil {
		return errors.Join(ErrUntrusted, err)
	}
	key, err := canonical(workspace)
	if err != nil {
		return errors.Join(ErrUntrusted, err)
	}
	g, ok := grants[key]
	switch {
	case !ok:
		return fmt.Errorf("%w: it wants to use %s; look at them and say: conclave trust", ErrUntrusted, names(items))
	case g.Digest != Digest(items):
		return fmt.Errorf("%w any more: %s changed since you said yes; look at them and say: conclave trust", ErrUntrusted, names(items))
	}
	return nil
}

func names(items []Item) string {
	var list []string
	for _, i := range items {
		list = append(list, i.Name)
	}
	return strings.Join(list, ", ")
}

// Grant notes the person's yes to these items.
func (s Store) Grant(workspace string, items []Item) error {
	return s.change(workspace, func(grants map[string]grant, key string) {
		g := grant{Digest: Digest(items), Since: time.Now().UTC().Truncate(time.Second)}
		for _, i := range items {
			g.Names = append(g.Names, i.Name)
		}
		grants[key] = g
	})
}

// Revoke takes it back.
func (s Store) Revoke(workspace string) error {
	return s.change(workspace, func(grants map[string]grant, key string) { delete(grants, key) })
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
	data, err := json.MarshalIndent(grants, "", "  ")
	if err != nil {
		return err
	}
	return s.write(append(data, '\n'))
}

// canonical is the workspace's path without links, so that two names for it
// are one.
func canonical(workspace string) (string, error) {
	abs, err := filepath.Abs(workspace)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
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
	grants := map[string]grant{}
	if err := json.Unmarshal(data, &grants); err != nil {
		return nil, fmt.Errorf("%s: %w; mend it, or remove it and trust your workspaces anew", s.Path, err)
	}
	return grants, nil
}

// write replaces the file as a whole.
func (s Store) write(data []byte) error {
	dir := filepath.Dir(s.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".trust-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), s.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
