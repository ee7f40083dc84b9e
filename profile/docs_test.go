package profile

import (
	"os"
	"strings"
	"testing"
)

// TestContributingKnowsPacks: the seed sends authors of packs to CONTRIBUTING.md.
// It names the steps, and the directories that it and docs/packs.md name are those
// that the program uses.
func TestContributingKnowsPacks(t *testing.T) {
	for file, wants := range map[string][]string{
		"../CONTRIBUTING.md": {"Fork", "`profile/packs/{theme-name}`", "conclave pack validate profile/packs/", "pull request",
			"creative intent", "CC-BY-SA-4.0", "docs/packs.md", "All nine"},
		"../docs/packs.md": {"`profile/packs/lighthouse`", "`profile-packs/` in the project", "pull request"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not say %q", file, want)
			}
		}
	}
	for _, dir := range []string{"packs/fantasy", "packs/LICENSE.md"} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
}

// TestDocumentedExample: what docs/packs.md calls complete and valid is.
func TestDocumentedExample(t *testing.T) {
	page, err := os.ReadFile("../docs/packs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```markdown\n")
	example, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("docs/packs.md has no example")
	}
	p, faults := Parse("cat.md", []byte(example))
	if len(faults) > 0 || p.Depth != Modifier {
		t.Errorf("the example: %v", faults)
	}
	for _, a := range cast[:packSize] {
		for _, fact := range append([]string{a.ID, a.emoji}, a.flex[:min(1, len(a.flex))]...) {
			if word := strings.Fields(fact)[0]; !strings.Contains(string(page), word) {
				t.Errorf("docs/packs.md does not mention %q of the %s", word, a.ID)
			}
		}
	}
}
