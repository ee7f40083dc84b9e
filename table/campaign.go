package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/markdown"
)

// Campaign is an open campaign directory.
type Campaign struct {
	Name      string
	Workspace string
	Root      *Dir // campaigns/{name}
	Party     *Dir
	Tmp       *Dir
}

// Campaigns lists the campaigns below a workspace.
func Campaigns(workspace string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(workspace, "campaigns"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && CheckSlug(e.Name()) == nil {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// NoCampaignError says that a workspace has no campaign of a name.
type NoCampaignError struct {
	Name, Suggest string
	Known         []string
}

func (e *NoCampaignError) Error() string {
	switch {
	case e.Suggest != "":
		return fmt.Sprintf("there is no campaign %s here; did you mean %s?", e.Name, e.Suggest)
	case len(e.Known) > 0:
		return fmt.Sprintf("there is no campaign %s here; there are: %s", e.Name, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("there is no campaign %s here, nor any other", e.Name)
}

// Is makes it an fs.ErrNotExist.
func (e *NoCampaignError) Is(target error) bool { return target == fs.ErrNotExist }

// OpenCampaign opens campaigns/{name} below a workspace. The name is checked
// before it becomes part of a path; no directory on the way may be a link. A
// missing tmp/ is created, anything else in its place is refused. A campaign
// that does not exist gives a *NoCampaignError.
func OpenCampaign(workspace, name string) (*Campaign, error) {
	if err := CheckSlug(name); err != nil {
		return nil, fmt.Errorf("campaign %w", err)
	}
	base, err := OpenDir(filepath.Join(workspace, "campaigns"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoCampaignError{Name: name}
	}
	if err != nil {
		return nil, err
	}
	defer base.Close()
	base.path = "campaigns"
	c := &Campaign{Name: name, Workspace: workspace}
	if err := c.open(base); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Campaign) open(base *Dir) (err error) {
	c.Root, err = base.Sub(c.Name)
	if errors.Is(err, fs.ErrNotExist) {
		known, err := Campaigns(c.Workspace)
		if err != nil {
			return err
		}
		return &NoCampaignError{c.Name, nearest(c.Name, known), known}
	}
	if err != nil {
		return fmt.Errorf("open campaign %s: %w", c.Name, err)
	}
	if c.Party, err = c.Root.Sub("party"); err != nil {
		return fmt.Errorf("open campaign %s: %w", c.Name, err)
	}
	if c.Tmp, err = c.Root.MakeSub("tmp"); err != nil {
		return fmt.Errorf("open campaign %s: %w", c.Name, err)
	}
	// Messages name campaign paths, not the host's.
	c.Root.path, c.Party.path, c.Tmp.path = "campaigns/"+c.Name, "party", "tmp"
	return nil
}

// Sweep removes what writes left behind that a kill cut short. It is for who holds
// the campaign's lock: what another is writing now looks the same.
func (c *Campaign) Sweep() (swept []string, err error) {
	scenes, err := c.Root.Sub("scenes")
	if err == nil {
		defer scenes.Close()
	}
	for _, d := range []*Dir{c.Root, c.Party, c.Tmp, scenes} {
		if d == nil {
			continue // there are none, or something else is in their place
		}
		names, err := d.Sweep()
		if err != nil {
			return swept, err
		}
		swept = append(swept, names...)
	}
	return swept, nil
}

// Close releases the directories.
func (c *Campaign) Close() error {
	var errs []error
	for _, d := range []*Dir{c.Root, c.Party, c.Tmp} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(errs...)
}

// ReadFile reads a file of the campaign by its path, through every directory on
// the way as it is, up to a limit.
func (c *Campaign) ReadFile(path string, limit int64) ([]byte, error) {
	d, names := c.Root, strings.Split(path, "/")
	for _, name := range names[:len(names)-1] {
		sub, err := d.Sub(name)
		if err != nil {
			return nil, err
		}
		defer sub.Close()
		d = sub
	}
	return d.Read(names[len(names)-1], limit)
}

// PrivatePath is where the engine keeps its own state of a campaign: lock,
// event log, pending journals, stale and late files, seeds. It is never inside
// the campaign and never in a room.
func PrivatePath(workspace, campaign string) string {
	return filepath.Join(workspace, ".conclave", "tables", campaign)
}

// OwnDir opens a directory of the engine's own state, and makes it first.
func OwnDir(workspace, campaign, name string) (*Dir, error) {
	dir := filepath.Join(PrivatePath(workspace, campaign), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return OpenDir(dir)
}

// SetAside moves a file from tmp/ to stale/{stamp}/ in the private state, as it
// is: a link stays a link and a FIFO is not opened. Nothing is deleted.
func (c *Campaign) SetAside(name, stamp string) (string, error) {
	return c.moveAway(name, "stale", stamp)
}

// SetLate files text that came after the barrier under late/{stamp}/.
func (c *Campaign) SetLate(name, stamp string, data []byte) (string, error) {
	dir, err := c.privateDir("late", stamp)
	if err != nil {
		return "", err
	}
	d, err := OpenDir(dir)
	if err != nil {
		return "", err
	}
	defer d.Close()
	free := freeName(dir, name)
	return filepath.Join(dir, free), d.Write(free, data)
}

func (c *Campaign) moveAway(name, kind, stamp string) (string, error) {
	if err := c.Tmp.checkName(name); err != nil {
		return "", err
	}
	dir, err := c.privateDir(kind, stamp)
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, freeName(dir, name))
	from := filepath.Join(c.Workspace, "campaigns", c.Name, "tmp", name)
	if err := os.Rename(from, to); err != nil {
		return "", fmt.Errorf("set aside tmp/%s: %w", name, err)
	}
	return to, c.Tmp.Sync()
}

func (c *Campaign) privateDir(kind, stamp string) (string, error) {
	if filepath.Base(stamp) != stamp || stamp == "." || stamp == ".." {
		return "", fmt.Errorf("%q is not a name for a directory", stamp)
	}
	dir := filepath.Join(PrivatePath(c.Workspace, c.Name), kind, stamp)
	return dir, os.MkdirAll(dir, 0o700)
}

func freeName(dir, name string) string {
	free := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, free)); errors.Is(err, fs.ErrNotExist) {
			return free
		}
		free = fmt.Sprintf("%s.%d", name, n)
	}
}

// TmpReport sorts the files of tmp/ by what is known of them.
type TmpReport struct {
	Known   []string // belong to the open cycle, unchanged
	Changed []string // belong to it, but someone edited them
	Stale   []string // protocol names that no open cycle knows, and what is no file at all: set aside
	Foreign []string // other names: left alone during play, set aside at its end
}

// InspectTmp compares tmp/ with what the log knows: file name to hash. The
// narrative is always known.
func (c *Campaign) InspectTmp(known map[string]string) (TmpReport, error) {
	var r TmpReport
	names, err := c.Tmp.List()
	if err != nil {
		return r, err
	}
	for _, n := range names {
		hash, ok := known[n]
		got, err := c.Tmp.HashOf(n)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a journal has taken its notes meanwhile
		case err != nil:
			r.Stale = append(r.Stale, n)
		case ok && got == hash, n == NarrativeFile:
			r.Known = append(r.Known, n)
		case ok:
			r.Changed = append(r.Changed, n)
		case Classify("tmp/"+n).Kind == KindUnknown || Classify("tmp/"+n).Kind == KindHidden:
			r.Foreign = append(r.Foreign, n)
		default:
			r.Stale = append(r.Stale, n)
		}
	}
	return r, nil
}

// CleanTmp sets aside everything in tmp/ but the narrative: at the end of a
// session the directory holds nothing else.
func (c *Campaign) CleanTmp(stamp string) (moved []string, err error) {
	names, err := c.Tmp.List()
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if n == NarrativeFile {
			continue
		}
		if _, err := c.SetAside(n, stamp); err != nil {
			return moved, err
		}
		moved = append(moved, n)
	}
	return moved, nil
}

// GitIgnore adds what must not be committed to the lines of a .gitignore.
func GitIgnore(existing []byte) []byte {
	out := string(existing)
	for _, want := range []string{"/.conclave/", "/campaigns/*/tmp/"} {
		has := false
		for line := range strings.Lines(markdown.Normalise(out)) {
			has = has || strings.TrimSpace(line) == want
		}
		if !has {
			if out != "" && !strings.HasSuffix(out, "\n") {
				out += "\n"
			}
			out += want + "\n"
		}
	}
	return []byte(out)
}
