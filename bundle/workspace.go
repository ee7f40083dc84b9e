package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/policy"
	"conclave/workspace"
)

// neverTaken are directories that are no work: they are private, or made by
// programs.
var neverTaken = []string{".conclave", ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".ssh",
	".aws", ".gnupg", ".claude", ".codex"}

// workspace writes the files of the workspace below filesystem/, as long as
// they fit. Links are not followed: os.Root sees to it that nothing outside is
// read, whatever is exchanged meanwhile.
func (w *writer) workspace() error {
	root, err := os.OpenRoot(w.o.Workspace)
	if err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	info := &filesystemInfo{}
	w.manifest.Filesystem = info
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			w.skip(info, name, "cannot be read")
			return nil
		}
		if d.IsDir() {
			if slices.Contains(neverTaken, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		return w.take(root, info, name, d)
	})
	return err
}

// skip notes that a file was left out, with the first few by name.
func (w *writer) skip(info *filesystemInfo, name, why string) {
	info.LeftOut++
	if len(info.Examples) < 20 && utf8.ValidString(name) {
		info.Examples = append(info.Examples, string(w.cleaned(manifestFile, []byte(name)))+": "+why)
	}
}

// take writes one file. The walk is in lexical order, so that what fits is
// always the same.
func (w *writer) take(root *os.Root, info *filesystemInfo, name string, d fs.DirEntry) error {
	switch {
	case !d.Type().IsRegular():
		w.skip(info, name, "is no regular file")
		return nil
	case strings.HasPrefix(path.Base(name), tempPrefix):
		w.skip(info, name, "is a bundle that is not ready")
		return nil
	case checkName(path.Join(Root, "filesystem", name)) != "":
		w.skip(info, name, "has a name that a bundle cannot hold")
		return nil
	case w.redactor != nil && policy.MayBeCredential(name):
		w.skip(info, name, "is there to hold secrets")
		return nil
	case w.redactor != nil && w.redactor.Has([]byte(name)):
		w.skip(info, name, "has a secret in its name")
		return nil
	}
	text, err := workspace.ReadFile(root, name, w.o.maxFile)
	refused, large := (*workspace.Refused)(nil), (*workspace.SizeError)(nil)
	switch {
	case errors.As(err, &large):
		w.manifest.Capture.Limits["filesystem_truncated"] = true
		w.skip(info, name, "is larger than a file may be")
		return nil
	case errors.As(err, &refused):
		w.skip(info, name, refused.Reason)
		return nil
	case err != nil:
		w.skip(info, name, "cannot be read")
		return nil
	case info.Bytes+int64(len(text)) > w.o.maxAll:
		w.manifest.Capture.Limits["filesystem_truncated"] = true
		w.skip(info, name, "does not fit any more")
		return nil
	}
	info.Files++
	info.Bytes += int64(len(text))
	return w.add("filesystem/"+name, text)
}

// checkName says what is wrong with the name of a file in a bundle; "" is
// nothing.
func checkName(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "its name is no UTF-8"
	case len(name) > 1024:
		return "its name is over 1024 bytes long"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "its name holds control characters"
	case strings.ContainsAny(name, "\\:"):
		return "its name holds a backslash or a colon"
	case !strings.HasPrefix(name, Root+"/"):
		return "it is outside of " + Root + "/"
	case !fs.ValidPath(strings.TrimSuffix(name, "/")):
		return "its name leads elsewhere"
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
		if strings.TrimRight(part, ". ") != part {
			return "its name ends in a dot or a space, which some systems drop"
		}
	}
	return ""
}
