package price

import "testing"

func TestOf(t *testing.T) {
	for model, want := range map[string]float64{
		"claude-opus-4-5": 5, "claude-opus-4-5-20251101": 5, "claude-opus-4-1-20250805": 15, "claude-3-5-haiku-latest": 0.8,
		"gpt-5-2025-08-07": 1.25, "gpt-5.1-codex": 1.25, "claude-opus-4-0": 15,
	} {
		if p, ok := Of(model); !ok || p.Input != want {
			t.Errorf("%s: %+v, %v", model, p, ok)
		}
	}
	for _, model := range []string{"", "claude-opus", "claude-opus-4-5-fast", "gpt-5.1-pro", "my-claude-opus-4-5"} {
		if p, ok := Of(model); ok {
			t.Errorf("%q has a price: %+v", model, p)
		}
	}
}

func TestCost(t *testing.T) {
	p, _ := Of("claude-sonnet-4-5")
	if got := p.Cost(1e6, 2e6, 3e6, 4e6); got < 48.899 || got > 48.901 { // 3 + 30 + 0.9 + 15
		t.Errorf("%v dollars", got)
	}
}
