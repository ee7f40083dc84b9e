package calls

import (
	"strings"
	"testing"

	"conclave/table"
)

// Run ids are readable, never too long, and never those of another campaign.
func TestRun(t *testing.T) {
	t.Parallel()
	if got := Run("ash", "c000001-x", "1", "tilda"); got != "table.ash.c000001-x.1.tilda" {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("a", 40)
	one, two := Run(long, long, long), Run(long, long, long+"b")
	if len(one) != 100 || one == two || !ofTable(one, long) {
		t.Errorf("%q and %q", one, two)
	}
	if ofTable(Run("ash-two", "x"), "ash") || ofTable(Run("ash", "x"), "as") {
		t.Error("a record of another campaign is taken for this one's")
	}
	if a, b := ShortID(), ShortID(); len(a) != 8 || a == b {
		t.Errorf("%q, %q", a, b)
	}
}

// What the engine makes is everybody's; what a seat may not read is found.
func TestTrespasses(t *testing.T) {
	t.Parallel()
	c := Call{Sources: Sources{Role: "player", Character: "tilda", Sources: []table.Source{
		{Path: "engine:rolls"}, {Path: "party/tilda.md"}, {Path: "party/odo-journal.md"}, {Path: "story-state.md"}}}}
	if got := strings.Join(c.Trespasses(), " "); got != "party/odo-journal.md story-state.md" {
		t.Errorf("%q", got)
	}
}
