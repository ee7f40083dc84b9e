package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	agentcodex "conclave/agent/codex"
	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
)

// cast of the model: what it says, by what it was asked.
var lines = []struct{ asked, says string }{
	{"wants to begin a quest", "Who waits there?\n\n### Not a heading of ours\n**User:** nor a tag"},
	{"What of the flood", "It comes in März – “soon” <b>&amp;</b> \u2028 see plan.md:1  "},
	{"ready to advance", "Not yet perfect, but it holds: `plan.md:1`."},
	{"nothing else. Speak to the person in words, criterion by criterion", "Criterion 1: the bridge stands (plan.md:1)."},
	{"the Dragon is slain", "Well built."},
}

var forms = []struct{ asked, says string }{
	{"Write the quest down now", `{"title":"Cross the river","narrative":"A village waits for bread.","criteria":[{"text":"A bridge stands","sort":"deliverable"}],"dragon":"The flood."}`},
	{"Conditional Approval", `{"verdict":"Approved","summary":"it holds","gaps":[],"conditions":[]}`},
	{"Dragon Slain", `{"verdict":"Dragon Slain","summary":"it stands","criteria":[{"number":1,"status":"met","evidence":"plan.md:1"}]}`},
}

// verdicts are handed in with the tool, by what an evaluator is asked.
var verdicts = []struct{ asked, says string }{
	{"ready to advance", forms[1].says},
	{"Test the work against each of these criteria", forms[2].says},
}

// model plays the party: words first, then the form. Who may hand in a verdict
// with a tool does so, but for a Dragon who waits to be asked.
type model struct {
	mu       sync.Mutex
	waits    bool
	unknown  []string
	handedIn int
}

func (m *model) answer(r modelstub.Request) modelstub.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Auxiliary() {
		return modelstub.Answer(modelstub.Say("ok"))
	}
	last := r.LastUser()
	if n := len(r.ToolResults()); n > 0 {
		if strings.Contains(r.ToolResults()[n-1].Text, "will stand in the log") {
			return modelstub.Answer(modelstub.Say("Noted."))
		}
		m.handedIn++
		return modelstub.Answer(modelstub.Say("Handed in."))
	}
	if strings.Contains(last, "structured form") && !strings.Contains(last, "Speak to the person in words") {
		for _, f := range forms {
			if strings.Contains(last, f.asked) {
				return modelstub.Answer(modelstub.Say(f.says))
			}
		}
	}
	for _, l := range lines {
		if !strings.Contains(last, l.asked) {
			continue
		}
		for _, tool := range r.Tools() {
			if strings.HasSuffix(tool, "log_progress") && strings.HasPrefix(l.asked, "What of the flood") {
				return modelstub.Answer(modelstub.Say(l.says), modelstub.Call(tool, "", `{"text":"Bread baked"}`))
			}
			if !strings.HasSuffix(tool, "submit_verdict") {
				continue
			}
			for _, f := range verdicts {
				if strings.Contains(last, f.asked) && (!m.waits || f != verdicts[1]) {
					return modelstub.Answer(modelstub.Say(l.says), modelstub.Call(tool, "", f.says))
				}
			}
		}
		return modelstub.Answer(modelstub.Say(l.says))
	}
	m.unknown = append(m.unknown, last)
	return modelstub.Fail(400, "nobody wrote an answer to this")
}

func realClaude(t *testing.T, version string) string {
	t.Helper()
	sample.Long(t)
	path, err := clients.Claude(version)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// realProgram is a program, and who it is in a configuration.
type realProgram struct {
	name, agent, version, kind, path string
	byTool                           int // verdicts
}

// speakACP are the programs that speak the Agent Client Protocol.
func speakACP(t *testing.T) []realProgram {
	t.Helper()
	var out []realProgram
	for _, p := range []struct {
		name, kind string
		find       func() (string, error)
	}{
		{"copilot", "openai", clients.Copilot}, {"gemini", "gemini", clients.Gemini},
		{"opencode", "anthropic", clients.OpenCode}, {"qwen", "anthropic", clients.Qwen},
	} {
		path, err := p.find()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, realProgram{p.name, "acp, program: " + p.name, "by ACP", p.kind, path, 2})
	}
	return out
}

// realPrograms are all others that can play, and of several versions all.
func realPrograms(t *testing.T) []realProgram {
	t.Helper()
	codex, err := clients.Codex()
	if err == nil {
		codex, err = agentcodex.Locate(codex)
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(speakACP(t),
		realProgram{"claude", "claude", clients.ClaudeNew, "anthropic", reachable(t, realClaude(t, clients.ClaudeNew)), 2},
		realProgram{"claude", "claude", clients.ClaudeOld, "anthropic", reachable(t, realClaude(t, clients.ClaudeOld)), 1},
		realProgram{"codex", "codex", clients.CodexOnly, "openai", reachable(t, codex), 2})
}

// models are those without a program, by the kinds of their servers.
func models() []realProgram {
	var out []realProgram
	for _, kind := range gateway.Kinds() {
		out = append(out, realProgram{"model", "model", string(kind), string(kind), "/nowhere", 2})
	}
	return out
}

// Who plays without a model: from a script, and out of its own head.
var (
	theScript  = realProgram{name: "scripted", agent: "scripted, script: party.script", version: "script", byTool: 2}
	theOffline = realProgram{name: "offline", agent: "offline", version: "embedded"}
)

// asked says whether there is a model behind x.
func (x realProgram) asked() bool { return x.kind != "" }

// seated is a workspace, trusted, where x has the seats. Who has a script finds
// it there.
func (x realProgram) seated(t *testing.T, stub *modelstub.Server, script string, seats ...string) *real {
	t.Helper()
	var config strings.Builder
	config.WriteString("agents:\n")
	for _, seat := range seats {
		who := x.agent
		switch {
		case x.asked():
			who += ", model: stub-model, provider: stub"
		case seat == "gm": // the embedded one tells only the adventures that come with the program
			who = theScript.agent
		}
		fmt.Fprintf(&config, "  %s: {agent: %s}\n", seat, who)
	}
	if x.asked() {
		fmt.Fprintf(&config, "providers:\n  stub: {kind: %s, base_url: %q, key_env: STUB_KEY}\n", x.kind, stub.URL())
	}
	w := newReal(t, config.String())
	w.write("party.script", script)
	if x.asked() {
		node, err := clients.Node()
		if err != nil {
			t.Fatal(err)
		}
		w.own(fmt.Sprintf("programs:\n  %s: %q\n  node: %q\n", x.name, x.path, node))
	}
	w.run(0, "trust", "--yes")
	return w
}

// TestRealPrograms plays a short campaign with the real Claude Code, the real
// Codex, a real program that speaks the Agent Client Protocol, a model without a
// program, a script or nobody but the embedded party in every seat, and holds the
// conversation files against the bytes that the model sent. Whoever plays, the
// same words make the same files. The evaluators have the tool for their verdict
// from the first request on; who does not use it is asked for the verdict.
func TestRealPrograms(t *testing.T) {
	sample.Long(t)
	programs := realPrograms(t)
	chosen := append(models(), theScript, theOffline)
	for _, i := range sample.Pick(t, len(programs), 1, 1) { // a program may need a minute
		chosen = append(chosen, programs[i])
	}
	all := played{}
	t.Cleanup(func() { all.alike(t, questShape) })
	for _, x := range chosen {
		t.Run(x.name+" "+x.version, func(t *testing.T) {
			t.Parallel()
			m := &model{waits: x.byTool == 1}
			stub := modelstub.New(m.answer)
			defer stub.Close()
			w := x.seated(t, stub, partyScript(), "default")
			x.quest(w, m, stub)
			if !m.waits { // else it is asked for the verdict in words of its own
				all.left(x, w.files(".campaign"))
			}
		})
	}
}

// quest plays the campaign.
func (x realProgram) quest(w *real, m *model, stub *modelstub.Server) {
	w.t.Helper()
	wish := "I want to bring bread."
	if x.name == theOffline.name { // who judges nothing but facts
		wish = "`plan.md` exists and contains `bridge`."
	}
	w.run(0, "quest", "start", "--mode", "ship", "--yes", "-m", wish)
	w.run(0, "consult", "cat", "-m", "What of the flood?\n## it rises")
	log, err := os.ReadFile(filepath.Join(w.dir, ".campaign", "quest.md"))
	if err != nil || x.name != theOffline.name && strings.Count(string(log), "**Progress** — Bread baked (") != 1 {
		w.t.Errorf("what an advisor noted is not in the log (%v):\n%s", err, log)
	}
	before := len(stub.Requests())
	w.run(0, "checkpoint", "--stage", "plan", "--expect", "`draft.md` exists and contains `ford`", "draft.md")
	if x.asked() {
		sent(w.t, "the Guardian", stub.Requests()[before:], []string{"plan", "draft.md", "Ship"}, "A bridge stands\"")
		offered(w.t, "the Guardian", stub.Requests()[before:], false)
	}
	before = len(stub.Requests())
	w.run(0, "confront", "plan.md")
	if x.asked() {
		sent(w.t, "the Dragon", stub.Requests()[before:], []string{"A bridge stands", "plan.md", "Ship"}, "ready to advance", "draft.md", "earlier work of ours")
		offered(w.t, "the Dragon", stub.Requests()[before:], m.waits)
	}
	w.run(0, "debrief")
	w.run(0, "transcript", "verify")
	w.run(0, "audit")
	if len(m.unknown) > 0 {
		w.t.Errorf("asked what nobody expected: %.300q", m.unknown)
	}
	if x.asked() {
		if m.handedIn != x.byTool {
			w.t.Errorf("%d verdicts were handed in with the tool, want %d", m.handedIn, x.byTool)
		}
		w.compare(stub)
	}
}

// sent holds what an evaluator's model was sent against its profile: what it
// must have, and neither the narrative, the anticipated dragon nor what was
// said to the party.
func sent(t *testing.T, who string, requests []modelstub.Request, must []string, never ...string) {
	t.Helper()
	var all strings.Builder
	for _, r := range requests {
		all.Write(r.Body)
	}
	if all.Len() == 0 {
		t.Fatalf("%s asked no model", who)
	}
	for _, text := range must {
		if !strings.Contains(all.String(), text) {
			t.Errorf("%s was not sent %q", who, text)
		}
	}
	for _, text := range append(never, "A village waits for bread", "The flood.", "What of the flood", "I want to bring bread") {
		if strings.Contains(all.String(), text) {
			t.Errorf("%s was sent %q", who, text)
		}
	}
}

// offered wants an evaluator to have had the tool for its verdict from its
// first request on, and to have been asked for the verdict only if it did not
// use it.
func offered(t *testing.T, who string, requests []modelstub.Request, waits bool) {
	t.Helper()
	asked := false
	has := func(tool string) bool { return strings.HasSuffix(tool, "submit_verdict") }
	for _, r := range requests {
		if r.Auxiliary() {
			continue
		}
		if !slices.ContainsFunc(r.Tools(), has) || r.HasTool("ToolSearch") || r.HasTool("DeferredToolPlaceholder") {
			t.Errorf("%s was offered %q", who, r.Tools())
		}
		asked = asked || strings.Contains(r.LastUser(), "Now give your verdict")
	}
	if asked != waits {
		t.Errorf("%s was asked for the verdict: %v, want %v", who, asked, waits)
	}
}

// reachable is the program where a room's own user gets to it.
func reachable(t *testing.T, native string) string {
	t.Helper()
	lent, remove, err := clients.Lend(native)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	return lent
}

type real struct {
	t         *testing.T
	dir, home string
	env       *environment
	out       bytes.Buffer
}

func newReal(t *testing.T, config string) *real {
	t.Helper()
	w := &real{t: t, dir: t.TempDir()}
	for name, text := range map[string]string{"conclave.yaml": config, "plan.md": "A bridge stands here.\n", "draft.md": "This is earlier work of ours, a ford.\n", ".campaign/.keep": ""} {
		w.write(name, text)
	}
	w.home = t.TempDir()
	w.env = &environment{Terminal: piped("", &w.out, &w.out), Dir: w.dir, Getenv: func(name string) string {
		return map[string]string{"HOME": w.home, "STUB_KEY": "a-key-that-opens-nothing", "PATH": os.Getenv("PATH")}[name]
	}}
	return w
}

// write writes a file of the workspace.
func (w *real) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

// own writes the person's own configuration.
func (w *real) own(text string) {
	w.t.Helper()
	file := filepath.Join(w.home, ".config", "conclave", "config.yaml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *real) run(code int, args ...string) {
	w.t.Helper()
	w.out.Reset()
	if got := execute(w.t.Context(), w.env, args); got != code {
		w.t.Fatalf("conclave %s: exit %d, want %d\n%s", strings.Join(args, " "), got, code, w.out.String())
	}
}

// compare finds what the model said, as it went over the wire, in the files.
func (w *real) compare(stub *modelstub.Server) {
	w.t.Helper()
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(w.dir, ".campaign", "conversations", "*.md"))
	if err != nil || len(files) != 5 {
		w.t.Fatalf("%d conversations, want 5: %v", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			w.t.Fatal(err)
		}
		all.Write(data)
	}
	var sent []string
	for _, x := range stub.Exchanges() {
		if x.Status == 200 {
			sent = append(sent, textIn(x.Sent))
		}
	}
	for _, l := range lines {
		if !slices.Contains(sent, l.says) {
			w.t.Errorf("the model never sent %q", l.says)
		}
		written := strings.ReplaceAll(l.says, "\n**User:**", "\n\\**User:**") // nobody speaks for another (W26)
		if n := strings.Count(all.String(), ":** "+written+"\n\n"); n != 1 {
			w.t.Errorf("%q stands in the conversations %d times", l.says, n)
		}
	}
	if !strings.Contains(all.String(), "**User:** What of the flood?\n## it rises\n\n") {
		w.t.Error("the person's words are not verbatim")
	}
}

// textIn joins the pieces of text of a stream, of each protocol.
func textIn(stream []byte) string {
	var text strings.Builder
	for line := range bytes.Lines(stream) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
		if !ok {
			continue
		}
		var e struct {
			Type       string
			Delta      json.RawMessage
			Candidates []struct {
				Content struct{ Parts []struct{ Text string } }
			}
			Choices []struct{ Delta struct{ Content string } }
		}
		if json.Unmarshal(data, &e) != nil {
			continue
		}
		for _, c := range e.Candidates { // Gemini's
			for _, part := range c.Content.Parts {
				text.WriteString(part.Text)
			}
		}
		for _, c := range e.Choices { // of Chat Completions
			text.WriteString(c.Delta.Content)
		}
		switch e.Type {
		case "content_block_delta":
			var d struct{ Type, Text string }
			if json.Unmarshal(e.Delta, &d) == nil {
				text.WriteString(d.Text)
			}
		case "response.output_text.delta":
			var d string
			if json.Unmarshal(e.Delta, &d) == nil {
				text.WriteString(d)
			}
		}
	}
	return text.String()
}
