package story

import (
	"strings"
	"testing"
)

// TestPageOfAStory: what the party was told is a page; nothing in it is a tag.
func TestPageOfAStory(t *testing.T) {
	page := HTML("A & B", "# A\n\n*at night*\n\nHe *says* **no** * and * 2*3 <b>.\n\n> aside\n")
	for _, want := range []string{"<title>A &amp; B</title>", "<h1>A</h1>", "<p><em>at night</em></p>",
		"<p>He <em>says</em> <strong>no</strong> * and * 2*3 &lt;b&gt;.</p>", "<blockquote>aside</blockquote>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}
