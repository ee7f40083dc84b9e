package quest

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"conclave/internal/nearest"
	"conclave/workspace"
)

// SplitPaths reads the paths that a person typed in one line: one that exists as
// a whole, or several, separated by spaces; quotes and backslashes keep a space.
func SplitPaths(root, line string) ([]string, error) {
	line = strings.TrimSpace(line)
	if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(line))); err == nil && filepath.IsLocal(line) {
		return []string{line}, nil
	}
	var paths []string
	var word strings.Builder
	quote, escaped, begun := rune(0), false, false
	end := func() {
		if begun {
			paths = append(paths, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'' && os.PathSeparator == '/':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			end()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	end()
	if quote != 0 {
		return paths, errors.New("a quote is not closed")
	}
	return paths, nil
}

// NearestPath is the path in the workspace that a mistyped one is most like; ""
// when nothing is near.
func NearestPath(root, name string) string {
	name = path.Clean(filepath.ToSlash(name))
	held, err := os.OpenRoot(root)
	if err != nil || !filepath.IsLocal(name) || name == "." {
		return ""
	}
	defer held.Close()
	if _, err := held.Lstat(name); err == nil {
		return ""
	}
	dir := "."
	for part := range strings.SplitSeq(name, "/") {
		entries, err := workspace.ReadDir(held, dir)
		if err != nil {
			return ""
		}
		best, least := "", len([]rune(part))/3+1
		for _, e := range entries {
			if d := nearest.Distance(strings.ToLower(part), strings.ToLower(e.Name())); e.Name() == part || d < least {
				best, least = e.Name(), d
			}
		}
		if best == "" {
			return ""
		}
		dir = path.Join(dir, best)
	}
	return dir
}
