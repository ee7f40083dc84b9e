package room

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Rule says why a path of a view or of a granted directory stays outside; an
// empty answer shows it. The path is slash-separated and relative to the root
// of that directory. Dir is set for a directory, whose answer holds for
// everything below it; a symbolic link is asked for by its own name, and open
// reads what it leads to inside the directory. A rule that needs the content
// and cannot read it must withhold.
//
// Which names those are is not this package's business: it is handed the rule,
// and sees to it that no link, no second name and no race shows what the rule
// withholds.
type Rule func(rel string, dir bool, open func() (io.ReadCloser, error)) string

// errNoRule refuses a directory without a rule: nothing is shown because
// nobody thought of it.
var errNoRule = errors.New("no rule says what stays outside")

// ask puts a path below root to the rule.
func (r Rule) ask(root *os.Root, at string, dir bool) string {
	why, _ := r.asker(root)(at, dir)
	return why
}

// asker puts paths below root to the rule, one at a time, and says whether the
// rule looked at the content.
type asker func(at string, dir bool) (why string, looked bool)

func (r Rule) asker(root *os.Root) asker {
	var now string
	var looked bool
	open := func() (io.ReadCloser, error) {
		looked = true
		return openPlain(root, now)
	}
	return func(at string, dir bool) (string, bool) {
		now, looked = at, false
		why := r(filepath.ToSlash(at), dir, open)
		return why, looked
	}
}

// openPlain opens a regular file.
func openPlain(root *os.Root, at string) (*os.File, error) {
	return openChecked(root, filepath.FromSlash(at), func(fi fs.FileInfo) error {
		if !fi.Mode().IsRegular() {
			return refuse(at, "is no regular file (%s)", fi.Mode().Type())
		}
		return nil
	})
}

// openChecked opens what check, who is shown what was opened, has nothing
// against.
func openChecked(root *os.Root, name string, check func(fs.FileInfo) error) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = check(fi)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
