package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/ownpath"
)

// prepare makes the private directory, as far as git needs one to read a file.
func (r *Repository) prepare(context.Context) error {
	var err error
	if r.program, r.path, err = ownpath.Find("git", r.top); err != nil {
		return err
	}
	if r.private, err = os.MkdirTemp("", "conclave-git-"); err != nil {
		return err
	}
	for _, dir := range []string{"refs", "objects", "info"} {
		if err := os.Mkdir(filepath.Join(r.private, dir), 0o700); err != nil {
			return err
		}
	}
	return errors.Join(r.write("HEAD", "ref: refs/heads/none\n"), r.write("config", configText(settings{format: "sha1"})))
}

func (r *Repository) write(name, text string) error {
	return os.WriteFile(filepath.Join(r.private, name), []byte(text), 0o600)
}

// configText is the whole configuration that git reads.
func configText(s settings) string {
	var b strings.Builder
	b.WriteString("[core]\n\tbare = false\n\trepositoryformatversion = ")
	if s.format == "sha1" && !s.reftable {
		b.WriteString("0\n")
	} else {
		fmt.Fprintf(&b, "1\n[extensions]\n\tobjectFormat = %s\n", s.format)
	}
	if s.reftable {
		b.WriteString("[extensions]\n\trefStorage = reftable\n")
	}
	for _, kv := range s.taken {
		fmt.Fprintf(&b, "[core]\n\t%s = %s\n", strings.TrimPrefix(kv[0], "core."), kv[1])
	}
	return b.String()
}

// furnish puts in what every question needs: the commit, and where it ends.
func (r *Repository) furnish(context.Context) error {
	if r.head.commit != "" && !r.settings.reftable {
		if err := r.write("HEAD", r.head.commit+"\n"); err != nil {
			return err
		}
	}
	return errors.Join(r.write("config", configText(r.settings)), r.copyShallow())
}

// lookAtFiles puts in what the questions about files need, once.
func (r *Repository) lookAtFiles() error {
	if r.files {
		return nil
	}
	err := errors.Join(r.copyLists(), r.copyIndex())
	r.files = err == nil
	return err
}

// copyShallow takes over where a shallow clone ends: its parents are missing.
func (r *Repository) copyShallow() error {
	b, err := optional(r.common, "shallow", maxText)
	if err != nil || len(b) == 0 {
		return err
	}
	for line := range strings.Lines(string(b)) {
		if !objectName.MatchString(strings.TrimSpace(line)) {
			return errors.New("its list of shallow commits holds something that is no name of a commit")
		}
	}
	r.shallow = true
	return r.write("shallow", string(b))
}

// copyLists takes over the patterns of ignored and of absent files.
func (r *Repository) copyLists() error {
	excluded, err := optional(r.common, "info/exclude", maxText)
	if err != nil {
		return err
	}
	sparse, err := optional(r.own, "info/sparse-checkout", maxText)
	if err != nil {
		return err
	}
	return errors.Join(r.write("info/exclude", string(excluded)), r.write("info/sparse-checkout", string(sparse)))
}

// copyIndex takes over the index, and the one that it may be split from, each
// with its time: git tells by it which entries are too young to be believed.
func (r *Repository) copyIndex() error {
	names := []string{"index"}
	entries, err := fs.ReadDir(r.own.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "sharedindex.") && len(names) < 16 {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		b, when, err := slurp(r.own, name, maxIndex)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := r.write(name, string(b)); err != nil {
			return err
		}
		if err := os.Chtimes(filepath.Join(r.private, name), when, when); err != nil {
			return err
		}
	}
	return nil
}

// writeTags lists the tags where git looks for references.
func (r *Repository) writeTags(tags map[string]string) error {
	var list strings.Builder
	list.WriteString("# pack-refs with: sorted \n")
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		list.WriteString(tags[name] + " " + name + "\n")
	}
	return r.write("packed-refs", list.String())
}
