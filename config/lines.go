package config

import (
	"maps"
	"slices"
	"strings"
)

// Lines are what a file says for a seat and for the providers that it needs.
func Lines(seat string, a Agent, providers map[string]Provider) []string {
	lines := underKey("agents", []string{"  " + scalar(seat) + ": " + flow(
		"agent", a.Agent, "provider", a.Provider, "model", a.Model)})
	var own []string
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		p := providers[name]
		own = append(own, "  "+scalar(name)+": "+flow("kind", p.Kind, "base_url", p.BaseURL, "key_env", p.KeyEnv))
	}
	return append(lines, underKey("providers", own)...)
}

// flow writes keys and values on one line, without those that are empty.
func flow(pairs ...string) string {
	var said []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			said = append(said, pairs[i]+": "+scalar(pairs[i+1]))
		}
	}
	return "{" + strings.Join(said, ", ") + "}"
}
