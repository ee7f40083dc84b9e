package app

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/policy"
	"conclave/table"
	"conclave/table/adventure"
	"conclave/table/draft"
	tableflow "conclave/table/flow"
)

// Adventures are those that come with the program; the first is the default.
func Adventures() []string { return adventure.Names() }

// DefaultAdventure is the one that is copied when none is named.
const DefaultAdventure = adventure.Default

// NewTable begins a campaign: a copy of an adventure, or an empty one with these
// characters, each a name or name=slug. It returns the seat to sit down in.
func (a *App) NewTable(name, from string, characters []string) (sit string, err error) {
	root, err := a.freeTable(name)
	if err != nil {
		return "", err
	}
	files := map[string]string{}
	if from != "" {
		err = adventureFiles(from, files)
	} else {
		err = blankCampaign(name, characters, files)
	}
	if err != nil {
		return "", err
	}
	if err := layOut(root, filepath.Join(root, "campaigns", name), files); err != nil {
		return "", refusedHere(err)
	}
	return a.seatToTake(name, files), nil
}

// freeTable refuses a name that no campaign can have, or that one has. It
// returns the workspace's root.
func (a *App) freeTable(name string) (string, error) {
	root, err := a.rootToChange()
	if err != nil {
		return "", err
	}
	if err := table.CheckSlug(name); err != nil {
		return "", usageError("campaign %w", err)
	}
	for _, there := range []string{filepath.Join(root, "campaigns", name), table.PrivatePath(root, name)} {
		if _, err := os.Lstat(there); err == nil {
			return "", noError("%s exists: choose another name", there)
		}
	}
	return root, nil
}

// seatToTake is the first character, where somebody else can be the game master: an
// agent that is named, or the embedded one with an adventure of its own. Else that
// seat comes first.
func (a *App) seatToTake(name string, files map[string]string) string {
	w, err := a.openWorkspace()
	if err != nil {
		return string(policy.GM) // and the next command says what is wrong
	}
	if w.isPersons(name, string(policy.GM)) {
		return string(policy.GM)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if class := table.Classify(path); class.Kind == table.KindSheet {
			return class.Character
		}
	}
	return string(policy.GM)
}

// layOut writes a campaign beside its place and puts it there whole.
func layOut(root, dir string, files map[string]string) error {
	temp := dir + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	for path, text := range files {
		file := filepath.Join(temp, filepath.FromSlash(path))
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644))
		if err != nil {
			return err
		}
	}
	for _, d := range []string{"party", "tmp"} {
		if err := os.MkdirAll(filepath.Join(temp, d), 0o755); err != nil {
			return err
		}
	}
	return errors.Join(os.Rename(temp, dir), tableflow.Init(root))
}

func adventureFiles(from string, files map[string]string) error {
	if !slices.Contains(adventure.Names(), from) {
		return usageError("no adventure is called %q; there are: %s", from, strings.Join(adventure.Names(), ", "))
	}
	src, err := adventure.Open(from)
	if err != nil {
		return environmentError("%w", err)
	}
	files[adventure.RecordFile] = adventure.Record(from)
	return fs.WalkDir(src, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(src, path)
		files[path] = string(data)
		return err
	})
}

func blankCampaign(name string, characters []string, files map[string]string) error {
	var d draft.Draft
	for _, c := range characters {
		shownName, slug, explicit := strings.Cut(c, "=")
		if !explicit {
			var err error
			if slug, err = table.Slugify(shownName); err != nil {
				return usageError("character %w", err)
			}
		}
		if err := draft.CheckSlug(slug, d.Slugs()); err != nil {
			return usageError("%w", err)
		}
		d.Characters = append(d.Characters, draft.Character{Name: shownName, Slug: slug})
	}
	maps.Copy(files, d.Files(name))
	return nil
}
