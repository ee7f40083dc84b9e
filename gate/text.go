package gate

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"

	"conclave/internal/git"
	"conclave/internal/textdiff"
)

// Bounds of the change as text. All names are in it, whatever its size.
const (
	maxChange = 4 << 20
	maxShown  = 8 << 20 // of a file, on each side
)

// text is the change as text, as git would write it without any settings: plain
// files and links, renames as taken away and put there, and of binary files the
// name.
func (c *change) text(paths []string) ([]byte, error) {
	out := []byte{}
	left := 0
	for _, p := range paths {
		from, was := c.base.byPath[p]
		to, is := c.head.byPath[p]
		var parts [][2]*git.Entry
		switch {
		case was && is && (from.Mode == git.Link) != (to.Mode == git.Link):
			parts = [][2]*git.Entry{{&from, nil}, {nil, &to}}
		case was && is:
			parts = [][2]*git.Entry{{&from, &to}}
		case was:
			parts = [][2]*git.Entry{{&from, nil}}
		default:
			parts = [][2]*git.Entry{{nil, &to}}
		}
		for _, side := range parts {
			head, body, err := c.file(p, side[0], side[1])
			if err != nil {
				return nil, err
			}
			if out = append(out, head...); len(out)+len(body) > maxChange {
				body = []byte("(not shown here: the change is too long)\n")
				left++
			}
			out = append(out, body...)
		}
	}
	if left > 0 {
		out = fmt.Appendf(out, "\nThis text is cut: of %d changed files it has the name and not the lines.\n", left)
	}
	return out, nil
}

// file is the change of one file: what it is called, and how it differs.
func (c *change) file(p string, from, to *git.Entry) (head, body []byte, err error) {
	a, b := quoted("a/"+p), quoted("b/"+p)
	head = fmt.Appendf(nil, "diff --git %s %s\n", a, b)
	switch {
	case from == nil:
		head, a = fmt.Appendf(head, "new file mode %s\n", to.Mode), "/dev/null"
	case to == nil:
		head, b = fmt.Appendf(head, "deleted file mode %s\n", from.Mode), "/dev/null"
	case from.Mode != to.Mode:
		head = fmt.Appendf(head, "old mode %s\nnew mode %s\n", from.Mode, to.Mode)
	}
	old, tooLong, err := c.content(from)
	if err != nil {
		return nil, nil, err
	}
	now, alsoTooLong, err := c.content(to)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case tooLong || alsoTooLong:
		return head, fmt.Appendf(nil, "(not shown here: the file has more than %d bytes)\n", maxShown), nil
	case bytes.Equal(old, now):
		return head, nil, nil
	case textdiff.Binary(old) || textdiff.Binary(now):
		return head, fmt.Appendf(nil, "Binary files %s and %s differ\n", a, b), nil
	}
	return head, append(fmt.Appendf(nil, "--- %s\n+++ %s\n", a, b), textdiff.Hunks(old, now)...), nil
}

func (c *change) content(e *git.Entry) (data []byte, tooLong bool, err error) {
	if e == nil {
		return nil, false, nil
	}
	var b bytes.Buffer
	n, err := c.head.objects.Blob(e.ID, maxShown, &b)
	if n > maxShown {
		return nil, true, nil
	}
	return b.Bytes(), false, err
}

// quoted is a path as git writes it: one that would steer a terminal, or look
// like another, is a string in quotes with escapes.
func quoted(p string) string {
	plain := true
	var b bytes.Buffer
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRuneInString(p[i:])
		switch {
		case r == '"' || r == '\\':
			plain = false
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == utf8.RuneError && n == 1 || !unicode.IsPrint(r):
			plain = false
			for _, c := range []byte(p[i : i+n]) {
				fmt.Fprintf(&b, "\\%03o", c)
			}
		default:
			b.WriteString(p[i : i+n])
		}
		i += n
	}
	if plain {
		return p
	}
	return `"` + b.String() + `"`
}
