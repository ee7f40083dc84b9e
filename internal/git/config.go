package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/ownpath"
)

// settings are what is known of a repository's configuration.
type settings struct {
	taken    [][2]string       // over into ours, in order
	remotes  map[string]string // name to address
	format   string            // of object names
	reftable bool              // that is how references are kept
	worktree string
}

// takenOver are the settings that say how files lie on this disk, with the
// values that they may have. None names a program or a path.
var takenOver = map[string][]string{
	"core.filemode": truths, "core.symlinks": truths, "core.ignorecase": truths, "core.precomposeunicode": truths,
	"core.trustctime": truths, "core.checkstat": {"default", "minimal"}, "core.autocrlf": append([]string{"input"}, truths...),
	"core.eol": {"lf", "crlf", "native"}, "core.sparsecheckout": truths, "core.sparsecheckoutcone": truths,
}

var truths = []string{"true", "false", "yes", "no", "on", "off", "1", "0"}

// configure reads the repository's configuration as text: git takes it apart,
// and obeys none of it.
func (r *Repository) configure(ctx context.Context) error {
	text, err := optional(r.common, "config", maxText)
	if err != nil {
		return err
	}
	copied := filepath.Join(r.private, "theirs")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		return err
	}
	out, err := r.ask(ctx, maxText, "config", "--file", copied, "--no-includes", "--null", "--list")
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.common.Name(), "config"), err)
	}
	r.settings = settings{remotes: map[string]string{}, format: "sha1"}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if err := r.settings.add(key, value); err != nil {
			return err
		}
	}
	return r.checkSubmodule()
}

func (s *settings) add(key, value string) error {
	low := strings.ToLower(value)
	switch {
	case slices.Contains(takenOver[key], low):
		s.taken = append(s.taken, [2]string{key, low})
	case key == "core.worktree":
		s.worktree = value
	case key == "extensions.objectformat":
		if low != "sha1" && low != "sha256" {
			return fmt.Errorf("its object format %q is not known", value)
		}
		s.format = low
	case key == "extensions.refstorage":
		if low != "files" && low != "reftable" {
			return fmt.Errorf("its references are kept in a way that is not known (extensions.refStorage = %q)", value)
		}
		s.reftable = low == "reftable"
	case strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".url"):
		if name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url"); s.remotes[name] == "" {
			s.remotes[name] = value
		}
	}
	return nil
}

// checkSubmodule holds the way back of a repository that a file .git led to: a
// linked work tree has its own, a submodule names its work tree.
func (r *Repository) checkSubmodule() error {
	to := r.own.Name()
	if r.own != r.common || to == filepath.Join(r.top, ".git") {
		return nil
	}
	back := filepath.FromSlash(r.settings.worktree)
	if !filepath.IsAbs(back) {
		back = filepath.Join(to, back)
	}
	if r.settings.worktree == "" || ownpath.Resolved(back) != ownpath.Resolved(r.top) {
		return r.leadsAway(to)
	}
	return nil
}
