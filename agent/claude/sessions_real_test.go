package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/internal/jsontext"
	"conclave/internal/modelstub"
	"conclave/transcript"
)

func echo(r modelstub.Request) modelstub.Reply {
	if r.Auxiliary() {
		return modelstub.Answer(modelstub.Say("ok"))
	}
	return modelstub.Answer(modelstub.Say("You said: " + r.LastUser()))
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, config: Config{SlashCommands: true}, handler: echo})
		r.must("first")
		r.must("second")
		before := r.must("/compact").Usage
		after := r.must("third")
		r.stop()
		subtypes := map[string]int{}
		users := 0
		for _, e := range r.store.Entries() {
			if e.Type == transcript.SystemEvent {
				subtypes[string(jsontext.Bare(jsontext.Get(e.Detail, "subtype")))]++
			}
			if e.Type == transcript.UserMessage {
				users++
			}
		}
		if subtypes["compaction"] != 1 || subtypes["compaction_summary"] != 1 || subtypes["command"] == 0 {
			t.Errorf("system events %v", subtypes)
		}
		if users != 3 {
			t.Errorf("%d user messages, want those that were sent", users)
		}
		// The call that summarises stands in no file; the program counts it.
		if before.Output != 10 || after.Usage.Output != 10 {
			t.Errorf("compacting used %+v, the turn after it %+v", before, after.Usage)
		}
		r.wantUsage(4)
	})
}

func TestResumeAndFork(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		place := t.TempDir()
		one := start(t, setup{version: version, place: place, handler: echo})
		one.must("first")
		one.stop()
		id := one.session.Info().SessionID

		two := start(t, setup{version: version, place: place, handler: echo, spec: agent.Spec{Resume: id}})
		reply := two.must("second")
		two.stop()
		if two.session.Info().SessionID != id || !strings.HasSuffix(reply.Text, "second") {
			t.Errorf("resumed as %s with %q", two.session.Info().SessionID, reply.Text)
		}
		if reply.Usage.Output != 10 || reply.Usage.CostUSD <= 0 {
			t.Errorf("the resumed turn used %+v", reply.Usage)
		}
		if body := two.server.Requests()[0].Body; !bytes.Contains(body, []byte(`"first`)) {
			t.Error("the model was not given the history")
		}
		two.wantSequence("main", "user_message", "assistant_message", "token_usage")

		three := start(t, setup{version: version, place: place, handler: echo, spec: agent.Spec{Resume: id, Fork: true}})
		reply = three.must("third")
		three.stop()
		if three.session.Info().SessionID == id {
			t.Error("the fork has its parent's id")
		}
		if reply.Usage.Output != 10 {
			t.Errorf("the fork used %+v", reply.Usage)
		}
		three.wantSequence("main", "user_message", "assistant_message", "token_usage")
		three.accountForFiles() // what was copied is there, as repeated
		if fresh, err := os.ReadFile(mustSessionFile(t, place, id)); err != nil || bytes.Contains(fresh, []byte(`"third"`)) {
			t.Errorf("the fork wrote into its parent's file: %v", err)
		}
	})
}

func mustSessionFile(t *testing.T, place, id string) string {
	t.Helper()
	path, err := sessionFile(filepath.Join(place, "home", ".claude", "projects"), id)
	if err != nil || path == "" {
		t.Fatalf("no file of session %s: %v", id, err)
	}
	return path
}

func TestResumeOfNothing(t *testing.T) {
	r := prepare(t, setup{version: versions[0], handler: echo, spec: agent.Spec{Resume: "11111111-1111-4111-8111-111111111111"}})
	r.spec.Emitter = newEmitter(t, r)
	if _, err := r.agent.Start(t.Context(), r.spec); err == nil || !strings.Contains(err.Error(), "no file of it") {
		t.Errorf("start gives %v", err)
	}
}

func newEmitter(t *testing.T, r *rig) *transcript.Emitter {
	t.Helper()
	e, err := transcript.NewEmitter(transcript.Options{PromptName: "test", Adapter: r.agent.Adapter(), Store: r.store})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// noise is a picture that does not compress.
func noise(t *testing.T, side int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(rnd.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImage(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, handler: modelstub.Script(modelstub.Answer(modelstub.Say("Noise.")))})
		reply, err := r.sayMessage(agent.Message{Text: "What is in it?", Images: []agent.Image{{Type: "image/png", Data: noise(t, 8)}}})
		if err != nil || reply.Text != "Noise." {
			t.Errorf("reply %q, %v", reply.Text, err)
		}
		r.stop()
		r.wantSequence("main", "user_message", "assistant_message", "token_usage")
		if !bytes.Contains(r.server.Requests()[0].Body, []byte(`"image/png"`)) {
			t.Error("the model did not get the picture")
		}
	})
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		long := strings.Repeat("A word and another, \"quoted\"; \u2028 🐉\n", 32<<10)
		r := start(t, setup{version: version, spec: agent.Spec{Tools: agent.Tools{Builtin: []string{"Read"}}},
			handler: modelstub.Script(
				modelstub.Answer(modelstub.Call("Read", "toolu_1", `{"file_path":"noise.png"}`)),
				modelstub.Answer(modelstub.Say(long)))})
		if err := os.WriteFile(filepath.Join(r.spec.Place.Host, "work", "noise.png"), noise(t, 364), 0o644); err != nil {
			t.Fatal(err)
		}
		if reply := r.must("Look, then talk."); reply.Text != long {
			t.Errorf("reply of %d bytes, want %d", len(reply.Text), len(long))
		}
		r.stop()
		longest := 0
		for _, e := range r.store.Entries() {
			longest = max(longest, len(e.Raw))
		}
		if longest < 1<<20 {
			t.Errorf("the longest line has %d bytes", longest)
		}
	})
}

// The figures of a message that is still streaming are not its last: blocks
// that were written early say less than those that came at the end.
func TestUsageOfASlowMessage(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		hold := make(chan struct{})
		r := start(t, setup{version: version, handler: modelstub.Script(modelstub.Reply{Hold: hold,
			Blocks: []modelstub.Block{modelstub.Think("Slowly."), modelstub.Say("One."), modelstub.Say("Two.")}})})
		turn, err := r.session.Send(t.Context(), agent.Message{Text: "Take your time."})
		if err != nil {
			t.Fatal(err)
		}
		for held := true; ; {
			e, err := turn.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if held && e.Entry != nil && e.Entry.Type == transcript.AssistantMessage || held && strings.Contains(e.Delta, "Two") {
				held = false
				close(hold)
			}
		}
		if u := turn.Reply().Usage; u.Input != 100 || u.Output != 10 {
			t.Errorf("usage %+v", u)
		}
		r.stop()
		r.wantUsage(1)
	})
}

// mcpServer is a tool server with one tool, reached by a token.
func mcpServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer room-token" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		var q struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&q) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := "{}"
		switch q.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"room","version":"1"}}`, q.Params.ProtocolVersion)
		case "tools/list":
			result = `{"tools":[{"name":"submit","description":"Hand in.","inputSchema":{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}}]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"accepted"}]}`
		}
		if q.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
	}))
	t.Cleanup(s.Close)
	return s
}

// The tools of a room are on offer from the first request on, by name, whatever
// else the program has: none is left out, none has to be searched for first.
func TestMCPTool(t *testing.T) {
	t.Parallel()
	const tool = "mcp__room__submit"
	for _, c := range []struct {
		name, model      string
		builtin, offered []string
	}{
		{"alone", "", nil, []string{tool}},
		{"beside tools that bare rooms lack", "stub-model", []string{"Read", "Grep", "Glob"}, []string{"Glob", "Grep", "Read", tool}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachVersion(t, func(t *testing.T, version string) {
				tools := agent.Tools{Builtin: c.builtin, MCP: []agent.MCPServer{{Name: "room", URL: mcpServer(t).URL, Token: "room-token", Tools: []string{"submit"}}}}
				r := start(t, setup{version: version, spec: agent.Spec{Tools: tools, Model: agent.Model{Name: c.model}}, handler: modelstub.Script(
					modelstub.Answer(modelstub.Call(tool, "toolu_1", `{"answer":"seven"}`)),
					modelstub.Answer(modelstub.Say("Handed in.")))})
				r.must("Submit.")
				r.stop()
				r.wantSequence("main", "user_message", "tool_use "+tool, "token_usage", "tool_result", "assistant_message", "token_usage")
				first := r.server.Requests()[0]
				if got := slices.Sorted(slices.Values(first.Tools())); !slices.Equal(got, c.offered) {
					t.Errorf("tools on offer: %v, want %v", got, c.offered)
				}
				if got := r.server.Requests()[1].ToolResults(); len(got) != 1 || !strings.HasPrefix(got[0].Text, "accepted") {
					t.Errorf("the model was given %+v", got)
				}
			})
		})
	}
}

// Nothing that lies about in the workspace or the home reaches the model, and
// a message that looks like a command is words.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tools []string
		room  bool // with a tool server of the room
	}{{nil, false}, {[]string{"Bash"}, false}, {[]string{agent.AllTools}, false}, {[]string{"Read", "Grep", "Glob"}, true}} {
		t.Run(fmt.Sprint(c.tools, c.room), func(t *testing.T) {
			t.Parallel()
			eachVersion(t, func(t *testing.T, version string) {
				place := t.TempDir()
				tools := agent.Tools{Builtin: c.tools}
				if c.room {
					tools.MCP = []agent.MCPServer{{Name: "room", URL: mcpServer(t).URL, Token: "room-token"}}
				}
				memory := "home/.claude/projects/" + regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(filepath.Join(place, "work"), "-") + "/memory/MEMORY.md"
				hook := `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ` + place + `/hook-ran"}]}]}}`
				for name, text := range map[string]string{
					"work/CLAUDE.md": "XYZZY", "work/CLAUDE.local.md": "XYZZY", "work/.claude/settings.json": hook,
					"home/.claude/CLAUDE.md": "XYZZY", "home/.claude/settings.json": hook,
					"work/.mcp.json":                 `{"mcpServers":{"xyzzy":{"type":"http","url":"http://127.0.0.1:9/"}}}`,
					"home/.claude/agents/a.md":       "---\nname: xyzzy\ndescription: XYZZY\n---\nXYZZY",
					"work/.claude/agents/b.md":       "---\nname: xyzzy2\ndescription: XYZZY\n---\nXYZZY",
					"home/.claude/skills/s/SKILL.md": "---\nname: xyzzy\ndescription: XYZZY\n---\nXYZZY",
					"work/.claude/skills/s/SKILL.md": "---\nname: xyzzy\ndescription: XYZZY\n---\nXYZZY",
					"work/.claude/rules/r.md":        "XYZZY",
					"home/.claude/rules/r.md":        "XYZZY",
					"home/.claude.json":              `{"mcpServers":{"xyzzy":{"type":"http","url":"http://127.0.0.1:9/"}}}`,
					"home/.claude/.claude.json":      `{"mcpServers":{"xyzzy":{"type":"http","url":"http://127.0.0.1:9/"}}}`,
					memory:                           "XYZZY",
				} {
					path := filepath.Join(place, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				r := start(t, setup{version: version, place: place, spec: agent.Spec{System: "You are the owl.", Tools: tools}, handler: echo})
				reply := r.must("/help me")
				if !strings.Contains(reply.Text, "/help me") {
					t.Errorf("the model was told %q", reply.Text)
				}
				r.stop()
				for _, q := range r.server.Requests() {
					if i := bytes.Index(bytes.ToLower(q.Body), []byte("xyzzy")); i >= 0 {
						t.Errorf("leaked: …%s", q.Body[max(0, i-100):min(len(q.Body), i+100)])
					}
				}
				if exists(filepath.Join(place, "hook-ran")) {
					t.Error("a hook ran")
				}
			})
		})
	}
}

func TestStructuredAnswer(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"verdict":{"enum":["yes","no"]},"why":{"type":"string"}},"required":["verdict"],"additionalProperties":false}`)
	r := start(t, setup{version: versions[0], handler: modelstub.Script(
		modelstub.Answer(modelstub.Say("```json\n{\"verdict\": \"yes\", \"why\": \"it is\"}\n```")),
		modelstub.Answer(modelstub.Say(`{"verdict":"perhaps"}`)))})
	reply, err := r.sayMessage(agent.Message{Text: "Judge.", Schema: schema})
	if err != nil || string(reply.Structured) != `{"verdict":"yes","why":"it is"}` {
		t.Errorf("structured %s, %v", reply.Structured, err)
	}
	reply, err = r.sayMessage(agent.Message{Text: "Judge again.", Schema: schema})
	if err != nil || reply.Structured != nil {
		t.Errorf("an answer that does not fit gives %s, %v", reply.Structured, err)
	}
	if !strings.Contains(r.server.Requests()[0].LastUser(), `"verdict"`) {
		t.Error("the model was not told the schema")
	}
}
