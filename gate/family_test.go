package gate

import (
	"slices"
	"testing"
)

func TestFamily(t *testing.T) {
	for family, models := range map[string][][2]string{
		"anthropic claude": {{"anthropic", "claude-sonnet-4-5-20250929"}, {"anthropic", "claude-opus-4-1"}, {"chat", "anthropic/claude-3.5-haiku"},
			{"anthropic", "us.anthropic.claude-sonnet-4-20250514-v1:0"}, {"", "Claude-3"}},
		"openai gpt": {{"openai", "gpt-5.1-codex"}, {"openai", "gpt-4o-mini"}, {"openai", "o3"}, {"chat", "openai/gpt-oss-120b"},
			{"openai", "chatgpt-4o-latest"}, {"chat", "gpt4all-x"}},
		"google gemini":                      {{"gemini", "gemini-2.5-pro"}, {"chat", "google/gemini-flash-1.5"}, {"gemini", "models/gemini-2.0-flash"}},
		"alibaba qwen":                       {{"chat", "qwen2.5-coder:32b"}, {"chat", "Qwen/Qwen3-235B"}},
		"meta llama":                         {{"chat", "llama3.2:latest"}, {"chat", "accounts/fireworks/models/llama-v3p1-70b"}},
		"deepseek deepseek and alibaba qwen": {{"chat", "deepseek-r1-distill-qwen-32b"}},
		"chat house":                         {{"chat", "house-7b"}, {"chat", "us/house2"}},
		"offline":                            {{"offline", ""}},
		"chat graphite":                      {{"chat", "graphite"}},
		"":                                   {{"", ""}, {" ", "7"}},
	} {
		for _, m := range models {
			if got := Family(m[0], m[1]); got != family {
				t.Errorf("%v is of %q, want %q", m, got, family)
			}
		}
	}
}

func TestIndependent(t *testing.T) {
	for _, c := range []struct {
		judges   int
		families []string
		want     bool
	}{
		{1, []string{"a x"}, false}, // nobody to be independent of
		{3, []string{"a x", "b y", "c z"}, true},
		{3, []string{"a x", "b y", "a x"}, false},
		{3, []string{"a x", "b y", ""}, false},
		{3, []string{"a x", "b y"}, false},
		{3, []string{"a x and b y", "b y", "c z"}, false},
		{3, nil, false},
	} {
		if got := Independent(c.judges, c.families); got != c.want {
			t.Errorf("%d of %q: %v", c.judges, c.families, got)
		}
	}
	d, err := Decide(All, 3, []Ballot{{Number: 1}}, []string{"b", "a", "b"})
	if err != nil || d.Independent || !slices.Equal(d.Families, []string{"a", "b"}) {
		t.Errorf("%+v, %v", d, err)
	}
}
