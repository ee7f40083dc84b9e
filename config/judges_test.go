package config

import (
	"fmt"
	"strings"
	"testing"

	"conclave/policy"
)

// The n-th judge has its own seat where one is named, and else the role's; a seat
// in which nobody could ever sit is refused.
func TestJudgesHaveSeats(t *testing.T) {
	c := Config{Agents: map[string]Agent{"dragon": {Agent: "offline"}, "dragon.3": {Agent: "model"}}}
	for n, want := range map[int]string{1: "dragon", 2: "dragon", 3: "dragon.3", 4: "dragon"} {
		if got := c.Judge("dragon", n); got != want {
			t.Errorf("judge %d sits in %q, not in %q", n, got, want)
		}
	}
	if got := c.Judge("guardian", 3); got != "guardian" {
		t.Errorf("the third Guardian sits in %q", got)
	}
	for n := -1; n <= policy.MaxJudges+2; n++ {
		for _, role := range []policy.Role{policy.Dragon, policy.Guardian, policy.Cat, policy.GM} {
			seat := fmt.Sprintf("%s.%d", role, n)
			judge := role == policy.Dragon || role == policy.Guardian
			if taken := checkSeat(seat) == nil; taken != (judge && n >= 2 && n <= policy.MaxJudges) {
				t.Errorf("%s: taken is %v", seat, taken)
			}
		}
	}
	for _, seat := range []string{"dragon.02", "dragon.+2", "dragon.2 ", "dragon.", "dragon.two", "Dragon.2", "dragon.2.3", "dragon.123"} {
		if err := checkSeat(seat); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(seat)) {
			t.Errorf("%q: %v", seat, err)
		}
	}
}
