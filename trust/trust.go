// Package trust remembers what a person has said yes to in which workspace.
//
// A cloned project can name agents and commands and hold texts that go into
// prompts: its conclave.yaml, the checks of its criteria, its packs, profiles,
// instructions and scripts. None is used until the person has looked at it and
// said "conclave trust"; the yes holds for each item by itself, for exactly that
// content, by hash. A command asks for the items that it uses and no others, and
// what is missing is named truly: what is new, and what has changed. What the
// program writes on the person's own word is granted as it is written. Beside
// the workspaces stands what the person was told about their own machine and
// answered (CheckOwn): the terms under which a login is lent.
//
// It stores one JSON file in the user's data directory, 0600, outside every
// project, and changes it under a lock. It refuses to guess: a workspace that it
// cannot read is not trusted. A file of the first version, which kept one hash
// for everything in a workspace, is read: Upgrade splits such a yes if its
// content is still the same.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Item is one thing that a workspace asks to be trusted with.
type Item struct {
	Name string `json:"name"` // conclave.yaml, the check of criterion 2, …
	Text []byte `json:"-"`
}

func (i Item) sum() string {
	sum := sha256.Sum256(i.Text)
	return hex.EncodeToString(sum[:])
}

// Store is the file in which the person's word is kept.
type Store struct{ Path string }

// mostSums is how many contents of one item are remembered: what was there
// before an undo was seen, too.
const mostSums = 8

// grant is the person's yes to items of one workspace.
type grant struct {
	Items map[string][]string `json:"items,omitempty"` // the newest hash last
	Since time.Time           `json:"since"`
	// Digest is the yes of the first version, to everything at once.
	Digest string `json:"digest,omitempty"`
}

func (g grant) holds(i Item) bool { return slices.Contains(g.Items[i.Name], i.sum()) }

func (g *grant) add(items []Item) {
	if g.Items == nil {
		g.Items = map[string][]string{}
	}
	for _, i := range items {
		sums := slices.DeleteFunc(g.Items[i.Name], func(s string) bool { return s == i.sum() })
		sums = append(sums, i.sum())
		g.Items[i.Name] = sums[max(len(sums)-mostSums, 0):]
	}
	g.Since = time.Now().UTC().Truncate(time.Second)
}

// ErrUntrusted is returned for a workspace that the person has not said yes
// to, or that has changed since.
var ErrUntrusted = errors.New("this workspace is not trusted")

// Missing is what of a workspace's items the person has not said yes to.
type Missing struct {
	New, Changed []string
}

// Error ends with the command that shows them; what is not among a workspace's own
// items its caller names behind it.
func (m *Missing) Error() string {
	var parts []string
	if len(m.Changed) > 0 {
		parts = append(parts, some(m.Changed)+" changed since you said yes")
	}
	if len(m.New) > 0 {
		parts = append(parts, "you have not said yes to "+some(m.New))
	}
	return fmt.Sprintf("%v: %s; look and say: conclave trust", ErrUntrusted, strings.Join(parts, "; "))
}

// some names the first of many.
func some(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

func (m *Missing) Unwrap() error { return ErrUntrusted }

// Check returns nil when the person has said yes to each of these items. Who
// asks for nothing needs no trust.
func (s Store) Check(workspace string, items []Item) error {
	if len(items) == 0 {
		return nil
	}
	g, err := s.grant(workspace)
	if err != nil {
		return errors.Join(ErrUntrusted, err)
	}
	var m Missing
	for _, i := range items {
		switch {
		case g.holds(i):
		case len(g.Items[i.Name]) > 0:
			m.Changed = append(m.Changed, i.Name)
		default:
			m.New = append(m.New, i.Name)
		}
	}
	if len(m.New)+len(m.Changed) > 0 {
		return &m
	}
	return nil
}

// Holds says of each item whether the person has said yes to it.
func (s Store) Holds(workspace string, items []Item) ([]bool, error) {
	g, err := s.grant(workspace)
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(items))
	for n, i := range items {
		out[n] = g.holds(i)
	}
	return out, nil
}

// Grant notes the person's yes to these items, beside what it holds for already.
func (s Store) Grant(workspace string, items []Item) error {
	return s.change(workspace, func(grants map[string]grant, key string) {
		g := grants[key]
		g.add(items)
		g.Digest = ""
		grants[key] = g
	})
}

// Revoke takes it back.
func (s Store) Revoke(workspace string) error {
	return s.change(workspace, func(grants map[string]grant, key string) { delete(grants, key) })
}

// The person's own items belong to no workspace: they are kept under the
// directory of the store itself. Those of its methods are as those above.

// CheckOwn is Check for items of the person's own.
func (s Store) CheckOwn(items []Item) error { return s.Check(filepath.Dir(s.Path), items) }

// GrantOwn is Grant for items of the person's own.
func (s Store) GrantOwn(items []Item) error {
	if s.Path == "" {
		return errNoPath
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return err
	}
	return s.Grant(filepath.Dir(s.Path), items)
}

// RevokeOwn takes back the yes to an item of the person's own, whatever its text.
func (s Store) RevokeOwn(name string) error {
	return s.change(filepath.Dir(s.Path), func(grants map[string]grant, key string) {
		if g, ok := grants[key]; ok {
			delete(g.Items, name)
		}
	})
}

// Upgrade splits a yes of the first version into its items. all are the items
// that it was given for; if they are no longer what they were, nobody knows
// which of them changed, and the yes is worth nothing.
func (s Store) Upgrade(workspace string, all func() []Item) error {
	g, err := s.grant(workspace)
	if err != nil || g.Digest == "" {
		return err
	}
	if items := all(); digest(items) == g.Digest {
		return s.Grant(workspace, items)
	}
	return nil
}

// digest stands for a set of items in the first version.
func digest(items []Item) string {
	var lines []string
	for _, i := range items {
		name := sha256.Sum256([]byte(i.Name))
		lines = append(lines, hex.EncodeToString(name[:])+i.sum())
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
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
