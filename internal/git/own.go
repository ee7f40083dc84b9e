package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"conclave/internal/ownpath"
)

// SigningKey is the file of the SSH key that git signs with, by the person's own
// configuration alone: no repository is asked, and no file of the workspace is
// taken.
func SigningKey(ctx context.Context, workspace string, getenv func(string) string) (string, error) {
	program, dirs, err := ownpath.Find("git", workspace)
	if err != nil {
		return "", err
	}
	env := []string{"PATH=" + strings.Join(dirs, string(os.PathListSeparator)), "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_DIR=" + os.DevNull}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT"} {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	ask := func(args ...string) string {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, append([]string{"config", "--global", "--includes"}, args...)...)
		cmd.Env, cmd.Dir = env, filepath.VolumeName(program)+string(filepath.Separator)
		out, err := cmd.Output()
		if err != nil {
			return "" // it is not set
		}
		return strings.TrimRight(string(out), "\r\n")
	}
	if format := ask("--get", "gpg.format"); format != "ssh" {
		return "", errors.New("your git does not sign with SSH keys (gpg.format is not ssh)")
	}
	key := ask("--type=path", "--get", "user.signingkey")
	switch {
	case key == "":
		return "", errors.New("your git has no user.signingkey")
	case !filepath.IsAbs(key):
		return "", fmt.Errorf("your git's user.signingkey %q is no absolute path of a key's file", key)
	}
	return key, nil
}
