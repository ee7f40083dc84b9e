package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/table"
	"conclave/table/adventure"
	tableflow "conclave/table/flow"
)

// Adventures are those that come with the program; the first is the default.
func Adventures() []string { return adventure.Names() }

// DefaultAdventure is the one that is copied when none is named.
const DefaultAdventure = adventure.Default

// NewTable begins a campaign: a copy of an adventure, or an empty one with these
// characters, each a name or name=slug.
func (a *App) NewTable(name, from string, characters []string) error {
	root, err := a.findRoot()
	if err != nil {
		return err
	}
	if err := table.CheckSlug(name); err != nil {
		return usageError("campaign %w", err)
	}
	dir := filepath.Join(root, "campaigns", name)
	for _, there := range []string{dir, table.PrivatePath(root, name)} {
		if _, err := os.Lstat(there); err == nil {
			return noError("%s exists: choose another name", there)
		}
	}
	files := map[string]string{}
	if from != "" {
		err = adventureFiles(from, files)
	} else {
		err = blankCampaign(name, characters, files)
	}
	if err != nil {
		return err
	}
	return refusedHere(layOut(root, dir, files))
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
	files["overview.md"] = "# " + name + "\n\nWhat this campaign is about. Only the game master reads this.\n"
	files["story-state.md"] = "# Story state\n\nWhat is true and what nobody knows yet. Only the game master reads this.\n"
	files["party-knowledge.md"] = "# What the party knows\n"
	var taken []string
	for _, c := range characters {
		shownName, slug, explicit := strings.Cut(c, "=")
		if !explicit {
			var err error
			if slug, err = table.Slugify(shownName); err != nil {
				return usageError("character %w", err)
			}
		}
		if err := errors.Join(table.CheckSlug(slug), table.UniqueSlug(slug, taken)); err != nil {
			return usageError("character %w", err)
		}
		taken = append(taken, slug)
		files["party/"+table.SheetFile(slug)] =
			"# " + shownName + "\n\n- Bond:\n- Flaw:\n- Ideal:\n- Secret action triggers:\n"
	}
	return nil
}
