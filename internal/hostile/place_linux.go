package hostile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Place is where a workspace is made.
type Place struct {
	Root     string // the workspace
	Outside  string // what no command may read, write or name; made by Furnish
	Marks    string // where a planted program leaves its mark
	Canary   string // stands in everything that is outside
	Stranger int    // the user that owns what belongs to somebody else
}

// Trust says what the person said about a workspace before a command is run.
type Trust int

const (
	Trusted Trust = iota // looked at the hostile one and said yes
	Fresh                // was never asked
	Before               // said yes to the twin, before the element was planted
)

// Workspace is a clone with one hostile element.
type Workspace struct {
	Name string
	// Touches are the paths whose opening, in the twin, shows that a command
	// got to where the element would be. One that ends in / is a directory
	// with everything below it.
	Touches []string
	Trust   Trust
	// Dir is where commands are run, below the root.
	Dir string
	// Careless is what a careless program would do, in Dir. It prints the
	// canary or the word ALIVE, or leaves a mark.
	Careless string
	// Root says that only root can make it.
	Root bool
	// Twin names the shape of the twin; "" is the plain workspace.
	Twin  string
	plant func(Place) error
	twin  func(Place) error
}

// Plant puts the hostile element into a plain workspace.
func (w Workspace) Plant(p Place) error { return w.in(p, w.plant) }

// PlantTwin makes a plain workspace the harmless twin.
func (w Workspace) PlantTwin(p Place) error {
	if w.twin == nil {
		return nil
	}
	return w.in(p, w.twin)
}

func (w Workspace) in(p Place, do func(Place) error) error {
	if err := do(p); err != nil {
		return fmt.Errorf("workspace %q: %w", w.Name, err)
	}
	return nil
}

// All are the hostile workspaces.
func All() []Workspace {
	var all []Workspace
	for _, group := range [][]Workspace{links(), specials(), sizes(), programs(), gits(), names(), damages(), others()} {
		all = append(all, group...)
	}
	return all
}

// steps is a plant made of several.
func steps(do ...func(Place) error) func(Place) error {
	return func(p Place) error {
		for _, step := range do {
			if err := step(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// each does the same at several paths.
func each(paths []string, do func(Place, string) error) func(Place) error {
	return func(p Place) error {
		for _, path := range paths {
			if err := do(p, path); err != nil {
				return err
			}
		}
		return nil
	}
}

// path is a path of the workspace.
func (p Place) path(name string) string { return filepath.Join(p.Root, filepath.FromSlash(name)) }

// clear makes room for something at a path.
func (p Place) clear(name string) (string, error) {
	path := p.path(name)
	if err := os.RemoveAll(path); err != nil {
		return "", err
	}
	return path, os.MkdirAll(filepath.Dir(path), 0o755)
}

func write(name, text string) func(Place) error {
	return func(p Place) error { return p.write(name, text, 0o644) }
}

// write puts a file there. $CANARY, $MARKS and $OUTSIDE are filled in.
func (p Place) write(name, text string, mode fs.FileMode) error {
	path, err := p.clear(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(p.fill(text)), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

func (p Place) fill(text string) string {
	return strings.NewReplacer("$CANARY", p.Canary, "$MARKS", p.Marks, "$OUTSIDE", p.Outside).Replace(text)
}

// link puts a link there; its target may name $OUTSIDE.
func link(name, target string) func(Place) error {
	return func(p Place) error {
		path, err := p.clear(name)
		if err != nil {
			return err
		}
		return os.Symlink(p.fill(target), path)
	}
}

// moved moves a file or directory of the workspace outside, writes the canary
// into it where that can be, and leaves a link.
func moved(name string) func(Place) error {
	return func(p Place) error {
		target := filepath.Join(p.Outside, "moved", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Rename(p.path(name), target); err != nil {
			return err
		}
		if err := sprinkle(target, "\n"+p.Canary+"\n"); err != nil {
			return err
		}
		return os.Symlink(target, p.path(name))
	}
}

// sprinkle adds text to every Markdown file below a path.
func sprinkle(path, text string) error {
	return filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = io.WriteString(f, text)
		if closing := f.Close(); err == nil {
			err = closing
		}
		return err
	})
}

// sparse puts a file of a size there that takes no room.
func sparse(p Place, name string) error {
	path, err := p.clear(name)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = f.Truncate(8 << 30)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

func fifo(p Place, name string) error {
	path, err := p.clear(name)
	if err != nil {
		return err
	}
	return syscall.Mkfifo(path, 0o644)
}

// device puts the zero device there.
func device(p Place, name string) error {
	path, err := p.clear(name)
	if err != nil {
		return err
	}
	if err := syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|5); err != nil {
		return err
	}
	return os.Chmod(path, 0o666)
}

// socket puts a socket there that nobody listens to.
func socket(p Place, name string) error {
	path, err := p.clear(name)
	if err != nil {
		return err
	}
	return syscall.Mknod(path, syscall.S_IFSOCK|0o644, 0)
}

func directory(p Place, name string) error {
	path, err := p.clear(name)
	if err != nil {
		return err
	}
	return os.Mkdir(path, 0o755)
}

// program puts a script there that leaves a mark and then works on as a filter
// would.
func program(p Place, name string) error {
	return p.write(name, markScript(strings.ReplaceAll(name, "/", "_")), 0o755)
}

func markScript(mark string) string {
	return "#!/bin/sh\necho $0 >>$MARKS/" + mark + "\necho 1.0.0\n"
}
