package profile

import (
	"os"
	"strings"
	"testing"
)

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
