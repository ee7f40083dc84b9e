package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/config"
	"conclave/internal/git"
	"conclave/internal/screen"
	"conclave/trust"
	door "conclave/workspace"
)

// workspace is a project: the directory that holds .campaign or campaigns, what
// was read from it, and what of it the person trusts.
type workspace struct {
	root    string
	project config.Config // what the project's own file says
	config  config.Config // with everything else

	app        *App
	door       *door.Dir
	trust      trust.Store
	budgetFile string // that sets the budget
	vouched    bool   // the person vouches for all that the door shows
}

// findRoot is the workspace that the person named, or the nearest directory
// upwards that is one and the person's own, else this one.
func (a *App) findRoot() (string, error) {
	if a.Root != "" {
		root := a.AbsPath(a.Root)
		return root, refusedHere(door.Check(root))
	}
	root, err := door.Find(a.Dir, nil, a.userConfigFile())
	if foreign := (*door.ForeignError)(nil); errors.As(err, &foreign) {
		own, ownErr := a.ownConfig()
		if ownErr != nil {
			return "", ownErr
		}
		root, err = door.Find(a.Dir, own.Workspaces, a.userConfigFile())
	}
	return root, refusedHere(err)
}

// rootToRead is findRoot for a verb that tells of what the engine has kept here:
// of what somebody else has, it says so first.
func (a *App) rootToRead() (string, error) {
	root, err := a.findRoot()
	if err != nil {
		return "", err
	}
	a.sayCameAlong(root)
	return root, nil
}

func (a *App) sayCameAlong(root string) bool {
	came := a.cameAlong(root)
	if came != nil {
		a.show(Warning{screen.Sprintf("%v", came)})
	}
	return came != nil
}

// rootToChange is findRoot for a verb that goes on with what the engine has kept
// here, or adds to it.
func (a *App) rootToChange() (string, error) {
	root, err := a.findRoot()
	if err != nil {
		return "", err
	}
	return root, a.cameAlong(root)
}

// cameAlong refuses an engine's directory that git tracks: we keep ours out of git,
// so that this one came with a clone, and its records, databases and locks say what
// somebody else wants to be believed.
func (a *App) cameAlong(root string) error {
	dir := filepath.Join(root, engineDir)
	if _, err := os.Lstat(dir); err != nil {
		return nil
	}
	tracked, err := git.Tracked(root, engineDir)
	if err != nil {
		a.tell(fmt.Sprintf("nobody can tell whether %s came with a clone: %v", dir, err))
	}
	if !tracked {
		return nil
	}
	return environmentError("%s is tracked by git: it came with a clone, and what it says was not written here\n"+
		"move it away, or, if you know it to be yours, take it out of git: git -C %q rm -r --cached %s", dir, root, engineDir)
}

// engineDir is what the engine keeps in a workspace.
const engineDir = ".conclave"

func refusedHere(err error) error {
	if err == nil {
		return nil
	}
	return environmentError("%w", err)
}

// ownConfig is what the person's own file says.
func (a *App) ownConfig() (config.Config, error) {
	file := a.userConfigFile()
	if file == "" {
		return config.Config{}, nil
	}
	c, err := config.Read(file)
	return c, refusedHere(err)
}

// database is the server that remembers what is under way, empty for SQLite in
// the workspace.
func (a *App) database() (string, error) {
	own, err := a.ownConfig()
	return own.Database, err
}

func (a *App) trustStore() trust.Store {
	dir := a.userDataDir()
	if dir == "" {
		return trust.Store{}
	}
	return trust.Store{Path: filepath.Join(dir, "conclave", "trust.json")}
}

// enter opens the workspace. Nothing of it is used yet.
func (a *App) enter() (*workspace, error) {
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	if err := a.Log.keepOutOf(root); err != nil {
		return nil, err
	}
	d, err := door.Open(root)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return &workspace{root: root, app: a, door: d, trust: a.trustStore()}, nil
}

// enterToChange is enter for a verb that goes on with what the engine has kept here,
// or adds to it.
func (a *App) enterToChange() (*workspace, error) {
	w, err := a.enter()
	if err != nil {
		return nil, err
	}
	return w, a.cameAlong(w.root)
}

// makePrivate makes the place where records are kept, before anything is.
func (w *workspace) makePrivate() error {
	w.app.sayNested(w.root)
	return w.app.makePrivate(w.root)
}

// makePrivate makes it in a workspace whose engine's directory is the person's.
func (a *App) makePrivate(root string) error {
	if err := a.cameAlong(root); err != nil {
		return err
	}
	return refusedHere(door.MakePrivate(root))
}

// sayNested says that a directory inside a repository becomes a workspace of its
// own: who forgot where they are finds two of them later.
func (a *App) sayNested(dir string) {
	if a.Root != "" || door.Begun(dir) {
		return
	}
	if top := git.TopOf(dir); top != "" && top != dir {
		a.tell(fmt.Sprintf("%s becomes a workspace of its own; the repository begins at %s (for one there: --root %[2]q)",
			dir, top))
	}
}

// openWorkspace finds the workspace and reads its configuration, which the
// person trusts.
func (a *App) openWorkspace() (*workspace, error) {
	w, err := a.enter()
	if err != nil {
		return nil, err
	}
	return w, w.readConfig()
}

// readConfig reads the configuration, which the person trusts.
func (w *workspace) readConfig() error {
	items, err := w.configItems()
	if err != nil {
		return environmentError("%w", err)
	}
	if err := w.vouchFor(items); err != nil {
		return err
	}
	return w.configure()
}

// configure lays the project's file, the bytes that were judged, and the
// person's own over the defaults.
func (w *workspace) configure() error {
	data, err := w.door.Read(config.FileName, door.MaxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return environmentError("%s: %w", w.root, err)
	}
	project, err := config.ParseProject(data, filepath.Join(w.root, config.FileName), w.app.userConfigFile())
	if err != nil {
		return environmentError("%w", err)
	}
	own, err := w.app.ownConfig()
	if err != nil {
		return err
	}
	w.project, w.config, w.budgetFile = project, config.Merge(project, own), w.configuredBy(own)
	return nil
}
