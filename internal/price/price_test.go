package price

import (
	"testing"

	"conclave/transcript"
)

func TestOf(t *testing.T) {
	for model, want := range map[string]float64{
		"claude-opus-4-5": 5, "claude-opus-4-5-20251101": 5, "claude-opus-4-1-20250805": 15, "claude-3-5-haiku-latest": 0.8,
		"gpt-5-2025-08-07": 1.25, "gpt-5.1-codex": 1.25, "claude-opus-4-0": 15,
	} {
		if p, ok := List(nil).Of(model); !ok || p.Input != want {
			t.Errorf("%s: %+v, %v", model, p, ok)
		}
	}
	for _, model := range []string{"", "claude-opus", "claude-opus-4-5-fast", "gpt-5.1-pro", "my-claude-opus-4-5"} {
		if p, ok := List(nil).Of(model); ok {
			t.Errorf("%q has a price: %+v", model, p)
		}
	}
}

func TestCost(t *testing.T) {
	p, _ := List(nil).Of("claude-sonnet-4-5")
	if got := p.Cost(transcript.Usage{Input: 1e6, Output: 2e6, CacheRead: 3e6, CacheWrite: 4e6}); got < 48.899 || got > 48.901 { // 3 + 30 + 0.9 + 15
		t.Errorf("%v dollars", got)
	}
}

// The person's own prices win, for a model's snapshots too.
func TestOwn(t *testing.T) {
	own := List{"claude-opus-4-5": {Input: 1}, "mine": {Output: 2}}
	for model, want := range map[string]Price{
		"claude-opus-4-5": {Input: 1}, "claude-opus-4-5-20251101": {Input: 1}, "mine": {Output: 2}, "mine-latest": {Output: 2}, "o3": {2, 8, 0.5, 2},
	} {
		if p, ok := own.Of(model); !ok || p != want {
			t.Errorf("%s: %+v, %v, want %+v", model, p, ok, want)
		}
	}
}
