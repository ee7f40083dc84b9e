package table

import (
	"strings"
	"testing"
)

// TestASheetThatIsGone: whoever put it away is told which file it was, and what
// to do.
func TestASheetThatIsGone(t *testing.T) {
	c := newCampaign(t, nil)
	_, err := c.PlayerContext("nobody-at-all", []byte(goodPrompt), ContextOptions{})
	if err == nil || !strings.HasPrefix(err.Error(), "party/nobody-at-all.md was here and is gone: put it back") {
		t.Errorf("%v", err)
	}
}
