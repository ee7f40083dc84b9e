package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/ownpath"
)

// ErrNone says that a workspace is in no repository.
var ErrNone = errors.New("the workspace is in no git repository")

// Repository is what git can be asked about a workspace. It is a snapshot: the
// commit and the index are those of when it was opened.
type Repository struct {
	workspace string // as an absolute path
	top       string // the directory that holds .git
	private   string // what git takes for its own directory
	program   string
	path      []string // of the program
	until     time.Time

	own    *os.Root // the repository's directory; of a linked work tree, its part
	common *os.Root // what all work trees share; often the same

	files    bool // what lookAtFiles puts in is there
	shallow  bool // some commits lack their parents
	head     head
	settings settings
}

// Open finds the repository of a workspace and makes ready to ask about it. It
// must be closed. An error other than ErrNone says why it cannot be asked.
func Open(ctx context.Context, workspace string) (*Repository, error) {
	r, err := open(ctx, workspace)
	if err != nil && !errors.Is(err, ErrNone) {
		err = fmt.Errorf("read the git repository: %w", err)
	}
	return r, err
}

func open(ctx context.Context, workspace string) (*Repository, error) {
	workspace, err := filepath.Abs(workspace)
	if err != nil {
		return nil, err
	}
	r := &Repository{workspace: workspace, until: time.Now().Add(patience)}
	if r.top, err = locate(workspace); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{r.enter, r.prepare, r.configure, r.resolve, r.furnish} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// TopOf is the top of the repository that a directory is in, "" where it is in
// none. Nobody is asked, and nothing of it is read.
func TopOf(dir string) string {
	top, _ := locate(dir) // without one there is no top
	return top
}

// Close removes what Open made.
func (r *Repository) Close() error {
	var err error
	if r.common != nil && r.common != r.own {
		err = r.common.Close()
	}
	if r.own != nil {
		err = errors.Join(err, r.own.Close())
	}
	if r.private != "" {
		err = errors.Join(err, os.RemoveAll(r.private))
	}
	return err
}

// Top is the directory that the repository is of: the workspace, or one above.
func (r *Repository) Top() string { return r.top }

// locate walks up to the directory that holds .git. It stops where a directory
// belongs to somebody else than the workspace: who can write to /tmp does not
// say what a workspace below it is.
func locate(workspace string) (string, error) {
	first, err := os.Stat(workspace)
	if err != nil {
		return "", err
	}
	for dir := workspace; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || owner(info) != owner(first) || dir != workspace && info.Mode()&fs.ModeSticky != 0 {
			return "", ErrNone
		}
		if dot, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && isRepository(dir, dot) {
			return dir, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if filepath.Dir(dir) == dir {
			return "", ErrNone
		}
	}
}

// isRepository passes over an empty directory of that name, as git does.
func isRepository(dir string, dot fs.FileInfo) bool {
	if !dot.IsDir() {
		return true
	}
	_, err := os.Lstat(filepath.Join(dir, ".git", "HEAD"))
	return err == nil
}

// enter opens the directories of the repository.
func (r *Repository) enter(context.Context) error {
	dot := filepath.Join(r.top, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		if r.own, err = os.OpenRoot(dot); err != nil {
			return err
		}
		r.common = r.own
		if _, err := r.own.Lstat("commondir"); err == nil {
			return fmt.Errorf("%s names another repository as its own (commondir)", dot)
		}
	case info.Mode().IsRegular():
		err = r.follow(dot)
	default:
		err = fmt.Errorf("%s is a link or no file: it could show another repository", dot)
	}
	if err != nil {
		return err
	}
	return checkObjects(r.common)
}

// follow takes up a work tree whose .git is a file that says where the
// repository is, if that says where the work tree is.
func (r *Repository) follow(dot string) error {
	to, err := pointer(r.top, ".git", "gitdir: ")
	if err != nil {
		return err
	}
	if r.own, err = os.OpenRoot(to); err != nil {
		return err
	}
	r.common = r.own
	if _, err := r.own.Lstat("commondir"); errors.Is(err, fs.ErrNotExist) {
		return nil // a submodule: configure holds its core.worktree against the top
	}
	back, err := pointer(to, "gitdir", "")
	if err != nil {
		return err
	}
	if ownpath.Resolved(back) != ownpath.Resolved(dot) {
		return r.leadsAway(to)
	}
	common, err := pointer(to, "commondir", "")
	if err != nil {
		return err
	}
	if ownpath.Resolved(filepath.Dir(to)) != ownpath.Resolved(filepath.Join(common, "worktrees")) {
		return r.leadsAway(to)
	}
	r.common, err = os.OpenRoot(common)
	if err != nil {
		r.common = r.own
	}
	return err
}

func (r *Repository) leadsAway(to string) error {
	return fmt.Errorf("%s leads to %s, which does not lead back: it could show another repository", filepath.Join(r.top, ".git"), to)
}

// pointer reads the path that a file in a directory holds.
func pointer(dir, name, prefix string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	b, _, err := slurp(root, name, maxSmall)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), prefix)
	if !ok || path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", fmt.Errorf("%s holds no path", filepath.Join(dir, name))
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, filepath.FromSlash(path))
	}
	return filepath.Clean(path), nil
}
