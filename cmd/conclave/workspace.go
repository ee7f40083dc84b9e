package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/config"
	"conclave/quest"
	"conclave/trust"
)

// workspace is a project: the directory that holds .campaign or campaigns.
type workspace struct {
	root   string
	config config.Config
}

// findRoot is the nearest directory upwards that is a workspace, else this
// one.
func (env *environment) findRoot() string {
	for dir := env.Dir; ; dir = filepath.Dir(dir) {
		for _, mark := range []string{".campaign", "campaigns", config.FileName, "profile-packs"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			return env.Dir
		}
	}
}

// userConfigFile is the user's own file, "" where no home is known: a relative
// name would be found in whatever directory a command is given.
func (env *environment) userConfigFile() string {
	dir := env.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := env.Getenv("HOME")
		if home == "" {
			home = env.Getenv("USERPROFILE")
		}
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "conclave", "config.yaml")
}

// ownConfig is what the person's own file says.
func (env *environment) ownConfig() (config.Config, error) {
	file := env.userConfigFile()
	if file == "" {
		return config.Config{}, nil
	}
	c, err := config.Read(file)
	if err != nil {
		return c, environmentError("%w", err)
	}
	return c, nil
}

func (env *environment) trustStore() trust.Store {
	dir := env.userDataDir()
	if dir == "" {
		return trust.Store{}
	}
	return trust.Store{Path: filepath.Join(dir, "conclave", "trust.json")}
}

// openWorkspace finds the workspace and reads its configuration. A project's
// own file is used only if the person trusts it.
func (env *environment) openWorkspace() (*workspace, error) {
	if err := env.checkTrust(); err != nil {
		return nil, err
	}
	return env.readWorkspace(env.findRoot())
}

// checkTrust refuses a workspace that names things which the person has not
// said yes to.
func (env *environment) checkTrust() error {
	root := env.findRoot()
	items, err := trustItems(root)
	if err != nil {
		return environmentError("%w", err)
	}
	if err := env.trustStore().Check(root, items); err != nil {
		return environmentError("%s: %w", root, err)
	}
	return nil
}

func (env *environment) readWorkspace(root string) (*workspace, error) {
	file := filepath.Join(root, config.FileName)
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, environmentError("%w", err)
	}
	project, err := config.ParseProject(data, file, env.userConfigFile())
	if err != nil {
		return nil, environmentError("%w", err)
	}
	own, err := env.ownConfig()
	if err != nil {
		return nil, err
	}
	return &workspace{root: root, config: config.Merge(project, own)}, nil
}

// trustItems is what a workspace asks to be trusted with: its configuration,
// the commands of its criteria's checks, and its packs.
func trustItems(root string) ([]trust.Item, error) {
	var items []trust.Item
	data, err := os.ReadFile(filepath.Join(root, config.FileName))
	if err == nil {
		items = append(items, trust.Item{Name: config.FileName, Text: data})
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(quest.QuestFile))); err == nil {
		for _, c := range quest.Parse(data).Criteria {
			if c.Check != "" {
				items = append(items, trust.Item{Name: fmt.Sprintf("the check of criterion %d", c.Number), Text: []byte(c.Check)})
			}
		}
	}
	for _, dir := range []string{"profile-packs", filepath.Join(".campaign", "instructions")} {
		more, err := trustTexts(root, filepath.Join(root, dir))
		if err != nil {
			return nil, err
		}
		items = append(items, more...)
	}
	return items, nil
}

// trustTexts are the Markdown files below a directory: packs, and a project's
// own instructions for roles.
func trustTexts(root, dir string) ([]trust.Item, error) {
	var items []trust.Item
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		items = append(items, trust.Item{Name: filepath.ToSlash(rel), Text: data})
		return err
	})
	return items, err
}
