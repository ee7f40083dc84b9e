package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"conclave/config"
	"conclave/trust"
	door "conclave/workspace"
)

// workspace is a project: the directory that holds .campaign or campaigns, what
// was read from it, and what of it the person trusts.
type workspace struct {
	root   string
	door   *door.Dir
	trust  trust.Store
	config config.Config
}

// findRoot is the workspace that the person named, or the nearest directory
// upwards that is one and the person's own, else this one.
func (env *environment) findRoot() (string, error) {
	if env.Root != "" {
		root := env.absPath(env.Root)
		return root, refusedHere(door.Check(root))
	}
	root, err := door.Find(env.Dir, nil, env.userConfigFile())
	if foreign := (*door.ForeignError)(nil); errors.As(err, &foreign) {
		own, ownErr := env.ownConfig()
		if ownErr != nil {
			return "", ownErr
		}
		root, err = door.Find(env.Dir, own.Workspaces, env.userConfigFile())
	}
	return root, refusedHere(err)
}

func refusedHere(err error) error {
	if err == nil {
		return nil
	}
	return environmentError("%w", err)
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

// enter opens the workspace. Nothing of it is used yet.
func (env *environment) enter() (*workspace, error) {
	root, err := env.findRoot()
	if err != nil {
		return nil, err
	}
	d, err := door.Open(root)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return &workspace{root: root, door: d, trust: env.trustStore()}, nil
}

// makePrivate makes the place where records are kept, before anything is.
func (w *workspace) makePrivate() error { return refusedHere(door.MakePrivate(w.root)) }

// openWorkspace finds the workspace and reads its configuration, which the
// person trusts.
func (env *environment) openWorkspace() (*workspace, error) {
	w, err := env.enter()
	if err != nil {
		return nil, err
	}
	items, err := w.configItems()
	if err != nil {
		return nil, environmentError("%w", err)
	}
	if err := w.vouchFor(items); err != nil {
		return nil, err
	}
	return w, w.configure(env)
}

// configure lays the project's file, the bytes that were judged, and the
// person's own over the defaults.
func (w *workspace) configure(env *environment) error {
	data, err := w.door.Read(config.FileName, door.MaxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return environmentError("%s: %w", w.root, err)
	}
	project, err := config.ParseProject(data, filepath.Join(w.root, config.FileName), env.userConfigFile())
	if err != nil {
		return environmentError("%w", err)
	}
	own, err := env.ownConfig()
	if err != nil {
		return err
	}
	w.config = config.Merge(project, own)
	return nil
}
