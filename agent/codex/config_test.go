package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/internal/proc"
	"conclave/transcript"
)

func TestConfigurationOfALockedRoom(t *testing.T) {
	spec := agent.Spec{
		System: "SECRET PROMPT",
		Model:  agent.Model{Name: `odd"name` + "\x7f", BaseURL: "http://127.0.0.1:1", Token: "SECRET TOKEN"},
		Tools: agent.Tools{MCP: []agent.MCPServer{
			{Name: "room", URL: "http://127.0.0.1:2/mcp", Token: "SECRET ROOM", Tools: []string{"submit"}},
			{Name: "open", URL: "http://127.0.0.1:3/mcp"},
		}},
		Place: agent.Place{Host: "/host", Guest: "/guest"},
	}
	text, env, err := config(Options{Retries: -1}, spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`model = "odd\"name\u007f"`, `base_url = "http://127.0.0.1:1/v1"`, `approval_policy = "never"`, `sandbox_mode = "danger-full-access"`,
		`web_search = "disabled"`, "shell_tool = false", "unified_exec = false", "multi_agent = false", "plugins = false", "hooks = false",
		"request_max_retries = 0", "stream_max_retries = 0", "include_environment_context = false", "project_doc_max_bytes = 0",
		"[mcp_servers.room]\nurl = \"http://127.0.0.1:2/mcp\"", `enabled_tools = ["submit"]`, `bearer_token_env_var = "CONCLAVE_TOOLS_TOKEN_0"`,
		`model_catalog_json = "/guest/home/.codex/models.json"`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "SECRET") {
		t.Errorf("a secret is in the file:\n%s", text)
	}
	if got := strings.Join(env, " "); got != "CONCLAVE_MODEL_TOKEN=SECRET TOKEN CONCLAVE_TOOLS_TOKEN_0=SECRET ROOM" {
		t.Errorf("environment %s", got)
	}
}

func TestConfigurationRefuses(t *testing.T) {
	ok := agent.Spec{Model: agent.Model{Name: "m"}, Place: agent.Place{Host: "/h", Guest: "/g"}}
	tests := []struct {
		name   string
		change func(*agent.Spec)
		want   string
	}{
		{"an unknown tool", func(s *agent.Spec) { s.Tools.Builtin = []string{"shovel"} }, "has no tool"},
		{"a server name that is none", func(s *agent.Spec) { s.Tools.MCP = []agent.MCPServer{{Name: "a]b"}} }, "letters, digits"},
		{"an address that is none", func(s *agent.Spec) { s.Model.BaseURL = "nowhere" }, "want a URL"},
		{"no model where it decides about tools", func(s *agent.Spec) { s.Model.Name = "" }, "must be named"},
	}
	for _, tt := range tests {
		spec := ok
		tt.change(&spec)
		if _, _, err := config(Options{}, spec); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, _, err := config(Options{}, ok); err != nil {
		t.Errorf("what is in order is refused: %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	for _, o := range []Options{{}, {Program: "codex"}} {
		if _, err := New(o); err == nil {
			t.Errorf("options %+v are accepted", o)
		}
	}
	a, err := New(Options{Program: "/nowhere/codex"})
	if err != nil {
		t.Fatal(err)
	}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: a.Adapter()})
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	ok := agent.Spec{Launcher: proc.Launcher{}, Emitter: emitter, Place: agent.Place{Host: room, Guest: room}, Model: agent.Model{Name: "m"}}
	tests := []struct {
		change func(*agent.Spec)
		want   string
	}{
		{func(s *agent.Spec) { s.Launcher = nil }, "no launcher"},
		{func(s *agent.Spec) { s.Emitter = nil }, "no emitter"},
		{func(s *agent.Spec) { s.Place = agent.Place{} }, "no place"},
		{func(s *agent.Spec) { s.Limits.BudgetUSD = 1 }, "budget"},
		{func(*agent.Spec) {}, "/nowhere/codex"},
	}
	for _, tt := range tests {
		spec := ok
		tt.change(&spec)
		if _, err := a.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("start gives %v, want %q", err, tt.want)
		}
	}
}

// A program that is no app-server is an error that says what it said.
func TestStartOfAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "codex")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho 'I am not who you think' >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := New(Options{Program: path})
	if err != nil {
		t.Fatal(err)
	}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: a.Adapter()})
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	_, err = a.Start(t.Context(), agent.Spec{Launcher: proc.Launcher{}, Emitter: emitter, Model: agent.Model{Name: "m"},
		Place: agent.Place{Host: room, Guest: room}})
	if err == nil || !strings.Contains(err.Error(), "I am not who you think") {
		t.Errorf("start gives %v", err)
	}
}

func TestProbe(t *testing.T) {
	native := program(t)
	home := t.TempDir()
	env := map[string]string{"HOME": home, "PATH": "relative" + string(os.PathListSeparator) + filepath.Dir(native)}
	get := func(name string) string { return env[name] }
	found, err := Probe(t.Context(), ProbeOptions{Env: get, Launcher: proc.Launcher{}})
	if err != nil || found.Native != native || found.Version != "0.166.0" || found.Login != "" {
		t.Errorf("%+v, %v", found, err)
	}
	env["OPENAI_API_KEY"] = "k"
	if found, _ := Probe(t.Context(), ProbeOptions{Env: get}); found.Login != "api key" || found.Version != "" {
		t.Errorf("%+v", found)
	}
	if err := os.MkdirAll(filepath.Join(home, codexDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, codexDir, "auth.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, _ := Probe(t.Context(), ProbeOptions{Env: get}); found.Login != "login" {
		t.Errorf("%+v", found)
	}
	env["PATH"] = t.TempDir()
	if _, err := Probe(t.Context(), ProbeOptions{Env: get}); err == nil || !strings.Contains(err.Error(), "npm install") {
		t.Errorf("where nothing is installed: %v", err)
	}
	script := filepath.Join(t.TempDir(), "codex.js")
	if err := os.WriteFile(script, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Locate(script); err == nil || !strings.Contains(err.Error(), "reinstall") {
		t.Errorf("a script without its program: %v", err)
	}
}
