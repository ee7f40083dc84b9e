package main_test

import (
	"archive/tar"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"conclave/internal/sample"
)

// v0Kind is a line of the table in testdata/v0/README.md.
type v0Kind struct {
	name     string
	patterns []string
	refused  bool     // a newer one
	sessions []string // none: nobody reads it
}

// is says whether a file is of the kind. A pattern that ends in a slash is of
// all that lies below.
func (k v0Kind) is(file string) bool {
	return slices.ContainsFunc(k.patterns, func(p string) bool {
		name, parts := file, strings.Count(p, "/")
		if below := strings.TrimSuffix(p, "/"); below != p {
			p, name = below, strings.Join(first(strings.Split(file, "/"), parts), "/")
		}
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

var quoted = regexp.MustCompile("`([^`]+)`")

func v0Kinds(t *testing.T) []v0Kind {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(v0Dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []v0Kind
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 5 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| kind") {
			continue
		}
		k := v0Kind{name: strings.TrimPrefix(cells[0], "| "), refused: strings.Contains(cells[3], "refused")}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			k.patterns = append(k.patterns, m[1])
		}
		if asked := strings.TrimSuffix(strings.TrimSpace(cells[4]), " |"); !strings.HasPrefix(asked, "nobody: ") {
			k.sessions = strings.Split(asked, ", ")
		}
		kinds = append(kinds, k)
	}
	if len(kinds) < 30 {
		t.Fatalf("%d kinds in the table", len(kinds))
	}
	return kinds
}

// TestV0Kinds holds the table of testdata/v0/README.md against the files and
// the sessions: nothing is kept that nobody asks for, and nothing is asked that
// does not depend on what was kept.
func TestV0Kinds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the answers name paths as other systems have them")
	}
	kinds := v0Kinds(t)
	files := v0Files(t)
	for _, f := range files {
		if !slices.ContainsFunc(kinds, func(k v0Kind) bool { return k.is(f) }) {
			t.Errorf("%s is of no kind in the table", f)
		}
	}
	asked := map[string]bool{}
	drawn := sample.Pick(t, len(kinds), 2, 3)
	for i, k := range kinds {
		mine := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !k.is(f) })
		if len(mine) == 0 {
			t.Errorf("%s: no file matches %q", k.name, k.patterns)
		}
		for _, s := range k.sessions {
			asked[s] = true
		}
		if len(k.sessions) > 0 && slices.Contains(drawn, i) {
			t.Run(k.name, func(t *testing.T) { t.Parallel(); spoiled(t, k, mine) })
		}
	}
	for _, s := range v0Sessions(t) {
		if name := strings.TrimSuffix(filepath.Base(s), ".txt"); !asked[name] {
			t.Errorf("%s: no kind of file names this session", name)
		}
	}
}

func v0Files(t *testing.T) []string {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(v0Dir, "*.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, a := range archives {
		eachV0File(t, a, func(h *tar.Header, _ []byte) {
			if h.Typeflag != tar.TypeDir {
				files = append(files, h.Name)
			}
		})
	}
	return files
}

// spoiled makes the files of a kind unreadable: every session that the kind
// names must answer otherwise.
func spoiled(t *testing.T, k v0Kind, files []string) {
	for _, name := range k.sessions {
		want, err := os.ReadFile(filepath.Join(v0Dir, "expect", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		s := newV0Session(t)
		for _, f := range files {
			file := filepath.Join(s.root, filepath.FromSlash(f))
			if err := os.Chmod(file, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("\xff spoiled"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if s.replay(string(want)) == string(want) {
			t.Errorf("%s does not depend on the %s", name, k.name)
		}
	}
}
