package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// head is what HEAD names.
type head struct {
	branch string // empty: none
	commit string // empty: the branch has no commit yet
}

const maxRefDepth = 5

var objectName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// resolve follows HEAD to its commit.
func (r *Repository) resolve(ctx context.Context) error {
	if r.settings.reftable {
		return r.resolveTables(ctx)
	}
	b, _, err := slurp(r.own, "HEAD", maxSmall)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(string(b))
	if name, ok := strings.CutPrefix(text, "ref: refs/heads/"); ok && refName("refs/heads/"+name) {
		r.head.branch = name
	}
	r.head.commit, err = r.followRef("HEAD", text)
	return err
}

// followRef is the object that what a reference holds leads to, empty if that is
// a branch without a commit.
func (r *Repository) followRef(from, text string) (string, error) {
	for range maxRefDepth {
		name, ok := strings.CutPrefix(text, "ref:")
		if !ok {
			if !objectName.MatchString(text) {
				return "", fmt.Errorf("%s leads to something that is no name of a commit", from)
			}
			return text, nil
		}
		var err error
		if text, err = r.ref(strings.TrimSpace(name)); err != nil || text == "" {
			return "", err
		}
	}
	return "", fmt.Errorf("%s leads through more than %d references", from, maxRefDepth)
}

// ref is what a reference holds, empty if there is none.
func (r *Repository) ref(name string) (string, error) {
	if !refName(name) {
		return "", fmt.Errorf("%q is no name of a reference", name)
	}
	b, _, err := slurp(r.common, name, maxSmall)
	if err == nil {
		return strings.TrimSpace(string(b)), nil
	}
	if info, serr := r.common.Lstat(name); serr == nil && !info.IsDir() {
		return "", err // it is there, and is not what it should be
	}
	found := ""
	err = r.packed(func(id, ref string) {
		if ref == name {
			found = id
		}
	})
	return found, err
}

// packed goes over the list of references that have no file of their own.
func (r *Repository) packed(yield func(id, name string)) error {
	b, err := optional(r.common, "packed-refs", maxRefs)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(b) {
		id, name, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
		if ok && objectName.MatchString(id) && refName(name) {
			yield(id, name)
		}
	}
	return nil
}

const maxTags = 50_000

// tags are the references below refs/tags, each with the object that it names.
func (r *Repository) tags() (map[string]string, error) {
	out := map[string]string{}
	err := r.packed(func(id, name string) {
		if strings.HasPrefix(name, "refs/tags/") && len(out) < maxTags {
			out[name] = id
		}
	})
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(r.common.FS(), "refs/tags", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !refName(file) {
			return err
		}
		if len(out) > maxTags {
			return fmt.Errorf("it has more than %d tags", maxTags)
		}
		b, _, err := slurp(r.common, file, maxSmall)
		if id := strings.TrimSpace(string(b)); err == nil && objectName.MatchString(id) {
			out[file] = id
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return out, err
}

// refName holds to git's own rules, a little stricter.
func refName(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > 4096 || path.Clean(name) != name ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return strings.IndexFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) }) < 0
}
