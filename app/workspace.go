package app

import (
	"errors"
	"io/fs"
	"path/filepath"

	"conclave/config"
	"conclave/trust"
	door "conclave/workspace"
)

// Workspace is a project: the directory that holds .campaign or campaigns, what
// was read from it, and what of it the person trusts.
type Workspace struct {
	Root   string
	Config config.Config

	app        *App
	door       *door.Dir
	trust      trust.Store
	budgetFile string // that sets the budget
}

// FindRoot is the workspace that the person named, or the nearest directory
// upwards that is one and the person's own, else this one.
func (a *App) FindRoot() (string, error) {
	if a.Root != "" {
		root := a.AbsPath(a.Root)
		return root, refusedHere(door.Check(root))
	}
	root, err := door.Find(a.Dir, nil, a.UserConfigFile())
	if foreign := (*door.ForeignError)(nil); errors.As(err, &foreign) {
		own, ownErr := a.OwnConfig()
		if ownErr != nil {
			return "", ownErr
		}
		root, err = door.Find(a.Dir, own.Workspaces, a.UserConfigFile())
	}
	return root, refusedHere(err)
}

func refusedHere(err error) error {
	if err == nil {
		return nil
	}
	return environmentError("%w", err)
}

// OwnConfig is what the person's own file says.
func (a *App) OwnConfig() (config.Config, error) {
	file := a.UserConfigFile()
	if file == "" {
		return config.Config{}, nil
	}
	c, err := config.Read(file)
	return c, refusedHere(err)
}

func (a *App) trustStore() trust.Store {
	dir := a.UserDataDir()
	if dir == "" {
		return trust.Store{}
	}
	return trust.Store{Path: filepath.Join(dir, "conclave", "trust.json")}
}

// Enter opens the workspace. Nothing of it is used yet.
func (a *App) Enter() (*Workspace, error) {
	root, err := a.FindRoot()
	if err != nil {
		return nil, err
	}
	d, err := door.Open(root)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return &Workspace{Root: root, app: a, door: d, trust: a.trustStore()}, nil
}

// MakePrivate makes the place where records are kept, before anything is.
func (w *Workspace) MakePrivate() error { return refusedHere(door.MakePrivate(w.Root)) }

// OpenWorkspace finds the workspace and reads its configuration, which the
// person trusts.
func (a *App) OpenWorkspace() (*Workspace, error) {
	w, err := a.Enter()
	if err != nil {
		return nil, err
	}
	items, err := w.configItems()
	if err != nil {
		return nil, environmentError("%w", err)
	}
	if err := w.VouchFor(items); err != nil {
		return nil, err
	}
	return w, w.Configure()
}

// Configure lays the project's file, the bytes that were judged, and the
// person's own over the defaults.
func (w *Workspace) Configure() error {
	data, err := w.door.Read(config.FileName, door.MaxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return environmentError("%s: %w", w.Root, err)
	}
	project, err := config.ParseProject(data, filepath.Join(w.Root, config.FileName), w.app.UserConfigFile())
	if err != nil {
		return environmentError("%w", err)
	}
	own, err := w.app.OwnConfig()
	if err != nil {
		return err
	}
	w.Config, w.budgetFile = config.Merge(project, own), w.configuredBy(own)
	return nil
}
