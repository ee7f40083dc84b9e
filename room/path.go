package room

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// hiddenNames never enter a room as part of a directory: the engine's private
// state, version control, configuration, the campaigns, and the settings,
// memories and instructions of agents.
var hiddenNames = []string{
	".conclave", "conclave.yaml", "conclave.yml", ".campaign", "campaigns",
	".git", ".hg", ".svn", ".jj",
	".claude", ".claude.json", "claude.md", "claude.local.md", ".mcp.json",
	".codex", "agents.md", "agents.override.md", ".agents",
	".gemini", "gemini.md", ".cursor", ".cursorrules", ".windsurf", ".windsurfrules",
	".opencode", "opencode.json", "opencode.jsonc", ".aider.conf.yml", ".copilot",
}

// Hidden reports whether a file or directory of this name stays outside when
// the directory that holds it is granted or viewed. It compares as the most
// forgiving file systems do, so that no other spelling gets in.
func Hidden(name string) bool { return hiddenBy(name, nil) }

func hiddenBy(name string, more []string) bool {
	n := plain(name)
	same := func(h string) bool { return strings.EqualFold(n, plain(h)) }
	return slices.ContainsFunc(hiddenNames, same) || slices.ContainsFunc(more, same) || isShortName(n)
}

// plain removes what file systems ignore: invisible characters (HFS+), and
// dots and spaces at the end and streams (Windows).
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E,
			r >= 0x2060 && r <= 0x206F, r == 0xFEFF, r == 0x00AD:
			return -1
		}
		return r
	}, name)
	if i := strings.IndexByte(name, ':'); i > 0 {
		name = name[:i]
	}
	return strings.TrimRight(name, ". ")
}

// isShortName reports whether a Windows short name could stand for .git or
// another hidden name: GIT~1, CLAUDE~1.
func isShortName(n string) bool {
	stem, rest, ok := strings.Cut(n, "~")
	if !ok || stem == "" || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return false
	}
	return slices.ContainsFunc(hiddenNames, func(h string) bool {
		s := strings.TrimLeft(h, ".")
		return strings.EqualFold(stem, s[:min(len(s), 6)])
	})
}

// checkName accepts a path under work: local, clean, slash-separated.
func checkName(name string) error {
	switch {
	case name == "" || name == ".":
		return fmt.Errorf("%w: a grant needs a name", ErrRefused)
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%w: the name %q holds a zero byte", ErrRefused, name)
	case strings.ContainsRune(name, '\\'):
		return fmt.Errorf("%w: the name %q holds a backslash: use slashes", ErrRefused, name)
	case path.IsAbs(name), !filepath.IsLocal(filepath.FromSlash(name)), path.Clean(name) != name:
		return fmt.Errorf("%w: the name %q must be a clean path below work", ErrRefused, name)
	}
	return nil
}

// within reports whether the clean path p is dir or lies below it. It compares
// segments: /a/agent_10 is not within /a/agent_1.
func within(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

var errLeaves = errors.New("leads out of the named work")

// resolve follows the symbolic links of rel within root, and returns a path
// that has none. A link that leaves the root, also on the way to somewhere
// inside, is an error, as is a path through a hidden name.
func resolve(root *os.Root, rel string, hide []string) (string, error) {
	todo := strings.Split(filepath.ToSlash(rel), "/")
	var done []string
	for links := 0; len(todo) > 0; {
		seg := todo[0]
		todo = todo[1:]
		switch seg {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", errLeaves
			}
			done = done[:len(done)-1]
			continue
		}
		if hiddenBy(seg, hide) {
			return "", fmt.Errorf("leads through %q, which enters no room", seg)
		}
		at := path.Join(append(slices.Clone(done), seg)...)
		fi, err := root.Lstat(filepath.FromSlash(at))
		if err != nil {
			return "", err
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			done = append(done, seg)
			continue
		}
		if links++; links > 40 {
			return "", errors.New("has too many symbolic links on the way")
		}
		to, err := root.Readlink(filepath.FromSlash(at))
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			return "", errLeaves
		}
		todo = append(strings.Split(filepath.ToSlash(to), "/"), todo...)
	}
	if len(done) == 0 {
		return ".", nil
	}
	return path.Join(done...), nil
}
