package claude

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/internal/proc"
	"conclave/transcript"
)

// The test binary plays programs that the real one is not, or not yet. The
// variable says which.
func TestMain(m *testing.M) {
	switch os.Getenv("FAKE_CLAUDE") {
	case "":
		os.Exit(m.Run())
	case "broken":
		fmt.Fprintln(os.Stderr, "cannot find my libraries")
		os.Exit(127)
	case "deaf":
		select {}
	case "newer":
		playNewer()
		os.Exit(0)
	}
}

// playNewer is a program of the future: it says and writes what nobody knows,
// and says something that it does not write.
func playNewer() {
	id := os.Args[slices.Index(os.Args, "--session-id")+1]
	dir := filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "projects", "-x")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		panic(err)
	}
	f, err := os.Create(filepath.Join(dir, id+".jsonl"))
	if err != nil {
		panic(err)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			Type      string
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			panic(err)
		}
		if m.Type == "control_request" {
			fmt.Printf(`{"type":"control_response","response":{"subtype":"success","request_id":%q}}`+"\n", m.RequestID)
			continue
		}
		if m.Type != "user" {
			continue
		}
		fmt.Fprintf(f, `{"type":"user","uuid":"u1","sessionId":%q,"message":{"role":"user","content":"hi"}}`+"\n", id)
		fmt.Fprintf(f, `{"type":"dream","uuid":"u2","sessionId":%q,"vision":1}`+"\n", id)
		fmt.Fprintf(f, `{"type":"assistant","uuid":"u3","sessionId":%q,"message":{"id":"m1","content":[{"type":"song","notes":"la"},{"type":"text","text":"Hello."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}}`+"\n", id)
		fmt.Println(`{"type":"system","subtype":"init","claude_code_version":"9.9.9","model":"future"}`)
		fmt.Println(`{"type":"telepathy","strength":3}`)
		fmt.Println(`no JSON here`)
		fmt.Println(`{"type":"assistant","uuid":"u3","message":{"content":[]}}`)
		fmt.Println(`{"type":"assistant","uuid":"never-written","message":{"content":[{"type":"text","text":"A whisper."}]}}`)
		fmt.Println(`{"type":"control_request","request_id":"7","request":{"subtype":"can_use_tool"}}`)
		fmt.Println(`{"type":"result","subtype":"success","total_cost_usd":0.5,"modelUsage":{"future":{"inputTokens":4,"outputTokens":2}}}`)
	}
	fmt.Fprint(f, `{"type":"last words without a newline"}`)
	f.Close()
}

func fake(t *testing.T, part string) (*Agent, agent.Spec, *agenttest.Store) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	store := &agenttest.Store{}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "test", Adapter: transcript.AdapterClaude, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return New(Config{Program: self, Env: []string{"FAKE_CLAUDE=" + part}, Settle: 100e6}),
		agent.Spec{Place: agent.Place{Host: dir, Guest: dir}, Launcher: proc.Launcher{}, Emitter: emitter,
			Model: agent.Model{Token: "dummy"}}, store
}

func TestUnknownNewerVersion(t *testing.T) {
	a, spec, store := fake(t, "newer")
	s, err := a.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := s.Send(t.Context(), agent.Message{Text: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := agenttest.Drain(turn)
	if err != nil || reply.Text != "Hello." || reply.Usage.CostUSD != 0.5 || reply.Usage.Input != 4 {
		t.Errorf("reply %+v, %v", reply, err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.Check(t)
	info := s.Info()
	want := []string{"assistant block song ×1", "dream ×1", "last words without a newline ×1",
		"said on stdout, in no session file ×1", "stdout: not JSON ×1", "stdout: telepathy ×1"}
	if info.Version != "9.9.9" || !slices.Equal(info.Unrecognised, want) {
		t.Errorf("version %s, not recognised %q", info.Version, info.Unrecognised)
	}
	var got []string
	for _, e := range store.Entries() {
		got = append(got, string(e.Type))
	}
	slices.Sort(got) // a file and a pipe come in no order
	wantTypes := "assistant_message token_usage token_usage unknown unknown unknown unknown unknown user_message"
	if strings.Join(got, " ") != wantTypes {
		t.Errorf("entries %s,\n   want %s", strings.Join(got, " "), wantTypes)
	}
}

func TestStartFails(t *testing.T) {
	a, spec, _ := fake(t, "broken")
	if _, err := a.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "cannot find my libraries") ||
		!strings.Contains(err.Error(), "exit status 127") || !errors.Is(err, agent.ErrStopped) {
		t.Errorf("a program that ends at once gives %v", err)
	}

	a, spec, _ = fake(t, "deaf")
	ctx, cancel := context.WithCancel(t.Context())
	spec.Launcher = cancelling{cancel}
	if _, err := a.Start(ctx, spec); !errors.Is(err, context.Canceled) {
		t.Errorf("a program that does not answer gives %v", err)
	}

	_, spec, _ = fake(t, "")
	if _, err := New(Config{Program: "/no/such/claude"}).Start(t.Context(), spec); err == nil ||
		!strings.Contains(err.Error(), `"/no/such/claude"`) || !strings.Contains(err.Error(), "install it") {
		t.Errorf("a missing program gives %v", err)
	}
	spec.Model.Token = ""
	if _, err := a.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "neither a key nor a login") {
		t.Errorf("no key gives %v", err)
	}
	if _, err := a.Start(t.Context(), agent.Spec{}); err == nil {
		t.Error("an empty spec starts")
	}
}

// cancelling gives up as soon as the program runs.
type cancelling struct{ cancel func() }

func (c cancelling) Launch(ctx context.Context, cmd agent.Command) (agent.Process, error) {
	p, err := proc.Launcher{}.Launch(ctx, cmd)
	c.cancel()
	return p, err
}

// What is said never stands on the command line, and the environment holds
// nothing of the person's.
func TestPlan(t *testing.T) {
	t.Setenv("SECRET_OF_THE_PERSON", "x")
	place := agent.Place{Host: t.TempDir(), Guest: "/room"}
	base := agent.Spec{System: "You know the SECRET.", Place: place,
		Model:  agent.Model{Name: "m", Token: "sk-key", BaseURL: "http://127.0.0.1:1"},
		Tools:  agent.Tools{MCP: []agent.MCPServer{{Name: "room", URL: "http://127.0.0.1:2", Token: "sk-room"}}},
		Limits: agent.Limits{Turns: 3, BudgetUSD: 1.5}}
	byLogin := func(s *agent.Spec) {
		s.Model.Token, s.Model.BaseURL = "", ""
		s.Login = &agent.Login{Credential: []byte("sk-ant-oat01-dummy"), Proxy: "http://room:t@127.0.0.1:1"}
	}
	for _, c := range []struct {
		name       string
		change     func(*agent.Spec)
		config     Config
		login      string
		has, hasnt []string // in arguments
		env        string
	}{
		{"key", func(*agent.Spec) {}, Config{}, "api key", []string{"--bare", "--tools  ", "mcp__room", "--max-turns 3", "--max-budget-usd 1.5", "/room/home/.conclave/mcp.json"}, []string{"--safe-mode"}, "ANTHROPIC_API_KEY=sk-key"},
		{"login", byLogin, Config{}, "login", []string{"--setting-sources  "}, []string{"--bare", "--safe-mode", "partial"}, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-dummy"},
		{"way of a login", byLogin, Config{}, "login", nil, nil, "HTTPS_PROXY=http://room:t@127.0.0.1:1"},
		{"narrow tools", func(s *agent.Spec) { s.Tools.Builtin = []string{"Bash(git log *)", "Bash(ls *)", "Read"} }, Config{}, "api key", []string{"--bare", "--tools Bash,Read", "Bash(git log *),Bash(ls *),Read,mcp__room", "dontAsk"}, nil, "IS_SANDBOX=1"},
		{"agents", func(s *agent.Spec) { s.Tools.Builtin = []string{"Agent"} }, Config{}, "api key", []string{"--setting-sources  "}, []string{"--bare", "--safe-mode"}, "ENABLE_TOOL_SEARCH=false"},
		{"no tools of the room", func(s *agent.Spec) { s.Tools = agent.Tools{Builtin: []string{"Agent"}} }, Config{}, "api key", []string{"--setting-sources  ", "--safe-mode"}, []string{"--bare"}, "HOME=/room/home"},
		{"all tools", func(s *agent.Spec) { s.Tools.Builtin = []string{agent.AllTools} }, Config{SlashCommands: true}, "api key", []string{"bypassPermissions"}, []string{"--tools", "--disable-slash-commands"}, "TMPDIR=/room/tmp"},
		{"no retries", func(*agent.Spec) {}, Config{Retries: -1}, "api key", nil, nil, "CLAUDE_CODE_MAX_RETRIES=0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := base
			c.change(&spec)
			p, err := New(c.config).plan("/bin/claude", spec)
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Join(p.command.Args, " ")
			for _, secret := range []string{"SECRET", "sk-"} {
				if strings.Contains(line, secret) {
					t.Errorf("%q stands on the command line: %s", secret, line)
				}
			}
			for _, h := range c.has {
				if !strings.Contains(line, h) {
					t.Errorf("no %q in: %s", h, line)
				}
			}
			for _, h := range c.hasnt {
				if strings.Contains(line, h) {
					t.Errorf("%q in: %s", h, line)
				}
			}
			if !slices.Contains(p.command.Env, c.env) || strings.Contains(strings.Join(p.command.Env, " "), "SECRET") {
				t.Errorf("environment %q, want %s", p.command.Env, c.env)
			}
			if p.login != c.login || p.command.Dir != "/room/work" {
				t.Errorf("login %q, directory %s", p.login, p.command.Dir)
			}
		})
	}
	config, err := os.ReadFile(place.OnHost("home", ".conclave", "mcp.json"))
	if err != nil || !strings.Contains(string(config), `"Authorization":"Bearer sk-room"`) || !strings.Contains(string(config), `"alwaysLoad":true`) {
		t.Errorf("tool servers: %s, %v", config, err)
	}
	if info, err := os.Stat(place.OnHost("home", ".conclave", "mcp.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("tool servers: %v, %v", info.Mode(), err)
	}
}

func TestProbe(t *testing.T) {
	for _, v := range versions {
		s, err := New(Config{Program: program(t, v)}).Probe(t.Context(), proc.Launcher{})
		if err != nil || s.Version != v || !s.Tested || s.Path == "" {
			t.Errorf("%s: %+v, %v", v, s, err)
		}
	}
	if _, err := New(Config{Program: "/no/such/claude"}).Probe(t.Context(), nil); err == nil {
		t.Error("a missing program is found")
	}
}

func TestLoginOn(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		files []string
		want  string
	}{
		{map[string]string{"HOME": "/h"}, nil, ""},
		{map[string]string{"HOME": "/h"}, []string{"/h/.claude/.credentials.json"}, "login"},
		{map[string]string{"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, []string{"/h/.claude/.credentials.json"}, ""},
		{map[string]string{"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, []string{"/c/.credentials.json"}, "login"},
		{map[string]string{"HOME": "/h", "ANTHROPIC_API_KEY": "k"}, []string{"/h/.claude/.credentials.json"}, "api key"},
		{map[string]string{"HOME": "/h", "CLAUDE_CODE_OAUTH_TOKEN": "k"}, nil, "login"},
	} {
		got, note := loginOn(func(k string) string { return c.env[k] },
			func(path string) bool { return slices.Contains(c.files, filepath.ToSlash(path)) })
		if got != c.want || note == "" {
			t.Errorf("%v, %v: %q, %q", c.env, c.files, got, note)
		}
	}
}
