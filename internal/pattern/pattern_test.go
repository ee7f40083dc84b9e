package pattern

import (
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	p := New(`a(b+)`)
	if got := p.FindStringSubmatch("xabbc"); len(got) != 2 || got[1] != "bb" {
		t.Errorf("it finds %q", got)
	}
	if err := Check(); err != nil {
		t.Errorf("sound patterns: %v", err)
	}
	New(`a(b`)
	if err := Check(); err == nil || !strings.Contains(err.Error(), "a(b") {
		t.Errorf("of a pattern without an end it says %v", err)
	}
}
