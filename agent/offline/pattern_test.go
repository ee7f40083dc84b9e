package offline

import (
	"testing"

	"conclave/internal/pattern"
)

// TestPatterns: every pattern is a regular expression; they are compiled when they
// are first asked.
func TestPatterns(t *testing.T) {
	if err := pattern.Check(); err != nil {
		t.Error(err)
	}
}
