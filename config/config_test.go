package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMergeAndFor(t *testing.T) {
	project, err := Parse([]byte("agents:\n  default: {agent: claude, model: m}\n  dragon: {agent: codex}\n  cat: {model: small}\nbudget: {usd: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	user, err := Parse([]byte("agents:\n  dragon: {agent: offline}\ntools: [/opt/go/bin]\nlower: {player: fenced}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Merge(project, user)
	if err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]string{"owl": "claude", "dragon": "offline", "cat": "claude"} {
		if got := c.For(role).Agent; got != want {
			t.Errorf("%s is played by %q, want %q", role, got, want)
		}
	}
	if c.For("cat").Model != "small" || c.Budget.USD != 2 || len(c.Tools) != 1 || c.Lower["player"] != "fenced" {
		t.Errorf("merged = %+v", c)
	}
	if p, err := c.ProviderOf(c.For("owl")); err != nil || p.KeyEnv != "ANTHROPIC_API_KEY" {
		t.Errorf("provider = %+v, %v", p, err)
	}
}

func TestWithoutAnyFileThePartyIsEmbedded(t *testing.T) {
	c, err := Read(filepath.Join(t.TempDir(), FileName))
	if err != nil {
		t.Fatal(err)
	}
	if c, err = Merge(c, Config{}); err != nil || c.For("dragon").Agent != "offline" {
		t.Errorf("%+v, %v", c.For("dragon"), err)
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"agents:\n  cat: {agent: gpt}":      `no agent is called "gpt"`,
		"agents:\n  cat: {agnet: claude}":   "agnet",
		"agents:\n  cat: {agent: scripted}": "needs a script",
		"providers:\n  x: {kind: y}":        "neither anthropic nor openai",
		"lower: {player: sealed}":           "neither fenced nor advisory",
		"budget: {usd: lots}":               "line 1",
		"agents: &a {}\nproviders: *a":      "anchor",
		"agents:\n  cat: {}\nagents: {}\n":  "agents",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want %q", text, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(file, []byte("nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), FileName) {
		t.Errorf("the error does not name the file: %v", err)
	}
	for _, project := range []Config{{Tools: []string{"/x"}}, {Lower: map[string]string{"a": "fenced"}}} {
		if _, err := Merge(project, Config{}); err == nil {
			t.Errorf("a project may say %+v", project)
		}
	}
}
