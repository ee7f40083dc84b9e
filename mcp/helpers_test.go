package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/app"
	"conclave/mcp"
	"conclave/record"
	"conclave/transcript"
)

func TestMain(m *testing.M) {
	app.Init() // rooms are this program again
	code := m.Run()
	if bin != "" {
		os.RemoveAll(bin)
	}
	os.Exit(code)
}

const questText = `---
campaign-mode: Ship
phase: 3
created: 2026-02-14
---

# Checked

## Quest Narrative

Once.

## Success Criteria

1. A report (check: ` + "`test -s work/report.txt`" + `)
2. It names who wrote it (check: ` + "`grep -q Mara work/report.txt`" + `)

## Anticipated Dragon

Fog.

## Party Assignments

## Progress Log

- **Phase 1 complete** — Quest defined (2026-02-14)
`

// party is everybody's script, where the embedded party is not enough.
const party = `as wolf
turn
  stall
as cat
always
  say The cat has looked.
`

// place is a person's machine: a workspace with a quest, a home, another workspace.
type place struct {
	t    *testing.T
	root string
	env  map[string]string
	me   *app.App // the person
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base := t.TempDir()
	p := &place{t: t, root: filepath.Join(base, "project"), env: map[string]string{
		"HOME": filepath.Join(base, "home"), "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8",
		"CONCLAVE_TEST_KEY": "sk-ant-api03-" + keyCanary,
	}}
	p.write(".campaign/quest.md", questText)
	p.write("work/report.txt", "Made by Mara.\n")
	p.write("README.md", "# A project\n\nIt has a report.\n")
	p.git("init", "-q")
	p.git("add", ".")
	p.git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first")
	p.me = p.at(p.root)
	return p
}

// at is the person in a directory.
func (p *place) at(dir string) *app.App {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	return &app.App{Dir: dir, Root: dir, Getenv: func(k string) string { return p.env[k] }, Version: "test",
		Stdin: strings.NewReader("")}
}

func (p *place) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), "HOME="+p.env["HOME"], "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// trust is the person's yes to all that the workspace asks for.
func (p *place) trust() {
	p.t.Helper()
	t, err := p.me.Trust()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := t.Grant(); err != nil {
		p.t.Fatal(err)
	}
}

// scripted lets a script play, and trusts it.
func (p *place) scripted(script string) {
	p.write("conclave.yaml", "agents:\n  default: {agent: scripted, script: party.script}\n")
	p.write("party.script", script)
	p.trust()
}

func (p *place) server(r app.Remote) *mcp.Server {
	p.t.Helper()
	a, err := r.Here(p.t.Context(), p.me)
	if err != nil {
		p.t.Fatal(err)
	}
	return mcp.New(a)
}

// client is the SDK's own, with every notification and message kept.
type client struct {
	*sdk.ClientSession
	t     *testing.T
	mu    sync.Mutex
	heard []string // progress
}

// connect joins the SDK's client to a server in memory.
func connect(t *testing.T, s *mcp.Server) *client {
	t.Helper()
	theirs, ours := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	serverDone := make(chan error, 1)
	go func() { serverDone <- mcp.Run(ctx, s, theirs) }()
	c := newClient(t)
	c.dial(ours)
	t.Cleanup(func() {
		_ = c.Close()
		cancel()
		<-serverDone
	})
	return c
}

func newClient(t *testing.T) *client { return &client{t: t} }

func (c *client) dial(tr sdk.Transport) {
	c.t.Helper()
	cl := sdk.NewClient(&sdk.Implementation{Name: "probe", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.heard = append(c.heard, r.Params.Message)
		},
	})
	var err error
	if c.ClientSession, err = cl.Connect(c.t.Context(), tr, nil); err != nil {
		c.t.Fatal(err)
	}
}

func newPipe() (server, client sdk.Transport) {
	a, b := sdk.NewInMemoryTransports()
	return a, b
}

// awaitHolder waits until a call is at the quest.
func (p *place) awaitHolder(verb string) {
	p.t.Helper()
	for {
		st, err := p.me.QuestStatus(p.t.Context())
		if err == nil && strings.Contains(st.Holder, verb) && len(st.Open) > 0 {
			return
		}
		if p.t.Context().Err() != nil {
			p.t.Fatal("nobody came to the quest")
		}
		runtime.Gosched()
	}
}

// said is a tool's answer, as JSON.
type said struct {
	Exit     int    `json:"exit"`
	Error    string `json:"error"`
	IsError  bool   `json:"-"`
	Text     string `json:"-"`
	raw      json.RawMessage
	Verdict  string `json:"verdict"`
	Said     []string
	Findings []struct {
		Number int
		Status string
	}
	Leaks []struct {
		Where string
		Line  int
	}
	Hits []struct{ Run, Snippet, Role string }
	Rows [][]any
	Next []any
}

func (c *client) call(tool string, args any) said {
	c.t.Helper()
	s, err := c.try(c.t.Context(), tool, args)
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, args, err)
	}
	return s
}

func (c *client) try(ctx context.Context, tool string, args any) (s said, err error) {
	params := &sdk.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken("p-" + tool)
	res, err := c.CallTool(ctx, params)
	if err != nil {
		return s, err
	}
	if s.raw, err = json.Marshal(res.StructuredContent); err != nil {
		return s, err
	}
	if err := json.Unmarshal(s.raw, &s); err != nil {
		return s, err
	}
	s.IsError = res.IsError
	for _, x := range res.Content {
		if text, ok := x.(*sdk.TextContent); ok {
			s.Text += text.Text
		}
	}
	return s, nil
}

type args = map[string]any

// putRecord makes a sealed record with those attributes in which words were said.
func putRecord(t *testing.T, root, run, words string, attributes map[string]string) {
	t.Helper()
	path, err := record.Path(root, run)
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(path, record.Header{Run: run, Program: "test", Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	e, err := transcript.NewEmitter(transcript.Options{PromptName: "quest." + words, Adapter: transcript.AdapterScripted, Store: w})
	if err != nil {
		t.Fatal(err)
	}
	detail, err := json.Marshal(map[string]any{"text": "they said " + words})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Emit(transcript.Item{Type: transcript.AssistantMessage, Detail: detail, Raw: detail}); err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seal("done"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// read is the text of a resource, "" for one that is not there.
func (c *client) read(uri string) string {
	res, err := c.ReadResource(c.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return ""
	}
	var text string
	for _, x := range res.Contents {
		text += x.Text
	}
	return text
}
