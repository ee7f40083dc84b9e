package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// tableName is how git names the files of a reftable.
var tableName = regexp.MustCompile(`^0x[0-9a-f]{12,16}-0x[0-9a-f]{12,16}-[0-9a-f]{8}\.(ref|log)$`)

const maxTables = 1000

// resolveTables follows HEAD where references are kept in a reftable: git reads
// a copy of it. One that is too old for that says so.
func (r *Repository) resolveTables(ctx context.Context) error {
	if r.own != r.common {
		return errors.New("it is a linked work tree whose references are kept in a reftable, which is not read here")
	}
	if err := r.copyTables(); err != nil {
		return err
	}
	if err := errors.Join(r.write("HEAD", "ref: refs/heads/.invalid\n"), r.write("config", configText(r.settings))); err != nil {
		return err
	}
	branch, err := r.askQuietly(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(branch, "refs/heads/"); ok && refName(branch) {
		r.head.branch = name
	}
	r.head.commit, err = r.askQuietly(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
	if err == nil && r.head.commit != "" && !objectName.MatchString(r.head.commit) {
		err = errors.New("HEAD leads to something that is no name of a commit")
	}
	return err
}

// askQuietly takes the status 1 for an empty answer.
func (r *Repository) askQuietly(ctx context.Context, args ...string) (string, error) {
	out, err := r.ask(ctx, maxSmall, args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

func (r *Repository) copyTables() error {
	list, _, err := slurp(r.common, "reftable/tables.list", maxSmall)
	if err != nil {
		return err
	}
	names := strings.Fields(string(list))
	if len(names) > maxTables {
		return fmt.Errorf("its reftable has more than %d files", maxTables)
	}
	if err := os.Mkdir(filepath.Join(r.private, "reftable"), 0o700); err != nil {
		return err
	}
	left := int64(maxRefs)
	for _, name := range names {
		if !tableName.MatchString(name) {
			return fmt.Errorf("its reftable names a file %q, which is none of its own", name)
		}
		b, _, err := slurp(r.common, "reftable/"+name, left)
		if err != nil {
			return err
		}
		left -= int64(len(b))
		if err := r.write("reftable/"+name, string(b)); err != nil {
			return err
		}
	}
	return r.write("reftable/tables.list", string(list))
}
