package table

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"conclave/workspace"
)

// Obstacle is what stands in the way of a file that a table writes.
type Obstacle struct {
	Path string // from the workspace
	// Reason is what stands there, and how to clear it away.
	Reason string
	// ReadOnly: it is a file as it should be, but nobody is to write it.
	ReadOnly bool
}

func (o *Obstacle) Error() string { return o.Path + ": " + o.Reason }

// Way says what keeps a file of the campaign from being written: something else
// that stands at its name or in place of a directory on the way to it, a second
// name, a lock on writing. It is nil when the file can be written, and when
// there is none yet. Links are not followed, not even within a campaign: one
// from a sheet to the story state would tell a player everything.
func (c *Campaign) Way(name string) *Obstacle {
	f, info, at, err := c.openPlain(name)
	if err != nil {
		return c.obstacle(at, err)
	}
	f.Close()
	if info.Mode().Perm()&0o200 == 0 {
		return &Obstacle{c.file(name), "a file that may only be read; `chmod u+w` lets it be written", true}
	}
	return nil
}

// Look reads a file of the campaign for who is to write it; there says whether
// there is one. What cannot be written is an *Obstacle.
func (c *Campaign) Look(name string) (text string, there bool, err error) {
	f, _, at, err := c.openPlain(name)
	if err != nil {
		if o := c.obstacle(at, err); o != nil {
			return "", false, o
		}
		return "", false, nil
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return string(data), true, err
}

// openPlain opens a file by a path of the campaign, no part of which is a link;
// at is the part that an error is about.
func (c *Campaign) openPlain(name string) (f *os.File, info fs.FileInfo, at string, err error) {
	dir, held := c.Root.root, (*os.Root)(nil)
	defer func() {
		if held != nil {
			held.Close()
		}
	}()
	parts := strings.Split(name, "/")
	for i, part := range parts[:len(parts)-1] {
		next, err := workspace.OpenDirIn(dir, part)
		if err != nil {
			return nil, nil, path.Join(parts[:i+1]...), err
		}
		if held != nil {
			held.Close()
		}
		dir, held = next, next
	}
	f, info, err = workspace.OpenIn(dir, parts[len(parts)-1], os.O_RDONLY, fs.FileMode.IsRegular)
	return f, info, name, err
}

// obstacle is nil for what does not exist: it can be made.
func (c *Campaign) obstacle(name string, err error) *Obstacle {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &Obstacle{Path: c.file(name), Reason: cause(err).Error()}
}

// cause is an error without the path that it names.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (c *Campaign) file(name string) string { return path.Join("campaigns", c.Name, name) }

// Ways looks at everything that a cycle writes, whoever is asked in it: the
// files of the whole campaign, the journals of the party and the scene's file.
// What blocks keeps a cycle from ending, so none
// should begin; what is closed is only not to be written by the game master.
func (c *Campaign) Ways(party []string, scene string) (blocks, closed []*Obstacle) {
	own := []string{scene, DiceLogFile} // which the table writes by itself
	for _, slug := range party {
		own = append(own, "party/"+JournalFile(slug))
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(topFiles)), func(n string) bool { return slices.Contains(own, n) })
	for _, slug := range party {
		others = append(others, "party/"+SheetFile(slug))
	}
	for _, name := range own {
		if o := c.Way(name); o != nil {
			blocks = append(blocks, o)
		}
	}
	for _, name := range others {
		switch o := c.Way(name); {
		case o == nil:
		case o.ReadOnly:
			closed = append(closed, o)
		default:
			blocks = append(blocks, o)
		}
	}
	return blocks, closed
}

// Try writes where a cycle will, and takes it away again: who only looks leaves it be.
func (c *Campaign) Try(scene string) (blocks []*Obstacle) {
	for _, dir := range []string{".", "party", "tmp", path.Dir(scene)} {
		size := 0
		if dir == "tmp" {
			size = room
		}
		if err := c.touch(dir, size); err != nil {
			blocks = append(blocks, &Obstacle{Path: c.file(dir), Reason: "cannot be written to: " + cause(err).Error()})
		}
	}
	return blocks
}

// room is how much must be free on the disk before anybody is asked: more than
// the files of a cycle are likely to need.
const room = 1 << 20

// touch makes a file of some size in a directory and removes it; a directory
// that is not there can be made. It does not wait for the disk.
func (c *Campaign) touch(dir string, size int) error {
	var id [8]byte
	rand.Read(id[:])
	temp := path.Join(dir, fmt.Sprintf(".probe.%x.new", id)) // swept like any unfinished write
	f, err := c.Root.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, size))
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w; a cycle wants %d KiB", syscall.ENOSPC, size>>10)
	}
	return errors.Join(err, f.Close(), c.Root.root.Remove(temp))
}

// Blocked is an error that says what stands in the way, nil for nothing.
func Blocked(list []*Obstacle) error {
	var lines []string
	for _, o := range list {
		if line := o.Error(); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("nobody was asked: %s", strings.Join(lines, "; "))
}

// Present lists the characters that can be called, in order.
func (r Roster) Present() []string {
	var out []string
	for _, c := range r.Characters {
		if c.Status == Present {
			out = append(out, c.Slug)
		}
	}
	return out
}
