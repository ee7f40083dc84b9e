package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mark is something at the root of a workspace that makes it one, or is used
// from it.
type mark struct {
	name string
	dir  bool
	// finds: walking up stops here. The engine's directory alone makes no
	// workspace.
	finds bool
}

var marks = []mark{
	{"conclave.yaml", false, true},
	{".campaign", true, true},
	{"campaigns", true, true},
	{"profile-packs", true, true},
	{".conclave", true, false},
}

// ForeignError is a workspace that belongs to somebody else and was not named.
type ForeignError struct {
	root  string
	thing string // what belongs to them, the root itself or something in it
	uid   int
	own   string // the person's own configuration
}

func (e *ForeignError) Error() string {
	own := e.own
	if own == "" {
		own = "your own configuration"
	}
	return fmt.Sprintf("%s belongs to somebody else (uid %d), so %s is not used as a workspace unless you name it\n"+
		"for one command: --root %[3]q\nfor always, in %[4]s:\n  workspaces: [%[3]q]", e.thing, e.uid, e.root, own)
}

// Find returns the nearest directory upwards from dir that is a workspace, else
// dir itself. named are the workspaces that the person's own configuration, the
// file own, adopts.
func Find(dir string, named []string, own string) (string, error) {
	root := nearest(dir)
	if !adopted(root, named) {
		if thing, uid, yes := somebodyElses(root); yes {
			return "", &ForeignError{root, thing, uid, own}
		}
	}
	return root, Check(root)
}

func nearest(dir string) string {
	if root, ok := marked(dir); ok {
		return root
	}
	return dir
}

// marked finds the nearest directory upwards that has a mark.
func marked(dir string) (root string, ok bool) {
	for at := dir; ; at = filepath.Dir(at) {
		for _, m := range marks {
			if _, err := os.Lstat(filepath.Join(at, m.name)); err == nil && m.finds {
				return at, true
			}
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// Begun says whether a directory is a workspace already.
func Begun(root string) bool {
	at, ok := marked(root)
	return ok && at == root
}

// somebodyElses finds what at a root belongs to somebody else. A directory with
// nothing of a workspace in it is nobody's workspace yet.
func somebodyElses(root string) (string, int, bool) {
	var there []string
	for _, m := range marks {
		file := filepath.Join(root, m.name)
		info, err := os.Lstat(file)
		if err != nil {
			continue
		}
		there = append(there, file)
		if uid, yes := foreign(info); yes {
			return file, uid, true
		}
	}
	if len(there) == 0 {
		return "", 0, false
	}
	info, err := os.Stat(root)
	if err != nil {
		return root, -1, true
	}
	uid, yes := foreign(info)
	return root, uid, yes
}

func adopted(root string, named []string) bool {
	return slices.ContainsFunc(named, func(n string) bool { return same(root, n) })
}

// same: two names of one directory.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Check refuses a workspace in which something of ours is not what it should be.
func Check(root string) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &Refused{root, unwanted(info.Mode())}
	}
	for _, m := range marks {
		info, err := os.Lstat(filepath.Join(root, m.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if m.dir && !info.IsDir() || !m.dir && !info.Mode().IsRegular() {
			return &Refused{filepath.Join(root, m.name), unwanted(info.Mode())}
		}
	}
	return checkEngine(filepath.Join(root, engineDir), filepath.Join(root, engineDir), 0)
}

const (
	engineDir   = ".conclave"
	keptDir     = "profiles/old" // former profiles as they were, links too
	locksDir    = "locks"        // who holds one may listen at a socket beside it
	engineDepth = 64             // nothing of the engine's lies deeper
)

// checkEngine refuses a link, a FIFO or a device anywhere in the engine's own
// directory.
func checkEngine(engine, dir string, depth int) error {
	kept := filepath.Join(engine, filepath.FromSlash(keptDir))
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil // whoever uses it says so
	}
	if err != nil {
		return err
	}
	defer f.Close()
	entries, err := list(f, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if depth == engineDepth {
				return &Refused{name, "a directory deeper than the engine makes any; remove it"}
			}
			if err := checkEngine(engine, name, depth+1); err != nil {
				return err
			}
		case e.Type() == fs.ModeSocket && dir == filepath.Join(engine, locksDir) &&
			strings.HasSuffix(name, ".sock") && own(e):
		case e.Type()&fs.ModeSymlink != 0 && strings.HasPrefix(name, kept+string(filepath.Separator)):
		case !e.Type().IsRegular():
			return &Refused{name, unwanted(e.Type())}
		}
	}
	return nil
}

// own says whether something is the person's.
func own(e fs.DirEntry) bool {
	info, err := e.Info()
	if err != nil {
		return false
	}
	_, yes := foreign(info)
	return !yes
}

// MakePrivate makes the engine's own directory, closed to others and to git:
// records hold every word, and "git add -A" must not take them along.
func MakePrivate(root string) error {
	dir := filepath.Join(root, engineDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Lstat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return &Refused{dir, unwanted(info.Mode())}
	}
	ignore := filepath.Join(dir, ".gitignore")
	if info, err := os.Lstat(ignore); err == nil && info.Size() > 0 {
		return nil // an empty one is what a full disk has left
	}
	f, err := os.OpenFile(ignore, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}
