package quest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/policy"
)

// maxHops bounds a chain of links.
const maxHops = 16

// link notes where a symbolic link leads. Whether that is inside the named
// work can be told only when all names are known.
func (c *collector) link(rel string) error {
	target, err := followInside(c.root, rel)
	if err != nil {
		return err
	}
	c.via[rel] = target
	return nil
}

// badLink leaves a link out of a commit's tree; elsewhere it stays an error.
func (c *collector) badLink(rel string, err error) error {
	if c.from == asNamed {
		return err
	}
	c.leave(rel, policy.Workspace, err.Error())
	return nil
}

// checkLinks takes each link whose target is part of the named work as a copy
// of it, and refuses every other.
func (c *collector) checkLinks() {
	for _, rel := range slices.Sorted(maps.Keys(c.via)) {
		target := c.via[rel]
		if !c.inside(rel, target) {
			if c.badLink(rel, fmt.Errorf("a link that leaves the named work (to %q)", target)) != nil {
				c.problem("%q: a link that leaves the named work (to %q); name its target instead", rel, target)
			}
			continue
		}
		info, err := c.root.Lstat(filepath.FromSlash(target))
		switch {
		case err != nil:
			c.problem("%q: %v", rel, cause(err))
		case info.IsDir():
			c.leave(rel, policy.Workspace, "a link to a directory that is part of the work itself")
		case c.refusal(target) != "" || c.onlyByName(target) != "" && c.files[target] == nil:
			c.leave(rel, c.kind(target), "a link: "+c.refusal(target)+c.onlyByName(target))
		case !info.Mode().IsRegular():
			c.problem("%q: leads to something that is neither a file nor a directory", rel)
		default:
			if err := c.addFile(rel, info); err != nil {
				c.problem("%q: %v", rel, err)
			}
		}
	}
}

// inside reports whether a target is one of the named roots or below one, by
// path segments. A link that was named itself is no root of its own.
func (c *collector) inside(link, target string) bool {
	for _, root := range c.roots {
		if root == link {
			continue
		}
		if root == "." || target == root || strings.HasPrefix(target, root+"/") {
			return true
		}
	}
	return false
}

// followInside resolves the links in a path, segment by segment, and refuses
// to leave the workspace. It returns a path without links.
func followInside(root *os.Root, name string) (string, error) {
	todo := strings.Split(filepath.ToSlash(name), "/")
	done := "."
	for hops := 0; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		switch next {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", errors.New("a link that leaves the workspace")
			}
			done = path.Dir(done)
			continue
		}
		at := path.Join(done, next)
		info, err := root.Lstat(filepath.FromSlash(at))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return "", errors.New("a link that leads nowhere")
			}
			return "", cause(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = at
			continue
		}
		if hops++; hops > maxHops {
			return "", errors.New("a link that leads round in circles")
		}
		target, err := root.Readlink(filepath.FromSlash(at))
		if err != nil {
			return "", cause(err)
		}
		if filepath.IsAbs(target) || strings.HasPrefix(target, "/") {
			return "", fmt.Errorf("a link to an absolute path (%q)", target)
		}
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	return done, nil
}

// checkHardLinks refuses a file that is another name of one that must not go
// in. Nobody makes such a link by accident, but a leak by accident and one on
// purpose look the same from inside the room.
func (c *collector) checkHardLinks() {
	var suspects []string
	for _, p := range slices.Sorted(maps.Keys(c.files)) {
		if mayBeLinked(c.files[p]) {
			suspects = append(suspects, p)
		}
	}
	if len(suspects) == 0 {
		return
	}
	secrets := c.secretFiles()
	for _, p := range suspects {
		for _, name := range slices.Sorted(maps.Keys(secrets)) {
			if !os.SameFile(c.files[p], secrets[name]) {
				continue
			}
			if c.kind(name) != policy.Credentials {
				c.problem("%q: another name of %q, which never goes in", p, name)
				break
			}
			c.leave(p, policy.Credentials, fmt.Sprintf("another name of %s: %s", name, c.refusal(name)))
			c.bytes -= c.files[p].Size()
			delete(c.files, p)
			break
		}
	}
}

// secretFiles lists the files of the workspace that never go in and have
// further names.
func (c *collector) secretFiles() map[string]fs.FileInfo {
	out := map[string]fs.FileInfo{}
	_ = fs.WalkDir(c.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what cannot be listed has no name to compare
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && mayBeLinked(info) && c.refusal(p) != "" {
			out[p] = info
		}
		return nil
	})
	return out
}
