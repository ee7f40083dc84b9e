package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/config"
)

// Who is cast for a role that a program plays by the Agent Client Protocol, and
// what is said when it cannot be.
func TestCastACP(t *testing.T) {
	t.Setenv("PATH", "") // what somebody has installed is no matter
	bin := t.TempDir()
	script := filepath.Join(bin, "node_modules", "x", "gemini.js")
	if err := os.MkdirAll(filepath.Dir(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{script, filepath.Join(bin, "opencode"), filepath.Join(bin, "mine"), filepath.Join(bin, "node")} {
		if err := os.WriteFile(file, []byte("\x7fELF"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	user := config.Config{
		Programs: map[string]string{"opencode": filepath.Join(bin, "opencode"), "mine": filepath.Join(bin, "mine"),
			"gemini": script, "node": filepath.Join(bin, "node")},
		ACP: map[string]config.ACPProgram{"mine": {Args: []string{"--acp"}}},
	}
	w := &workspace{root: t.TempDir(), config: config.Merge(config.Config{}, user), app: &App{Getenv: func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "g"}[name]
	}}}
	for _, tt := range []struct {
		a    config.Agent
		kind string // of the provider, "" for none
		want string // in the error
	}{
		{config.Agent{Program: "opencode", Provider: "anthropic", Model: "m"}, "anthropic", ""},
		{config.Agent{Program: "gemini", Model: "m"}, "gemini", ""},
		{config.Agent{Program: "mine"}, "", ""},
		{config.Agent{Program: "mine", Provider: "anthropic", Model: "m"}, "anthropic", ""},
		{config.Agent{Program: "opencode", Model: "m"}, "", "say whose model it asks"},
		{config.Agent{Program: "opencode", Provider: "anthropic"}, "", "say which model"},
		{config.Agent{Program: "opencode", Provider: "openai", Model: "m"}, "", "OPENAI_API_KEY is not set"},
		{config.Agent{Program: "gemini", Provider: "anthropic", Model: "m"}, "", `gemini cannot ask a provider of kind "anthropic"`},
		{config.Agent{Program: "gemeni", Model: "m"}, "", "did you mean gemini?"},
		{config.Agent{Program: "qwen", Provider: "anthropic", Model: "m"}, "", "programs: {qwen: …}"},
	} {
		tt.a.Agent = "acp"
		got, err := w.actor(tt.a, "wolf", nil)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: %v, want %q", tt.a, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", tt.a, err)
			continue
		}
		if kind := got.upstream; (kind == nil) != (tt.kind == "") || kind != nil && string(kind.Kind) != tt.kind {
			t.Errorf("%+v asks %+v", tt.a, kind)
		}
		if got.direct != (tt.kind == "") || got.inProcess {
			t.Errorf("%+v: %+v", tt.a, got)
		}
		if tt.a.Program == "gemini" && !slices.Contains(got.programs, filepath.Join(bin, "node_modules")) {
			t.Errorf("its room shows %q", got.programs)
		}
	}
}
