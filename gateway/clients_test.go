package gateway_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/price"
	"conclave/internal/sample"
	"conclave/toolbox"
)

// place is a private home and working directory for one program.
type place struct{ root string }

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t.TempDir()}
	for _, dir := range []string{"home", "tmp", "work"} {
		if err := os.Mkdir(filepath.Join(p.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p place) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(p.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run starts a program with nothing but env, and returns all that it wrote.
func (p place) run(t *testing.T, stdin string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(p.root, "work")
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(p.root, "home"), "TMPDIR=" + filepath.Join(p.root, "tmp"),
		"SHELL=/bin/sh", "LANG=C.UTF-8", "no_proxy=127.0.0.1"}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Logf("%s: %v", filepath.Base(name), err) // an error is what some cases want to see
	}
	if ctx.Err() != nil {
		t.Fatalf("the program did not end in time; it wrote:\n%s", out.String())
	}
	return out.String()
}

// client is a real program that talks through a gateway.
type client struct {
	name, version string
	kind          gateway.Kind
	run           func(t *testing.T, d *door, prompt string) string
	// own is what the program itself says of an input that does not fit; empty:
	// it leaves that to the room.
	own string
}

func realClients() []client {
	return []client{
		{"claude", clients.ClaudeNew, gateway.Anthropic, claude(clients.ClaudeNew), ""},
		{"claude", clients.ClaudeOld, gateway.Anthropic, claude(clients.ClaudeOld), ""},
		{"codex", clients.CodexOnly, gateway.OpenAI, codex, ""},
		{"qwen", "", gateway.Chat, qwen, "equal to one of the allowed values"},
		{"copilot", "", gateway.Chat, copilot, ""},
		{"opencode", "", gateway.Chat, opencode, ""},
		{"gemini", "", gateway.Gemini, gemini, "equal to one of the allowed values"},
	}
}

// find returns the path of a program that must be there.
func find(t *testing.T, where func() (string, error)) string {
	t.Helper()
	path, err := where()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// gemini and what was made of it have the same settings.
func geminiSettings(d *door) string {
	return fmt.Sprintf(`{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},
		"mcpServers":{"room":{"httpUrl":"%s/mcp","headers":{"Authorization":"Bearer %s"},"trust":true}}}`, d.url, d.Token())
}

func gemini(t *testing.T, d *door, prompt string) string {
	t.Helper()
	p := newPlace(t)
	p.write(t, "home/.gemini/settings.json", geminiSettings(d))
	return p.run(t, "", []string{"GOOGLE_GEMINI_BASE_URL=" + d.url, "GEMINI_API_KEY=" + d.Token(), "GEMINI_CLI_TRUST_WORKSPACE=true"},
		find(t, clients.Gemini), "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt)
}

func qwen(t *testing.T, d *door, prompt string) string {
	t.Helper()
	p := newPlace(t)
	p.write(t, "home/.qwen/settings.json", strings.Replace(geminiSettings(d), "gemini-api-key", "openai", 1))
	return p.run(t, "", []string{"OPENAI_BASE_URL=" + d.url + "/v1", "OPENAI_API_KEY=" + d.Token(), "OPENAI_MODEL=stub-model"},
		find(t, clients.Qwen), "--auth-type", "openai", "--approval-mode", "yolo", "-p", prompt)
}

func copilot(t *testing.T, d *door, prompt string) string {
	t.Helper()
	p := newPlace(t)
	mcp := p.write(t, "room.json", fmt.Sprintf(
		`{"mcpServers":{"room":{"type":"http","url":"%s/mcp","headers":{"Authorization":"Bearer %s"},"tools":["*"]}}}`, d.url, d.Token()))
	return p.run(t, "", []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + d.url + "/v1", "COPILOT_PROVIDER_API_KEY=" + d.Token(),
		"COPILOT_MODEL=stub-model", "COPILOT_AUTO_UPDATE=false"},
		find(t, clients.Copilot), "-p", prompt, "--allow-all-tools", "--additional-mcp-config", "@"+mcp)
}

func opencode(t *testing.T, d *door, prompt string) string {
	t.Helper()
	p := newPlace(t)
	p.write(t, "home/.config/opencode/opencode.json", fmt.Sprintf(`{"autoupdate":false,"share":"disabled",
		"model":"room/stub-model","small_model":"room/stub-model",
		"provider":{"room":{"npm":"@ai-sdk/openai-compatible","name":"Room","options":{"baseURL":"%[1]s/v1","apiKey":"%[2]s"},
			"models":{"stub-model":{"name":"Stub","reasoning":true,"tool_call":true}}}},
		"mcp":{"room":{"type":"remote","url":"%[1]s/mcp","headers":{"Authorization":"Bearer %[2]s"},"oauth":false}}}`, d.url, d.Token()))
	return p.run(t, "", []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
		find(t, clients.OpenCode), "run", "--format", "json", prompt)
}

func claude(version string) func(*testing.T, *door, string) string {
	return func(t *testing.T, d *door, prompt string) string {
		t.Helper()
		path, err := clients.Claude(version)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlace(t)
		mcp := p.write(t, "room.json", fmt.Sprintf(
			`{"mcpServers":{"room":{"type":"http","url":"%s/mcp","headers":{"Authorization":"Bearer %s"}}}}`, d.url, d.Token()))
		return p.run(t, prompt, []string{
			"ANTHROPIC_API_KEY=" + d.Token(), "ANTHROPIC_BASE_URL=" + d.url, "IS_SANDBOX=1",
			"CLAUDE_CONFIG_DIR=" + filepath.Join(p.root, "home", ".claude"), "CLAUDE_CODE_TMPDIR=" + filepath.Join(p.root, "tmp"),
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
			"DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_MAX_RETRIES=1",
		}, path, "-p", "--bare", "--strict-mcp-config", "--mcp-config", mcp, "--tools", "", "--allowedTools", "mcp__room__submit",
			"--permission-mode", "dontAsk", "--output-format", "stream-json", "--verbose", "--model", model)
	}
}

const codexConfig = `model = "gpt-5-codex"
model_provider = "room"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
web_search = "disabled"

[model_providers.room]
name = "room"
base_url = "%[1]s/v1"
env_key = "ROOM_TOKEN"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[mcp_servers.room]
url = "%[1]s/mcp"
bearer_token_env_var = "ROOM_TOKEN"
default_tools_approval_mode = "approve"

[analytics]
enabled = false
[features]
plugins = false
remote_plugin = false
apps = false
plugin_discovery_prefetch = false
`

func codex(t *testing.T, d *door, prompt string) string {
	t.Helper()
	path, err := clients.Codex()
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	p.write(t, "home/.codex/config.toml", fmt.Sprintf(codexConfig, d.url))
	return p.run(t, prompt, []string{"CODEX_HOME=" + filepath.Join(p.root, "home", ".codex"), "ROOM_TOKEN=" + d.Token()},
		path, "exec", "--json", "--skip-git-repo-check", "-")
}

// submit is a box with one tool that keeps what it was given.
func submit(t *testing.T, token string, events toolbox.Events, got *[]string) *toolbox.Toolbox {
	t.Helper()
	box, err := toolbox.New(toolbox.Options{Token: token, Events: events, Tools: []toolbox.Tool{{
		Name: "submit", Description: "Submit the verdict.",
		Schema: json.RawMessage(`{"type":"object","properties":{"verdict":{"type":"string","enum":["accept","reject"]},"score":{"type":"integer","minimum":0,"maximum":10}},"required":["verdict"],"additionalProperties":false}`),
		Handle: func(_ context.Context, in json.RawMessage) (string, error) {
			*got = append(*got, string(in))
			return "the verdict is on the record", nil
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// The real programs speak through the gateway and call a tool of the room:
// first with an input that does not fit, then with one that does. Each API of
// the gateway, and of the stub that answers here, is spoken by one of them.
func TestRealClientsCallATool(t *testing.T) {
	sample.Long(t)
	for _, kind := range gateway.Kinds() {
		if !slices.ContainsFunc(realClients(), func(c client) bool { return c.kind == kind }) {
			t.Errorf("no real program speaks %s", kind)
		}
	}
	all := realClients()
	for _, i := range sample.Pick(t, len(all), 0, 3) {
		c := all[i]
		t.Run(strings.TrimSpace(c.name+" "+c.version), func(t *testing.T) {
			t.Parallel()
			var results []string
			say := modelstub.Script(
				modelstub.Answer(modelstub.Call("mcp__room__submit", "", `{"verdict":"maybe"}`)),
				modelstub.Answer(modelstub.Call("mcp__room__submit", "", `{"verdict":"reject","score":7}`)),
				modelstub.Answer(modelstub.Say("The verdict is in: zażółć 🐉.")),
			)
			stub := modelstub.New(func(r modelstub.Request) modelstub.Reply {
				reply := say(r)
				if r.Auxiliary() {
					return reply
				}
				for _, tr := range r.ToolResults() {
					results = append(results, tr.Text)
				}
				for i, b := range reply.Blocks { // each program has a name of its own for a tool of the room
					for _, offered := range r.Tools() {
						if b.Name != "" && strings.HasSuffix(offered, "submit") {
							reply.Blocks[i].Name = offered
						}
					}
				}
				return reply
			})
			defer stub.Close()
			token := "room-token-" + strings.Repeat("7", 20)
			var got []string
			record := &memory{}
			box := submit(t, token, record, &got)
			d := openAt(t, gateway.Options{
				Upstream: gateway.Upstream{Kind: c.kind, BaseURL: stub.URL()}, Token: token,
				Tools: box, Blobs: record, Events: record,
			})
			out := c.run(t, d, "Judge the work, please.")
			if !strings.Contains(out, "The verdict is in: zażółć 🐉.") {
				t.Errorf("the program did not show the answer:\n%s", out)
			}
			if want := `{"verdict":"reject","score":7}`; len(got) != 1 || got[0] != want {
				t.Errorf("the tool got %q, want one %s", got, want)
			}
			told := cmp.Or(c.own, `verdict: expected one of "accept", "reject"`)
			if len(results) != 2 || !strings.Contains(results[0], told) ||
				!strings.Contains(results[1], "the verdict is on the record") {
				t.Errorf("the model was told %q", results)
			}
			compareWithStub(t, record, stub)
			checkClean(t, d, record, stub)
		})
	}
}

// compareWithStub holds the record against what the model's server saw.
func compareWithStub(t *testing.T, record *memory, stub *modelstub.Server) {
	t.Helper()
	seen := stub.Exchanges()
	sent, received := record.bodies("gateway.request"), record.bodies("gateway.response")
	if len(seen) == 0 || len(sent) != len(seen) || len(received) < len(seen) {
		t.Fatalf("the server saw %d requests; the record has %d and %d answers", len(seen), len(sent), len(received))
	}
	for i, x := range seen {
		if !bytes.Equal(sent[i], x.Request.Body) {
			t.Errorf("request %d: the record differs from what the server got", i)
		}
		h := x.Request.Header
		if key := h.Get("X-Api-Key") + h.Get("X-Goog-Api-Key") + strings.TrimPrefix(h.Get("Authorization"), "Bearer "); key != realKey {
			t.Errorf("request %d came with the key %q", i, key)
		}
	}
	all := bytes.Join(received, nil)
	for i, x := range seen {
		if !bytes.Contains(all, x.Sent) {
			t.Errorf("answer %d: the record differs from what the server sent", i)
		}
	}
}

// checkClean wants neither the key nor a refusal, and a sum that is right. A
// program may have asked for a title beside its three calls.
func checkClean(t *testing.T, d *door, record *memory, stub *modelstub.Server) {
	t.Helper()
	if strings.Contains(record.all(), realKey) {
		t.Error("the key is on the record")
	}
	s := d.Observed()
	if s.Refused != 0 {
		t.Errorf("refused: %+v", s.Refusals)
	}
	calls := 0
	for _, r := range stub.Requests() {
		if !strings.Contains(strings.ToLower(r.Path), "count") {
			calls++
		}
	}
	if s.Calls != calls || calls < 3 || calls > 4 || s.Usage.Input != int64(100*calls) || s.Usage.Output != int64(10*calls) || s.Estimated {
		t.Errorf("observed %d of %d calls, %+v", s.Calls, calls, s.Usage)
	}
	for _, x := range s.Exchanges {
		t.Logf("%s %s %s %d → %d, %d bytes, first after %.1f ms %s", x.ID, x.Method, x.Path, x.RequestBytes, x.Status, x.ResponseBytes, x.FirstByteMS, x.Error)
	}
}

// A refusal reaches the person through what the real programs show, at once.
func TestRealClientsShowRefusals(t *testing.T) {
	sample.Long(t)
	all := slices.DeleteFunc(realClients(), func(c client) bool {
		// The first shows errors as the new one does, Copilot tells a 403 in words
		// of its own (it is the key, it says), and all three are slow to start.
		return c.version == clients.ClaudeOld || c.name == "opencode" || c.name == "copilot"
	})
	for _, i := range sample.Pick(t, len(all), 0, 2) {
		c := all[i]
		for name, o := range map[string]gateway.Options{
			"model":  {Models: []string{"another-model"}},
			"budget": {Budget: gateway.Budget{USD: 0.01, Tokens: 1}, Prices: price.List{}},
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				stub := modelstub.New(modelstub.Script(modelstub.Answer(modelstub.Call("mcp__room__submit", "", `{"verdict":"accept"}`))))
				defer stub.Close()
				o.Upstream = gateway.Upstream{Kind: c.kind, BaseURL: stub.URL()}
				o.Token = "room-token-" + strings.Repeat("8", 20)
				var got []string
				o.Tools = submit(t, o.Token, nil, &got)
				d := openAt(t, o)
				out := c.run(t, d, "Hello.")
				want := map[string]string{"model": "is not allowed in this room (allowed: another-model)", "budget": "the budget of 1 tokens does not cover this request"}[name]
				if !strings.Contains(out, want) {
					t.Errorf("the program does not show %q:\n%s", want, out)
				}
				if n := d.Observed().Refused; n == 0 || n > 2 { // it does not ask again and again
					t.Errorf("there were %d refusals", n)
				}
			})
		}
	}
}
