package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/git"
	"conclave/policy"
	"conclave/quest"
	"conclave/workspace"
)

// tree is what a commit holds of the workspace.
type tree struct {
	objects *git.Objects
	commit  string
	entries []git.Entry
	byPath  map[string]git.Entry
}

func treeOf(objects *git.Objects, commit string) (tree, error) {
	entries, err := objects.Tree(commit)
	t := tree{objects: objects, commit: commit, entries: entries, byPath: map[string]git.Entry{}}
	for _, e := range entries {
		t.byPath[e.Path] = e
	}
	return t, err
}

// read reads a file of the commit.
func (t tree) read(name string, most int64) ([]byte, error) {
	e, there := t.byPath[name]
	switch {
	case !there:
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case e.Mode != git.Plain && e.Mode != git.Executable:
		return nil, fmt.Errorf("%s: at %.12s it is no file of the repository but leads elsewhere", name, t.commit)
	}
	var b bytes.Buffer
	if n, err := t.objects.Blob(e.ID, most, &b); n > most {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read; make it smaller", name, n, most)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b.Bytes(), nil
}

// changed are the paths that two commits do not have in common.
func (t tree) changed(to tree) []string {
	var out []string
	for p, e := range t.byPath {
		if to.byPath[p] != e {
			out = append(out, p)
		}
	}
	for p := range to.byPath {
		if _, there := t.byPath[p]; !there {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// change is a case of two commits, under way.
type change struct {
	ask               Ask
	o                 *Opened
	named, base, head tree // named is what was called BASE
	known             tree // at the commit of Ask.Base, for somebody Inside
	touched           []string
	names             []string // of the work
}

// openChange makes a case of a commit and of what it changes. All of it is read
// from the repository's objects; the files of the workspace do not count.
func openChange(ctx context.Context, ask Ask, o *Opened) error {
	repo, err := git.Open(ctx, ask.Root)
	if err != nil {
		return err
	}
	defer repo.Close()
	objects, err := repo.Objects(ctx)
	if err != nil {
		return err
	}
	defer objects.Close()
	c := &change{ask: ask, o: o}
	if err := c.read(ctx, objects); err != nil {
		return err
	}
	if o.dir, err = os.MkdirTemp("", "conclave-gate-"); err != nil {
		return err
	}
	for _, step := range []func() error{c.criteria, c.govern, c.work, c.show} {
		if err := errors.Join(ctx.Err(), step()); err != nil {
			return err
		}
	}
	return nil
}

// read reads the three trees.
func (c *change) read(ctx context.Context, objects *git.Objects) error {
	r, err := objects.Range(ctx, c.ask.Diff)
	if err != nil {
		return err
	}
	if c.base, err = treeOf(objects, r.Base); err != nil {
		return err
	}
	if c.named = c.base; r.Named != r.Base {
		if c.named, err = treeOf(objects, r.Named); err != nil {
			return err
		}
	}
	if c.head, err = treeOf(objects, r.Head); err != nil {
		return err
	}
	if c.ask.Inside && c.ask.Base != "" {
		commit, err := objects.Commit(ctx, c.ask.Base)
		if err != nil {
			return err
		}
		if c.known, err = treeOf(objects, commit); err != nil {
			return err
		}
	}
	c.touched = c.base.changed(c.head)
	c.o.Commit, c.o.Case.Work.Base, c.o.Case.Work.Head = r.Named, r.Base, r.Head
	for _, name := range c.ask.Work {
		rel, local := inside(c.ask.Root, name)
		if !local {
			return fmt.Errorf("%q is outside of the workspace", name)
		}
		c.names = append(c.names, rel)
	}
	if len(c.names) == 0 {
		c.names = []string{"."}
	}
	return nil
}

// criteria are read from BASE, or are the caller's.
func (c *change) criteria() error {
	if c.ask.Role != policy.Dragon {
		return nil
	}
	if c.ask.Criteria == "" {
		return c.o.questCriteria(c.named.read, c.named.commit)
	}
	name, local := inside(c.ask.Root, c.ask.Criteria)
	if c.ask.Words || !mayBeFile(c.ask.Criteria) || !local {
		return c.o.callersCriteria(c.ask)
	}
	if _, there := c.named.byPath[name]; there {
		text, err := c.named.read(name, workspace.MaxText)
		if err != nil {
			return fmt.Errorf("read the criteria: %w", err)
		}
		if !c.counts(name, text) {
			return c.o.take(Criteria{Origin: OfCaller, File: name}, name, text)
		}
		return c.o.take(Criteria{Origin: Committed, File: name, Commit: c.named.commit}, name, text)
	}
	if _, there := c.head.byPath[name]; there {
		return &TouchedError{Paths: []string{name}, Base: c.named.commit}
	}
	return c.callersFile(name)
}

// counts says whether criteria count as committed: for somebody who could commit
// them first and name that commit as BASE, only as they stood at a commit that
// somebody else has said.
func (c *change) counts(name string, text []byte) bool {
	if !c.ask.Inside {
		return true
	}
	data, err := c.known.read(name, workspace.MaxText)
	return err == nil && bytes.Equal(data, text)
}

// callersFile is a file of the workspace that no commit has, or words.
func (c *change) callersFile(name string) error {
	dir, err := workspace.Open(c.ask.Root)
	if err != nil {
		return err
	}
	defer dir.Close()
	text, err := dir.Read(name, workspace.MaxText)
	switch {
	case err == nil:
		return c.o.take(Criteria{Origin: OfCaller, File: name}, name, text)
	case errors.Is(err, fs.ErrNotExist):
		return c.o.callersCriteria(c.ask)
	}
	return fmt.Errorf("read the criteria: %w", err)
}

// govern takes what judges from BASE, and refuses a change to it.
func (c *change) govern() error {
	var list []Governed
	if c.ask.Governing != nil {
		list = c.ask.Governing(c.named.read)
	}
	all := c.o.governed(list)
	if err := untouched(all, c.touched, c.named.commit); err != nil {
		return err
	}
	entries, err := c.named.governing(all)
	if err != nil {
		return err
	}
	_, err = c.extract("judging", c.named, entries)
	c.o.Judging = filepath.Join(c.o.dir, "judging")
	return err
}

// extract writes entries of a commit below the private directory.
func (c *change) extract(name string, from tree, entries []git.Entry) ([]git.Skipped, error) {
	dir := filepath.Join(c.o.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	files, size := quest.WorkLimits()
	return from.objects.Extract(dir, entries, git.Limits{Files: files, Bytes: size})
}

// work takes the files of HEAD.
func (c *change) work() error {
	var entries []git.Entry
	for _, e := range c.head.entries {
		if c.mayBeNamed(e.Path) {
			entries = append(entries, e)
		}
	}
	skipped, err := c.extract("work", c.head, entries)
	if err != nil {
		return fmt.Errorf("take the work from %.12s: %w", c.head.commit, err)
	}
	if c.o.Work, err = quest.OpenTree(filepath.Join(c.o.dir, "work"), c.names, c.ask.Granted...); err != nil {
		return err
	}
	for _, s := range skipped {
		c.leave(s.Path, s.Reason)
	}
	return nil
}

// mayBeNamed says whether a path is below one of the names, or could be what a
// glob means.
func (c *change) mayBeNamed(p string) bool {
	for _, name := range c.names {
		fixed := name
		if i := strings.IndexAny(name, "*?["); i >= 0 {
			fixed = name[:strings.LastIndexByte(name[:i], '/')+1]
		}
		fixed = strings.TrimSuffix(fixed, "/")
		if fixed == "" || fixed == "." || p == name || p == fixed ||
			strings.HasPrefix(p, fixed+"/") || strings.HasPrefix(p, name+"/") {
			return true
		}
	}
	return false
}

func (c *change) leave(path, reason string) {
	list := &c.o.Case.Work.LeftOut
	if !slices.ContainsFunc(*list, func(l LeftOut) bool { return l.Path == path }) {
		*list = append(*list, LeftOut{Path: path, Reason: reason})
	}
}

// show makes the text of the change. It shows of a file what it was before only
// if that could have been work itself: what is withheld now was withheld then.
func (c *change) show() error {
	past, err := c.past()
	if err != nil {
		return err
	}
	now := map[string]bool{}
	for _, f := range c.o.Work.Files {
		now[f.Path] = true
	}
	var shown []string
	for _, p := range c.touched {
		_, was := c.base.byPath[p]
		_, is := c.head.byPath[p]
		if (!was || past[p]) && (!is || now[p]) {
			shown = append(shown, p)
		}
	}
	c.o.Change, err = c.text(shown)
	return err
}

// past are the files of BASE that changed and could be work.
func (c *change) past() (map[string]bool, error) {
	var entries []git.Entry
	for _, p := range c.touched {
		e, was := c.base.byPath[p]
		if !was || e.Mode == git.Submodule || !c.mayBeNamed(p) {
			continue
		}
		if e.Mode == git.Link {
			e.Mode = git.Plain // where it leads is a text, and nobody follows it
		}
		entries = append(entries, e)
	}
	skipped, err := c.extract("past", c.base, entries)
	if err != nil {
		return nil, fmt.Errorf("take what changed from %.12s: %w", c.base.commit, err)
	}
	w, err := quest.OpenPast(filepath.Join(c.o.dir, "past"), c.names, c.ask.Granted...)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	out := map[string]bool{}
	for _, f := range w.Files {
		out[f.Path] = true
	}
	before := map[string]string{}
	for _, s := range skipped {
		before[s.Path] = s.Reason
	}
	for _, l := range w.LeftOut {
		before[l.Path] = l.Reason
	}
	for _, l := range c.o.Work.LeftOut {
		delete(before, l.Path) // said already
	}
	for _, p := range slices.Sorted(maps.Keys(before)) {
		c.leave(p, "as it was before the change: "+before[p])
	}
	return out, nil
}
