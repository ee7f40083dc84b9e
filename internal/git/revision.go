package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Range is a change between two commits.
type Range struct {
	Named string // what was named as BASE
	Base  string // what the change begins with: the same, or the merge base
	Head  string
}

var (
	// revision is all that is understood of git's language for commits.
	revision = regexp.MustCompile(`^([^~^]+)((?:[~^][0-9]{0,6})*)$`)
	step     = regexp.MustCompile(`[~^][0-9]*`)
	shortID  = regexp.MustCompile(`^[0-9a-f]{4,64}$`)
	hexOnly  = regexp.MustCompile(`^[0-9a-fA-F]+$`)
)

// Range reads BASE..HEAD, BASE...HEAD (from where both came apart) and BASE,
// which is BASE..HEAD with the commit that is checked out.
func (o *Objects) Range(ctx context.Context, text string) (Range, error) {
	base, head, dots := text, "HEAD", ""
	if i := strings.Index(text, ".."); i >= 0 {
		dots = "..."
		if !strings.HasPrefix(text[i:], dots) {
			dots = ".."
		}
		base, head = text[:i], text[i+len(dots):]
	}
	if base == "" || strings.Contains(head, "..") {
		return Range{}, fmt.Errorf("%q is no change: write BASE..HEAD, BASE...HEAD or BASE", text)
	}
	if head == "" {
		head = "HEAD"
	}
	var r Range
	var err error
	if r.Named, err = o.Commit(ctx, base); err != nil {
		return Range{}, err
	}
	if r.Head, err = o.Commit(ctx, head); err != nil {
		return Range{}, err
	}
	r.Base = r.Named
	if dots == "..." {
		r.Base, err = o.mergeBase(ctx, r.Named, r.Head)
	}
	return r, err
}

func (o *Objects) mergeBase(ctx context.Context, a, b string) (string, error) {
	out, err := o.r.askQuietly(ctx, "merge-base", a, b)
	switch {
	case err != nil:
		return "", o.hint(err)
	case out == "":
		return "", o.hint(fmt.Errorf("%s and %s have no commit in common", short(a), short(b)))
	case !objectName.MatchString(out):
		return "", fmt.Errorf("git merge-base answered %q", firstLine(out))
	}
	return out, nil
}

// Commit is the full name of the commit that a revision means: a branch, a tag, a
// branch of a remote, HEAD or the name of a commit, with ~ and ^ behind it. A
// name that means several is refused, and so is all else that git understands.
func (o *Objects) Commit(ctx context.Context, rev string) (string, error) {
	m := revision.FindStringSubmatch(rev)
	if m == nil || strings.HasPrefix(rev, "-") {
		return "", notPlain(rev)
	}
	id, err := o.named(ctx, m[1])
	if err != nil {
		return "", err
	}
	if id, err = o.peel(id); err != nil {
		return "", fmt.Errorf("%s: %w", rev, o.hint(err))
	}
	for _, s := range step.FindAllString(m[2], -1) {
		n := 1
		if len(s) > 1 {
			n, _ = strconv.Atoi(s[1:]) // six digits at most
		}
		if id, err = o.step(ctx, id, s[0], n); err != nil {
			return "", fmt.Errorf("%s: %w", rev, o.hint(err))
		}
	}
	return id, nil
}

func notPlain(rev string) error {
	return fmt.Errorf("%q is no plain name of a commit: give a branch, a tag, HEAD or the name of a commit, "+
		"with ~N and ^N behind it", rev)
}

// hint says how a clone that ends early gets what is missing.
func (o *Objects) hint(err error) error {
	if !o.r.shallow {
		return err
	}
	return fmt.Errorf("%w; this clone is shallow and ends early: fetch more of it (git fetch --unshallow, "+
		"or git fetch --depth=N; in GitHub Actions checkout with fetch-depth: 0; in GitLab GIT_DEPTH: 0)", err)
}

// named is the object that a name without ~ and ^ means.
func (o *Objects) named(ctx context.Context, name string) (string, error) {
	if name == "HEAD" {
		if o.r.head.commit == "" {
			return "", errors.New("HEAD: there is no commit yet")
		}
		return o.r.head.commit, nil
	}
	if objectName.MatchString(name) { // in full: nothing else can be meant
		return name, nil
	}
	if !refName("refs/heads/" + name) {
		return "", notPlain(name)
	}
	found := map[string]string{} // what it may mean, to the object
	for _, full := range meanings(name) {
		id, err := o.r.refID(ctx, full)
		if err != nil {
			return "", err
		}
		if id != "" {
			found[full] = id
		}
	}
	if low := strings.ToLower(name); shortID.MatchString(low) {
		ids, err := o.abbreviated(ctx, low)
		if err != nil {
			return "", err
		}
		for _, id := range ids {
			found["commit "+id] = id
		}
	}
	return o.only(name, found)
}

// meanings are the references that a name may stand for.
func meanings(name string) []string {
	if strings.HasPrefix(name, "refs/") {
		return []string{name}
	}
	return []string{"refs/heads/" + name, "refs/tags/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"}
}

// only is the one object that was found.
func (o *Objects) only(name string, found map[string]string) (string, error) {
	var names, ids []string
	for what, id := range found {
		names = append(names, what)
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(names)
	switch {
	case len(ids) == 1:
		return ids[0], nil
	case len(ids) > 1:
		list := strings.Join(names[:min(len(names), 8)], ", ")
		return "", fmt.Errorf("%q means several: %s; write one of them in full", name, list)
	case hexOnly.MatchString(name):
		return "", o.hint(fmt.Errorf("%s: no commit, branch or tag has this name here", name))
	}
	return "", o.hint(fmt.Errorf("%s: no branch, tag or branch of a remote has this name here", name))
}

// abbreviated are the commits and tags whose names begin so.
func (o *Objects) abbreviated(ctx context.Context, begin string) ([]string, error) {
	out, err := o.r.ask(ctx, maxSmall, "rev-parse", "--disambiguate="+begin)
	if err != nil {
		return nil, err
	}
	var ids []string
	for id := range strings.FieldsSeq(string(out)) {
		kind, size, err := o.header(id)
		if err != nil {
			return nil, err
		}
		if err := o.skip(size); err != nil {
			return nil, err
		}
		if kind == "commit" || kind == "tag" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// refID is the object that a reference leads to, empty if there is none.
func (r *Repository) refID(ctx context.Context, name string) (string, error) {
	if r.settings.reftable {
		return r.askQuietly(ctx, "rev-parse", "--quiet", "--verify", name)
	}
	text, err := r.ref(name)
	if err != nil || text == "" {
		return "", err
	}
	return r.followRef(name, text)
}

// peel follows tags to a commit.
func (o *Objects) peel(id string) (string, error) {
	for range maxRefDepth {
		kind, size, err := o.header(id)
		if err != nil {
			return "", fmt.Errorf("commit %s: %w", short(id), err)
		}
		if err := o.skip(size); err != nil {
			return "", err
		}
		switch kind {
		case "commit":
			return id, nil
		case "tag":
			if id, err = o.field(id, "tag", "object"); err != nil {
				return "", err
			}
		default:
			return "", fmt.Errorf("%s is a %s and no commit", short(id), kind)
		}
	}
	return "", fmt.Errorf("a tag that leads through more than %d others", maxRefDepth)
}

// step goes n commits back by first parents (~), or to the nth parent (^).
func (o *Objects) step(ctx context.Context, id string, how byte, n int) (string, error) {
	nth := 1
	if how == '^' {
		nth, n = n, min(n, 1)
	}
	for range n {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		parents, err := o.fields(id, "commit", "parent")
		if err != nil {
			return "", err
		}
		if nth > len(parents) {
			return "", fmt.Errorf("%s has no parent %d", short(id), nth)
		}
		if id, err = o.peel(parents[nth-1]); err != nil {
			return "", err
		}
	}
	return id, nil
}

// fields are the objects that the head of a commit or of a tag names so.
func (o *Objects) fields(id, kind, name string) ([]string, error) {
	data, err := o.whole(id, kind, maxCommitObject)
	if err != nil {
		return nil, err
	}
	head, _, _ := strings.Cut(string(data), "\n\n")
	var ids []string
	for line := range strings.Lines(head) {
		if to, ok := strings.CutPrefix(line, name+" "); ok {
			ids = append(ids, strings.TrimSuffix(to, "\n"))
		}
	}
	return ids, nil
}

// field is the only one.
func (o *Objects) field(id, kind, name string) (string, error) {
	ids, err := o.fields(id, kind, name)
	if err == nil && (len(ids) != 1 || !objectName.MatchString(ids[0])) {
		err = fmt.Errorf("%s %s is damaged: it names no %s", kind, short(id), name)
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

func short(id string) string { return id[:min(len(id), 12)] }
