package price

import (
	"math"
	"testing"

	"conclave/transcript"
)

func TestOf(t *testing.T) {
	for model, want := range map[string]float64{
		"claude-opus-4-5": 5, "claude-opus-4-5-20251101": 5, "claude-opus-4-1-20250805": 15, "claude-3-5-haiku-latest": 0.8,
		"claude-opus-5-5": 4, "claude-sonnet-4-5-20250929[1m]": 3,
		"gpt-6.1-sol": 2, "gpt-5-2025-08-07": 1.25, "gpt-5.1-codex": 1.25, "claude-opus-4-0": 15,
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

// TestCost: each kind of token has its price, and so have searches and long
// prompts. The figures of the first two are those that Claude Code itself gives
// for what was captured.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		model string
		u     transcript.Usage
		want  float64
	}{
		{"claude-sonnet-4-5", transcript.Usage{Input: 1000, Output: 42, CacheWrite: 100_000, CacheWrite1h: 100_000}, 0.60363},
		{"claude-opus-5-5", transcript.Usage{Input: 400, Output: 168, CacheRead: 1200, CacheWrite: 80}, 0.0056},
		{"claude-sonnet-4-5", transcript.Usage{Input: 1e6, Output: 2e6, CacheRead: 3e6, CacheWrite: 4e6}, 3 + 30 + 0.9 + 15},
		{"claude-sonnet-4-5", transcript.Usage{CacheWrite: 5e6, CacheWrite1h: 1e6}, 15 + 6},
		{"claude-opus-4-8[1m]", transcript.Usage{Output: 1e6, Searches: 100}, 25 + 1},
		{"claude-haiku-5-5", transcript.Usage{Input: 50_000, CacheRead: 50_000, Output: 1e6}, 0.005 + 0.0005 + 0.5},
		{"claude-haiku-5-5", transcript.Usage{Input: 50_001, CacheRead: 50_000, Output: 1e6}, 5 * (0.0050001 + 0.0005 + 0.5)},
		{"gpt-6.1-sol", transcript.Usage{Input: 1e6, Output: 1e6, Searches: 1}, 4 + 15 + 0.01},
	} {
		p, ok := List(nil).Of(c.model)
		if got := p.Cost(c.u); !ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s %+v: %v dollars, want %v", c.model, c.u, got, c.want)
		}
	}
}

// The person's own prices win, for a model's snapshots too.
func TestOwn(t *testing.T) {
	own := List{"claude-opus-4-5": {Input: 1}, "mine": {Output: 2}}
	for model, want := range map[string]Price{
		"claude-opus-4-5": {Input: 1}, "claude-opus-4-5-20251101": {Input: 1}, "mine": {Output: 2}, "mine-latest": {Output: 2}, "o3": {Input: 2, Output: 8, CacheRead: 0.5, CacheWrite: 2, CacheWrite1h: 2, Search: 0.01},
	} {
		if p, ok := own.Of(model); !ok || p != want {
			t.Errorf("%s: %+v, %v, want %+v", model, p, ok, want)
		}
	}
}
