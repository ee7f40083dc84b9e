package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/table"
	"conclave/table/adventure"
	tableflow "conclave/table/flow"
)

func tableCaps() table.Caps { return table.Caps{} }

func newTableNew(env *environment) *cobra.Command {
	var from string
	var characters []string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Begin a campaign",
		Long: `New makes campaigns/NAME: with --adventure a copy of an adventure that comes with
the program, otherwise an empty campaign with the characters that you name. Write
sheets, story state and party knowledge with any editor.`,
		Example: `  conclave table new ashfall --adventure
  conclave table new ashfall --character "Tilda Brannock" --character "O'Brien"`,
		Args: oneArg("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("adventure") {
				from = ""
			}
			return env.newCampaign(args[0], from, characters)
		},
	}
	cmd.Flags().StringVar(&from, "adventure", adventure.Default, "copy an adventure: "+strings.Join(adventure.Names(), ", "))
	cmd.Flags().Lookup("adventure").NoOptDefVal = adventure.Default
	cmd.Flags().StringArrayVar(&characters, "character", nil, "a character's name, or name=slug")
	return cmd
}

func (env *environment) newCampaign(name, from string, characters []string) error {
	root, err := env.findRoot()
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
	temp := dir + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return environmentError("%w", err)
	}
	for path, text := range files {
		file := filepath.Join(temp, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return environmentError("%w", err)
		}
	}
	for _, d := range []string{"party", "tmp"} {
		if err := os.MkdirAll(filepath.Join(temp, d), 0o755); err != nil {
			return environmentError("%w", err)
		}
	}
	if err := errors.Join(os.Rename(temp, dir), tableflow.Init(root)); err != nil {
		return environmentError("%w", err)
	}
	env.Stdout.Printf("campaigns/%s is ready. Play it: conclave table play %[1]s\n", name)
	return nil
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
		files["party/"+table.SheetFile(slug)] = "# " + shownName + "\n\n- Bond:\n- Flaw:\n- Ideal:\n- Secret action triggers:\n"
	}
	return nil
}
