package story

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"conclave/table"
	"conclave/workspace"
)

// Save is a save point: the campaign's files, and where in the log it was.
type Save struct {
	Name    string    `json:"name"`
	Time    time.Time `json:"time"`
	Seq     int       `json:"seq"`
	Cycle   int       `json:"cycle"`
	Session int       `json:"session"`
	Scene   string    `json:"scene,omitempty"` // its title
	Own     bool      `json:"own,omitempty"`   // the table's, not a person's
}

func savesDir(root, campaign string) string {
	return filepath.Join(table.PrivatePath(root, campaign), "saves")
}

// Saves lists the save points in the order in which they were made: by their
// places in the log, never by a clock, which somebody may have set back.
func Saves(root, campaign string) ([]Save, error) {
	names, err := saveNames(root, campaign)
	if err != nil {
		return nil, err
	}
	var out []Save
	for _, name := range names {
		s, err := ReadSave(root, campaign, name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Save) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

// saveNames lists the save points that are whole.
func saveNames(root, campaign string) ([]string, error) {
	entries, err := os.ReadDir(savesDir(root, campaign))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// ReadSave reads a save point by its name.
func ReadSave(root, campaign, name string) (Save, error) {
	var s Save
	if err := table.CheckSlug(name); err != nil {
		return s, fmt.Errorf("save point %w", err)
	}
	file := filepath.Join(savesDir(root, campaign), name, "save.json")
	data, err := workspace.ReadOwn(file, workspace.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, noSave(root, campaign, name)
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read save point %s of %s: %s: %w", name, campaign, file, err)
	}
	return s, nil
}

// noSave names the save points that there are.
func noSave(root, campaign, name string) error {
	known, err := saveNames(root, campaign)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return fmt.Errorf("%s has no save point", campaign)
	}
	return fmt.Errorf("%s has no save point %s; there are: %s", campaign, name, strings.Join(known, ", "))
}

// Make keeps the campaign as it is under the save's name. crash, for tests, is
// called around what must not be torn.
func (s Save) Make(root, campaign string, crash func(string)) error {
	dir := savesDir(root, campaign)
	final := filepath.Join(dir, s.Name)
	if _, err := os.Lstat(final); err == nil {
		return fmt.Errorf("there is a save point %s already", s.Name)
	}
	temp := filepath.Join(dir, ".saving")
	if err := errors.Join(os.RemoveAll(temp), os.MkdirAll(temp, 0o700)); err != nil {
		return err
	}
	if err := copyCampaign(campaignDir(root, campaign), filepath.Join(temp, "campaign"), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(filepath.Join(temp, "save.json"), data, 0o600)
	}
	if err != nil {
		return err
	}
	return moveIn(temp, final, crash)
}

// OwnSave is the name of a save point of the table's own. Numbers of events
// never go back, so that no name comes twice.
func OwnSave(seq int) string { return fmt.Sprintf("auto-%06d", seq) }

var ownName = regexp.MustCompile(`^auto-[0-9]{6,}$`)

func isOwn(name string) bool { return ownName.MatchString(name) }

// HasSave says whether a save point of the name is there.
func HasSave(root, campaign, name string) bool {
	_, err := os.Lstat(filepath.Join(savesDir(root, campaign), name))
	return err == nil
}

// ownSaves is how many save points of the table's own are kept; a person's are
// never touched, whatever their names.
const ownSaves = 10

// Prune removes the oldest save points of the table's own.
func Prune(root, campaign string) error {
	saves, err := Saves(root, campaign)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(saves, func(s Save) bool { return !s.Own })
	dir := savesDir(root, campaign)
	gone := filepath.Join(dir, ".removing")
	for _, s := range own[:max(0, len(own)-ownSaves)] {
		// It is whole as long as it has its name.
		err := errors.Join(os.RemoveAll(gone), os.Rename(filepath.Join(dir, s.Name), gone), os.RemoveAll(gone))
		if err != nil {
			return err
		}
	}
	return nil
}

// moveIn gives a directory that was made aside its name: what has the name is
// whole, also after a pulled plug.
func moveIn(temp, final string, crash func(string)) error {
	if err := settle(temp); err != nil {
		return err
	}
	crash("made " + filepath.Base(final))
	if err := os.Rename(temp, final); err != nil {
		return err
	}
	crash("named " + filepath.Base(final))
	return settleNames(filepath.Dir(final))
}

// settle makes a directory tree durable.
func settle(dir string) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return settleNames(p)
		}
		f, err := os.OpenFile(p, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// settleNames makes the names in a directory durable.
func settleNames(dir string) error {
	d, err := table.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func campaignDir(root, campaign string) string { return filepath.Join(root, "campaigns", campaign) }

// copyCampaign copies regular files with one name, without tmp/, the dice log
// (which is never turned back) and hidden files. The mode is that of the
// directories: a save point is private, a campaign is as others are.
func copyCampaign(from, to string, mode fs.FileMode) error {
	files, err := campaignFiles(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, mode); err != nil {
		return err
	}
	for _, name := range files {
		data, err := workspace.ReadOwn(filepath.Join(from, filepath.FromSlash(name)), workspace.MaxFile)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, filepath.FromSlash(name))), mode)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.FromSlash(name)), data, mode&0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// campaignFiles lists the files of a campaign that saves hold.
func campaignFiles(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil || rel == "." {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() && (name == "tmp" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.Type().IsRegular() && name != table.DiceLogFile && !strings.HasPrefix(d.Name(), ".") {
			out = append(out, name)
		}
		return nil
	})
	return out, err
}

// Difference is what takes a campaign back to a save point: files to be written,
// in order, with their bytes, and files to be removed.
func (s Save) Difference(root, campaign string) (write []File, remove []string, err error) {
	from := filepath.Join(savesDir(root, campaign), s.Name, "campaign")
	want, err := campaignFiles(from)
	if err != nil {
		return nil, nil, err
	}
	now, err := campaignFiles(campaignDir(root, campaign))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range want {
		data, err := workspace.ReadOwn(filepath.Join(from, filepath.FromSlash(f)), workspace.MaxFile)
		if err != nil {
			return nil, nil, err
		}
		write = append(write, File{f, data})
	}
	return write, slices.DeleteFunc(now, func(f string) bool { return slices.Contains(want, f) }), nil
}

// File is a file of a campaign.
type File struct {
	Name string // in the campaign
	Data []byte
}
