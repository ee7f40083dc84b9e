package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/lockfile"
	"conclave/workspace"
)

// Project is a workspace whose campaign wears profiles. Dir holds .campaign.
// A Project has no state of its own; changes by several processes wait for each
// other.
type Project struct {
	Dir string

	// step is called after every operation on a file; the crash tests die in it.
	step func(what string)
	// noSync spares the disk in tests that kill processes, not machines.
	noSync bool
}

func (p Project) live() string    { return filepath.Join(p.Dir, ".campaign", "profiles") }
func (p Project) private() string { return filepath.Join(p.Dir, ".conclave", "profiles") }

func (p Project) did(what string) {
	if p.step != nil {
		p.step(what)
	}
}

// Party is the profiles of a campaign, by archetype.
type Party map[string]*Profile

// Face is a member of the cast in the skin it wears in this party, if any.
func (p Party) Face(id string) (Face, bool) {
	a, ok := Lookup(id)
	return NewFace(a, p[id]), ok
}

// Party reads the campaign's profiles, simon's included. A profile with faults
// is not worn: it is left out, and its faults say why.
func (p Project) Party() (Party, []Fault, error) {
	party := Party{}
	var faults []Fault
	for _, a := range cast {
		name := a.ID + ".md"
		data, err := p.readLive(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		shown := ".campaign/profiles/" + name
		if errors.Is(err, errTooBig) {
			faults = append(faults, Fault{shown, 1, "profile-size", "profile is too long", fmt.Sprintf("keep it under %d bytes", maxProfile)})
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read profile %s: %w", shown, err)
		}
		q, bad := Parse(shown, data)
		faults = append(faults, bad...)
		if len(bad) == 0 {
			party[a.ID] = q
		}
	}
	return party, faults, nil
}

// readLive reads one file of the live set, within the directory and the limit.
func (p Project) readLive(name string) ([]byte, error) {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := workspace.ReadFile(root, ".campaign/profiles/"+name, maxProfile)
	if big := (*workspace.SizeError)(nil); errors.As(err, &big) {
		return nil, errTooBig
	}
	return data, err
}

// Status says whose a profile of the campaign is.
type Status string

const (
	statusNone      Status = "none"      // there is no profile
	statusInstalled Status = "installed" // as it was installed
	statusEdited    Status = "edited"    // installed, then changed by hand
	statusOwn       Status = "own"       // never installed: written by hand
)

// Status tells whether an archetype's profile is as installed.
func (p Project) Status(id string) (Status, error) {
	s, err := p.readState()
	if err != nil {
		return "", err
	}
	data, err := p.readLive(id + ".md")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return statusNone, nil
	case errors.Is(err, errTooBig):
		return statusOwn, nil
	case err != nil:
		return "", fmt.Errorf("read profile of the %s: %w", id, err)
	case s.Files[id+".md"].SHA256 == digest(data):
		return statusInstalled, nil
	case s.Files[id+".md"].SHA256 != "":
		return statusEdited, nil
	}
	return statusOwn, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// EditedError refuses a change that would replace what a person wrote.
type EditedError struct{ Files []string }

func (e *EditedError) Error() string {
	return fmt.Sprintf("edited by hand: %s; nothing was changed; --force replaces them and keeps the old ones", strings.Join(e.Files, ", "))
}

// Change is what Install, Set, Remove or Undo did.
type Change struct {
	ID       string   `json:"id"`
	What     string   `json:"what"`
	Written  []string `json:"written"`
	Removed  []string `json:"removed"`
	Replaced []string `json:"replaced"` // edited by hand and replaced by force
	Kept     string   `json:"kept"`     // where the former set is; empty if there was none
}

// Install dresses the campaign in a pack, or in those of its profiles that only
// names. It is all or nothing.
func (p Project) Install(pack *Pack, only []string, force bool) (*Change, error) {
	if len(pack.Faults) > 0 {
		return nil, &FaultsError{"pack " + pack.Name, pack.Faults}
	}
	plan := plan{what: fmt.Sprintf("install %s:%s", pack.Origin, pack.Name), write: map[string][]byte{}, force: force}
	for _, q := range pack.Profiles {
		if len(only) == 0 || slices.Contains(only, q.Archetype) {
			plan.write[q.Archetype+".md"] = q.Bytes()
		}
	}
	for _, id := range only {
		if _, ok := plan.write[id+".md"]; !ok {
			return nil, fmt.Errorf("install %s: it has no profile for %q; choose from %s", pack.Name, id, castList())
		}
	}
	return p.change(plan)
}

// Set gives one archetype a profile.
func (p Project) Set(id string, data []byte, force bool) (*Change, error) {
	name := id + ".md"
	if _, faults := Parse(name, data); len(faults) > 0 {
		return nil, &FaultsError{"profile " + id, faults}
	}
	return p.change(plan{what: "set " + id, write: map[string][]byte{name: data}, force: force})
}

// Remove takes an archetype's profile off.
func (p Project) Remove(id string, force bool) (*Change, error) {
	return p.change(plan{what: "remove " + id, remove: []string{id + ".md"}, force: force})
}

// change runs a plan under the lock, after finishing what a killed process left.
func (p Project) change(plan plan) (*Change, error) {
	return p.locked(func() (*Change, error) { return p.apply(plan) })
}

// lockPatience is how long a change waits for another one, which takes
// milliseconds. Whoever waits in vain is told who holds the lock.
const lockPatience = 10 * time.Second

func (p Project) locked(do func() (*Change, error)) (*Change, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	lock, err := lockfile.WaitLock(ctx, filepath.Join(p.private(), "lock"), "change the profiles")
	if err != nil {
		return nil, fmt.Errorf("lock the profiles: %w", err)
	}
	defer lock.Unlock()
	if err := p.recover(); err != nil {
		return nil, err
	}
	return do()
}

// prepare makes the private directory, closed to git and to others.
func (p Project) prepare() error {
	for _, dir := range []string{filepath.Join(p.Dir, ".campaign"), p.live(), filepath.Join(p.Dir, ".conclave"), p.private()} {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a directory (a link?); profiles are written to real directories only", dir)
		}
	}
	err := workspace.MakePrivate(p.Dir)
	if err == nil {
		err = os.MkdirAll(p.private(), 0o700)
	}
	if err != nil {
		return fmt.Errorf("prepare the profiles: %w", err)
	}
	return nil
}
