package plugin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	agentcodex "conclave/agent/codex"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/program"
	"conclave/internal/sample"
)

// person is somebody with a home, a project and the real programs, all of it
// their own.
type person struct {
	t                       *testing.T
	home, dir, bin, program string
}

var built struct {
	sync.Once
	dir, program string
	err          error
}

// build makes the program once; TestMain takes it away.
func build() (string, error) {
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "conclave-plugin-"); built.err == nil {
			built.program, built.err = program.Build(built.dir)
		}
	})
	return built.program, built.err
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func newPerson(t *testing.T) *person {
	t.Helper()
	sample.Long(t)
	made, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, home: t.TempDir(), dir: t.TempDir(), bin: t.TempDir(), program: made}
	claude, err := clients.Claude(clients.ClaudeNew)
	if err == nil {
		err = os.Symlink(claude, filepath.Join(p.bin, "claude"))
	}
	codex, e := clients.Codex()
	if e == nil {
		codex, e = agentcodex.Locate(codex)
	}
	if err = errors.Join(err, e, os.Symlink(codex, filepath.Join(p.bin, "codex"))); err != nil {
		t.Fatal(err)
	}
	return p
}

// env is all that a program gets of the person.
func (p *person) env(more ...string) []string {
	return append([]string{"HOME=" + p.home, "PATH=" + p.bin + ":/usr/bin:/bin", "TMPDIR=" + p.bin,
		"ANTHROPIC_API_KEY=a-key-that-opens-nothing", "STUB_KEY=a-key-that-opens-nothing",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}, more...)
}

// run runs a program to its end.
func (p *person) run(code int, env []string, name string, args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = p.dir, env
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		p.t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (p *person) conclave(code int, args ...string) string {
	p.t.Helper()
	return p.run(code, p.env(), p.program, args...)
}

// tree is every file below a directory with its bytes.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			found[name] = "a directory"
			return err
		}
		text, err := os.ReadFile(name)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// client is a real program and how it is asked once.
type client struct {
	name string
	ask  func(p *person, stub *modelstub.Server, prompt string) string
	// prefix is before the name of a tool of the server, as the model is offered it.
	prefix string
}

var real = []client{
	{"claude", func(p *person, stub *modelstub.Server, prompt string) string {
		return p.run(0, p.env("ANTHROPIC_BASE_URL="+stub.URL(), "ENABLE_TOOL_SEARCH=false"), filepath.Join(p.bin, "claude"),
			"-p", prompt, "--model", "claude-sonnet-4-5", "--allowedTools", "mcp__plugin_conclave_conclave")
	}, "mcp__plugin_conclave_conclave__"},
	{"codex", func(p *person, stub *modelstub.Server, prompt string) string {
		set := func(key, value string) string { return "-c" + key + "=" + value }
		return p.run(0, p.env(), filepath.Join(p.bin, "codex"), "exec", "--skip-git-repo-check",
			"--dangerously-bypass-hook-trust", set("model", `"gpt-5"`), set("model_provider", `"stub"`),
			set("model_providers.stub", fmt.Sprintf(`{name="stub", base_url=%q, env_key="STUB_KEY", wire_api="responses"}`,
				stub.URL()+"/v1")), set("approval_policy", `"never"`), prompt)
	}, "mcp__conclave__"},
}

// inputs are what the model calls each tool of the server with.
var inputs = map[string]string{
	"audit":        `{}`,
	"checkpoint":   `{"stage":"draft","expect":"A bridge is described.","work":["plan.md"]}`,
	"confront":     `{"work":["plan.md"]}`,
	"consult":      `{"who":"cat","message":"What can break here?"}`,
	"council":      `{"message":"Is the bridge safe?"}`,
	"gate":         `{"work":["plan.md"]}`,
	"query":        `{"sql":"SELECT count(*) AS n FROM transcript"}`,
	"query_schema": `{}`,
	"quest_log":    `{"text":"A bridge was drawn"}`,
	"quest_status": `{}`,
	"room_show":    `{"role":"dragon","work":["plan.md"]}`,
	"search":       `{"words":"bridge"}`,
	"table_status": `{}`,
	"usage":        `{}`,
}

// caller is a model that calls every tool of the server once, in two turns, and
// then says something that is looked for.
type caller struct {
	mu      sync.Mutex
	prefix  string
	offered []string
	turns   [][]string
	results map[string]modelstub.ToolResult
	unknown []string
}

// last are the tools that read what the others have done.
var last = []string{"audit", "query", "search", "usage"}

const lastWord = "The ferry leaves at noon."

func (c *caller) answer(r modelstub.Request) modelstub.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Auxiliary() {
		return modelstub.Answer(modelstub.Say("ok"))
	}
	if c.offered == nil {
		c.turns = make([][]string, 2)
		for _, tool := range r.Tools() {
			if name, ok := strings.CutPrefix(tool, c.prefix); ok {
				c.offered = append(c.offered, name)
				turn := 0
				if slices.Contains(last, name) {
					turn = 1
				}
				c.turns[turn] = append(c.turns[turn], name)
			}
		}
		slices.Sort(c.offered)
	}
	for _, result := range r.ToolResults() {
		c.results[strings.TrimPrefix(result.ID, "call_")] = result
	}
	if len(c.turns) == 0 {
		return modelstub.Answer(modelstub.Say(lastWord))
	}
	var calls []modelstub.Block
	for _, name := range c.turns[0] {
		input := inputs[name]
		if input == "" {
			c.unknown, input = append(c.unknown, name), "{}"
		}
		calls = append(calls, modelstub.Call(c.prefix+name, "call_"+name, input))
	}
	c.turns = c.turns[1:]
	return modelstub.Answer(calls...)
}

// served are the tools that the server itself names.
func (p *person) served() []string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.program, "mcp")
	cmd.Dir, cmd.Env = p.dir, p.env()
	in, err := cmd.StdinPipe()
	out, e := cmd.StdoutPipe()
	if err = errors.Join(err, e); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	ask := func(request string) []byte {
		if _, err := io.WriteString(in, request+"\n"); err != nil {
			p.t.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		return line
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"test","version":"1"}}}`)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		p.t.Fatal(err)
	}
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), &answer); err != nil {
		p.t.Fatal(err)
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, tool := range answer.Result.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

const quest = `---
campaign-mode: Ship
phase: 3
created: 2026-02-14
---

# Crossing

## Quest Narrative

Once.

## Success Criteria

1. A bridge stands in plan.md

## Anticipated Dragon

Fog.

## Party Assignments

## Progress Log

- **Phase 1 complete** — Quest defined (2026-02-14)
`

// own is what the person had in a client before, with a hook of their own.
func (p *person) own() map[string]string {
	return map[string]string{
		filepath.Join(p.home, ".claude", "settings.json"): `{"cleanupPeriodDays": 400, "hooks": {"Stop": [{"hooks": [` +
			`{"type": "command", "command": "touch ` + filepath.Join(p.bin, "claude-stopped") + `"}]}]}}`,
		filepath.Join(p.home, ".codex", "config.toml"): "# mine\nhide_agent_reasoning = true\n",
		filepath.Join(p.dir, "plan.md"):                "A bridge stands here.\n",
		filepath.Join(p.dir, ".campaign", "quest.md"):  quest,
	}
}

// TestInTheClient: the plugin is valid, goes into the real program beside what the
// person has there, its tools are all called, the session is on the record by the
// hooks alone, and when it is taken out nothing of ours stays and what the program
// keeps is listed.
func TestInTheClient(t *testing.T) {
	for _, i := range sample.Pick(t, len(real), 0, 1) {
		t.Run(real[i].name, func(t *testing.T) { throughAll(t, real[i]) })
	}
}

func throughAll(t *testing.T, c client) {
	p := newPerson(t)
	for name, text := range p.own() {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	adopt(t)
	before := tree(t, p.home)
	p.conclave(0, "install", c.name)
	market := filepath.Join(p.home, ".local", "share", "conclave", "plugin", "market")
	if c.name == "claude" {
		p.run(0, p.env(), filepath.Join(p.bin, "claude"), "plugin", "validate", "--profile", "directory",
			filepath.Join(market, "conclave"))
		p.run(0, p.env(), filepath.Join(p.bin, "claude"), "plugin", "validate", "--strict", market)
	}
	model := &caller{prefix: c.prefix, results: map[string]modelstub.ToolResult{}}
	stub := modelstub.New(model.answer)
	defer stub.Close()
	c.ask(p, stub, "Call every tool.")
	model.check(t, p.served())
	p.recorded(p.dir, lastWord)
	for _, args := range [][]string{{"search", "ferry", "noon"}, {"usage", "--by", "session"}, {"transcript", "verify"}} {
		p.conclave(0, args...)
	}
	if _, err := os.Stat(filepath.Join(p.bin, "claude-stopped")); c.name == "claude" && err != nil {
		t.Errorf("the person's own hook did not run: %v", err)
	}
	var done struct{ Left, LeftOtherwise []string }
	out := p.conclave(0, "uninstall", c.name, "--json")
	if err := json.Unmarshal([]byte(out), &done); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.checkLeft(before, tree(t, p.home), done.Left, market)
	for name, text := range p.own() {
		now, err := os.ReadFile(name)
		if err != nil || strings.HasSuffix(name, ".toml") && !strings.Contains(string(now), text) ||
			strings.HasSuffix(name, ".json") && !strings.Contains(string(now), "claude-stopped") {
			t.Errorf("what the person had in %s is not there any more: %v\n%s", name, err, now)
		}
	}
}

// check holds what was called against what the server has.
func (c *caller) check(t *testing.T, served []string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.offered)
	if !slices.Equal(c.offered, served) || len(served) < 10 {
		t.Errorf("the client offers %v, and the server has %v", c.offered, served)
	}
	if len(c.unknown) > 0 {
		t.Errorf("say what these are called with: %v", c.unknown)
	}
	for _, name := range served {
		result, ok := c.results[name]
		if !ok || result.IsError || result.Text == "" {
			t.Errorf("%s answers (%v, an error: %v)\n%s", name, ok, result.IsError, result.Text)
		}
	}
}

// checkLeft finds nothing of ours in a home, and nothing new that is not listed.
func (p *person) checkLeft(before, after map[string]string, left []string, market string) {
	p.t.Helper()
	if _, err := os.Stat(filepath.Dir(market)); err == nil {
		p.t.Errorf("%s is still there", filepath.Dir(market))
	}
	ours := []string{filepath.Join(p.home, ".cache"), filepath.Join(p.home, ".cache", "conclave"), filepath.Join(p.home, ".local")}
	for name := range after {
		_, was := before[name]
		listed := slices.ContainsFunc(append(ours, left...), func(l string) bool {
			return name == l || l != ours[0] && strings.HasPrefix(name, l+"/")
		})
		if !was && !listed {
			p.t.Errorf("%s is new in the person's home, and not listed in %v", name, left)
		}
	}
}

// adopt has the processes that hooks leave behind come to this one when their
// parents end, so that it can wait for them.
func adopt(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
}

// behind are the processes of hooks that came to this one and have not ended.
func (p *person) behind() (pids []int) {
	p.t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(lists) == 0 {
		p.t.Fatalf("no lists of children: %v", err)
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, child := range strings.Fields(string(text)) {
			// A process that has ended has no arguments any more, and need not be waited for.
			args, err := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
			pid, e := strconv.Atoi(child)
			if errors.Join(err, e) == nil && bytes.Contains(args, []byte(p.program)) && bytes.Contains(args, []byte("hook")) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// recorded waits for the processes that record, and finds words on a record.
func (p *person) recorded(root, words string) {
	p.t.Helper()
	for pids := p.behind(); len(pids) > 0; pids = p.behind() { // one may have started another
		for _, pid := range pids {
			if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
				p.t.Fatalf("wait for process %d, which records: %v", pid, err)
			}
		}
	}
	var list []struct{ Run string }
	if err := json.Unmarshal([]byte(p.conclave(0, "record", "list", "--root", root, "--json")), &list); err != nil {
		p.t.Fatal(err)
	}
	var out string
	for _, r := range list {
		out = p.conclave(0, "record", "show", r.Run, "--root", root)
		if strings.Contains(out, words) {
			return
		}
	}
	p.t.Fatalf("%q is on none of %d records:\n%s", words, len(list), out)
}
