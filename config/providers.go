package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/frontmatter"
	"conclave/gateway"
)

// Provider is a model's server. The key is taken from the environment variable
// that it names; a server on this machine may want none.
type Provider struct {
	Kind    string `yaml:"kind"` // one of gateway.Kinds
	BaseURL string `yaml:"base_url"`
	KeyEnv  string `yaml:"key_env"`
}

// noKey in place of a variable says of a server elsewhere that it wants no key.
// Only the user's own file may say it.
const noKey = "none"

// Keyless says whether a provider is asked without a key.
func (p Provider) Keyless() bool { return p.KeyEnv == "" || p.KeyEnv == noKey }

// Upstream is the provider as a gateway knows it, with the key.
func (p Provider) Upstream(key string) *gateway.Upstream {
	return &gateway.Upstream{Kind: gateway.Kind(p.Kind), BaseURL: p.BaseURL, Key: key}
}

// builtInProviders are found without a word in any file.
func builtInProviders() map[string]Provider {
	return map[string]Provider{
		"anthropic": {Kind: "anthropic", BaseURL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"},
		"openai":    {Kind: "openai", BaseURL: "https://api.openai.com", KeyEnv: "OPENAI_API_KEY"},
		"gemini":    {Kind: "gemini", BaseURL: "https://generativelanguage.googleapis.com", KeyEnv: "GEMINI_API_KEY"},
	}
}

func (c Config) checkProviders(data []byte) error {
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		at := fmt.Sprintf("line %d: providers: %s", frontmatter.KeyLine(data, "providers", name), name)
		if !slices.Contains(gateway.Kinds(), gateway.Kind(p.Kind)) {
			return fmt.Errorf("%s: kind %q is none of %s", at, p.Kind, kindList())
		}
		if p.KeyEnv == "" && p.BaseURL != "" && !p.Upstream("").Local() {
			return fmt.Errorf("%s: it names no key, and %s is not on this machine: say key_env: NAME, the environment "+
				"variable that holds it, or, in your own file, key_env: %s if that server wants none", at, p.BaseURL, noKey)
		}
	}
	return nil
}

func kindList() string {
	var names []string
	for _, k := range gateway.Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// keylessLines are the lines to move of providers that a project's file wants to
// be asked without a key, beyond this machine.
func keylessLines(providers map[string]Provider) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		if p := providers[name]; p.KeyEnv == noKey && !p.Upstream("").Local() {
			lines = append(lines, fmt.Sprintf("  %s: {kind: %s, base_url: %s, key_env: %s}",
				scalar(name), scalar(p.Kind), scalar(cmp.Or(p.BaseURL, "https://…")), noKey))
		}
	}
	return underKey("providers", lines)
}
