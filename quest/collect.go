package quest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"conclave/policy"
)

// collector gathers the files that names stand for.
type collector struct {
	root      *os.Root
	workspace string
	limits    workLimits
	from      source
	granted   []string // by name, although they are keys or logins
	files     map[string]fs.FileInfo
	via       map[string]string // a link's path → the file it leads to
	roots     []string          // what was named, as paths
	bytes     int64
	leftOut   []LeftOut
	problems  []string
	all       []string // every path of the workspace, for globs
	listed    bool
}

// maxProblems is how many problems are told at once.
const maxProblems = 10

func (c *collector) collect(names []string) (*Work, error) {
	if len(names) == 0 {
		return nil, &WorkError{[]string{"no work was named; give paths or globs"}}
	}
	for _, name := range names {
		if err := c.name(name); err != nil {
			c.problem("%q: %v", name, err)
		}
	}
	c.checkLinks()
	c.checkHardLinks()
	if len(c.problems) > 0 {
		return nil, &WorkError{c.problems}
	}
	if (len(c.files) == 0 || c.bytes == 0) && c.from != ofPast {
		return nil, &WorkError{[]string{fmt.Sprintf("%s: the named work is empty", strings.Join(names, ", "))}}
	}
	return c.list(slices.Clone(names))
}

func (c *collector) problem(format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

// name resolves one name: the path itself if it exists, else a glob.
func (c *collector) name(name string) error {
	rel, err := c.relative(name)
	if err != nil {
		return err
	}
	if rel != "." {
		if why := c.refusal(rel); why != "" {
			return errors.New(why)
		}
	}
	info, err := c.root.Lstat(filepath.FromSlash(rel))
	if err == nil {
		if real, err := followInside(c.root, path.Dir(rel)); err != nil || real != path.Dir(rel) {
			return errors.New("the way there goes through a link; name the place itself")
		}
		c.roots = append(c.roots, rel)
		return c.take(rel, info, true)
	}
	if !strings.ContainsAny(rel, "*?[") {
		if errors.Is(err, fs.ErrNotExist) && c.from == ofPast {
			return nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return errors.New("there is no such file or directory")
		}
		return cause(err)
	}
	return c.glob(rel)
}

// relative turns a name into a clean path inside the workspace.
func (c *collector) relative(name string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", errors.New("not a path")
	}
	if filepath.IsAbs(name) {
		base, err := filepath.Abs(c.workspace)
		if err != nil {
			return "", err
		}
		rel, err := filepath.Rel(base, name)
		if err != nil {
			return "", errors.New("it is outside the workspace")
		}
		name = rel
	}
	rel := path.Clean(filepath.ToSlash(name))
	if rel == ".." || strings.HasPrefix(rel, "../") || path.IsAbs(rel) {
		return "", errors.New("it is outside the workspace")
	}
	return rel, nil
}

func (c *collector) glob(pattern string) error {
	match, err := globPattern(pattern)
	if err != nil {
		return err
	}
	if err := c.listAll(); err != nil {
		return err
	}
	found := 0
	for _, p := range c.all {
		if !match.MatchString(p) {
			continue
		}
		found++
		info, err := c.root.Lstat(filepath.FromSlash(p))
		if err != nil {
			return fmt.Errorf("%s: %w", p, cause(err))
		}
		if c.refusal(p) != "" || c.onlyByName(p) != "" {
			c.leave(p, c.kind(p), c.refusal(p)+c.onlyByName(p))
			continue
		}
		c.roots = append(c.roots, p)
		if err := c.take(p, info, false); err != nil {
			c.problem("%q: %v", p, err)
		}
	}
	if found == 0 && c.from != ofPast {
		return errors.New("it matches nothing")
	}
	return nil
}

// listAll walks the workspace once, below nothing that may never be work.
func (c *collector) listAll() error {
	if c.listed {
		return nil
	}
	c.listed = true
	return fs.WalkDir(c.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		if d.IsDir() && c.refusal(p) != "" {
			return fs.SkipDir
		}
		c.all = append(c.all, p)
		return nil
	})
}

// globPattern reads * and ? within a segment, ** across segments and [a-z].
func globPattern(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`\A`)
	for i := 0; i < len(pattern); i++ {
		switch ch := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString(`(?s:(?:[^/]+/)*)`)
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(`(?s:.*)`)
			i++
		case ch == '*':
			b.WriteString(`[^/]*`)
		case ch == '?':
			b.WriteString(`[^/]`)
		case ch == '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end <= 0 || strings.ContainsAny(pattern[i+1:i+1+end], `[\/`) {
				return nil, errors.New("a [ in the glob has no plain set after it")
			}
			set := pattern[i+1 : i+1+end]
			if set[0] == '!' {
				set = "^/" + set[1:]
			}
			b.WriteString("[" + set + "]")
			i += end + 1
		default:
			b.WriteString(regexp.QuoteMeta(string(ch)))
		}
	}
	re, err := regexp.Compile(b.String() + `\z`)
	if err != nil {
		return nil, errors.New("the glob cannot be read")
	}
	return re, nil
}

// take adds a file, or everything below a directory.
func (c *collector) take(rel string, info fs.FileInfo, named bool) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if err := c.link(rel); err != nil {
			return c.badLink(rel, err)
		}
		return nil
	case info.IsDir():
		return c.walk(rel, named)
	case !info.Mode().IsRegular():
		return errors.New("neither a file nor a directory")
	}
	return c.addFile(rel, info)
}

func (c *collector) addFile(rel string, info fs.FileInfo) error {
	if _, there := c.files[rel]; there {
		return nil
	}
	c.files[rel] = info
	c.bytes += info.Size()
	if len(c.files) > c.limits.files {
		return fmt.Errorf("more than %d files; name less", c.limits.files)
	}
	if c.bytes > c.limits.bytes {
		return fmt.Errorf("%d bytes and more, the limit is %d; name less", c.bytes, c.limits.bytes)
	}
	return nil
}

func (c *collector) walk(rel string, named bool) error {
	return fs.WalkDir(c.root.FS(), rel, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", p, cause(err))
		}
		if p == rel {
			return nil
		}
		why := c.refusal(p)
		if why == "" && !(named && c.isTable(rel) && c.isTable(p)) {
			why = c.onlyByName(p)
		}
		if why != "" {
			c.leave(p, c.kind(p), why)
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return fmt.Errorf("%s: %w", p, cause(err))
		}
		if err := c.take(p, info, false); err != nil {
			if len(c.files) > c.limits.files || c.bytes > c.limits.bytes {
				return err
			}
			c.problem("%q: %v", p, err)
		}
		return nil
	})
}

func (c *collector) leave(p string, kind policy.Kind, why string) {
	c.leftOut = append(c.leftOut, LeftOut{Path: p, Kind: kind, Reason: why})
}
