package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// TestHouseIsDescribed holds docs/house.md against the table of packages: each
// has a line in "The rooms", and each line there is of a package.
func TestHouseIsDescribed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "house.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rooms, ok := strings.Cut(string(text), "\n## The rooms\n")
	if !ok {
		t.Fatal(`docs/house.md has no part "The rooms"`)
	}
	rooms, _, _ = strings.Cut(rooms, "\n## ")
	named := map[string]bool{}
	for line := range strings.Lines(rooms) {
		cells := strings.SplitN(line, "|", 3)
		if len(cells) < 3 {
			continue
		}
		for _, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
			pkg := name[1]
			if _, ok := house[pkg]; !ok {
				t.Errorf("docs/house.md describes %s, which is no package of the house", pkg)
			}
			if named[pkg] {
				t.Errorf("docs/house.md describes %s twice", pkg)
			}
			named[pkg] = true
		}
	}
	for pkg := range house {
		if !named[pkg] {
			t.Errorf(`%s: no line in "The rooms" of docs/house.md; say what it decides that no other does`, pkg)
		}
	}
}
