package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/internal/jsontext"
	"conclave/internal/modelstub"
	"conclave/session/claude"
	"conclave/transcript"
)

func TestThinkingWithTools(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, spec: agent.Spec{Tools: agent.Tools{Builtin: []string{"Bash", "Read"}}},
			handler: modelstub.Script(
				modelstub.Answer(modelstub.Think("I should look."), modelstub.Say("Let me look."), modelstub.Call("Bash", "toolu_1", `{"command":"echo seven","description":"say seven"}`)),
				modelstub.Answer(modelstub.Block{Kind: modelstub.RedactedThinking, Text: "c2VjcmV0"}, modelstub.Say("It says seven.")),
			)})
		if reply := r.must("Look."); reply.Text != "Let me look.\n\nIt says seven." || reply.Usage.Output != 20 {
			t.Errorf("reply %+v", reply)
		}
		r.stop()
		r.wantSequence("main", "user_message", "thinking", "assistant_message", "tool_use Bash", "token_usage", "tool_result",
			"thinking", "assistant_message", "token_usage")
		r.wantUsage(2)
		if got := r.server.Requests()[1].ToolResults(); len(got) != 1 || got[0].Text != "seven" {
			t.Errorf("the model was given %+v", got)
		}
	})
}

func TestParallelTools(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, version string) {
		r := start(t, setup{version: version, spec: agent.Spec{Tools: agent.Tools{Builtin: []string{"Bash"}}},
			handler: modelstub.Script(
				modelstub.Answer(modelstub.Call("Bash", "toolu_a", `{"command":"echo a"}`), modelstub.Call("Bash", "toolu_b", `{"command":"echo b"}`), modelstub.Call("Bash", "toolu_c", `{"command":"echo c"}`)),
				modelstub.Answer(modelstub.Say("Three."))),
		})
		r.must("Do three things.")
		r.stop()
		count := map[string]int{}
		results := map[string]string{}
		for _, e := range r.store.Entries() {
			count[string(e.Type)]++
			if e.Type == transcript.ToolResult {
				results[string(jsontext.Bare(jsontext.Get(e.Detail, "tool_use_id")))] = claude.Text(e.Detail)
			}
		}
		if count["tool_use"] != 3 || count["tool_result"] != 3 || count["token_usage"] != 2 {
			t.Errorf("entries %v", count)
		}
		if results["toolu_a"] != "a" || results["toolu_b"] != "b" || results["toolu_c"] != "c" {
			t.Errorf("results %v", results)
		}
	})
}

// firstUser is the first thing that a conversation was told: it tells the main
// agent from its subagents.
func firstUser(r modelstub.Request) string {
	var body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(r.Body, &body)
	for _, m := range body.Messages {
		if m.Role == "user" {
			return string(m.Content)
		}
	}
	return ""
}

// cast answers each agent by its own script. An agent is recognised by a word
// in the first message that it was given.
func cast(scripts map[string][]modelstub.Reply) modelstub.Handler {
	var mu sync.Mutex
	handlers := map[string]modelstub.Handler{}
	for word, replies := range scripts {
		handlers[word] = modelstub.Script(replies...)
	}
	return func(r modelstub.Request) modelstub.Reply {
		mu.Lock()
		defer mu.Unlock()
		first := firstUser(r)
		for word, h := range handlers {
			if strings.Contains(first, word) {
				return h(r)
			}
		}
		return modelstub.Fail(400, "nobody here is called so")
	}
}

func spawn(id, prompt string, background bool) modelstub.Block {
	return modelstub.Call("Agent", id, fmt.Sprintf(`{"description":"help","prompt":%q,"subagent_type":"general-purpose","run_in_background":%v}`, prompt, background))
}

func TestSubagents(t *testing.T) {
	tools := agent.Tools{Builtin: []string{"Agent", "Bash"}}
	for _, c := range []struct {
		name    string
		scripts map[string][]modelstub.Reply
		agents  int
		text    string
		main    []string
	}{
		{"foreground", map[string][]modelstub.Reply{
			"MAIN": {modelstub.Answer(spawn("toolu_s1", "HELPER-ONE, look", false), spawn("toolu_s2", "HELPER-TWO, look", false)),
				modelstub.Answer(modelstub.Say("Both are back."))},
			"HELPER-ONE": {modelstub.Answer(modelstub.Think("Hm."), modelstub.Call("Bash", "toolu_x", `{"command":"echo one"}`)), modelstub.Answer(modelstub.Say("One."))},
			"HELPER-TWO": {modelstub.Answer(modelstub.Say("Two."))},
		}, 2, "Both are back.", []string{"user_message", "tool_use Agent", "tool_use Agent", "token_usage", "tool_result", "tool_result", "assistant_message", "token_usage"}},
		{"background", map[string][]modelstub.Reply{
			"MAIN": {modelstub.Answer(spawn("toolu_s1", "HELPER-ONE, look", true)),
				modelstub.Answer(modelstub.Say("It is under way.")), modelstub.Answer(modelstub.Say("It is back."))},
			"HELPER-ONE": {modelstub.Answer(modelstub.Call("Bash", "toolu_x", `{"command":"sleep 0.3; echo one"}`)), modelstub.Answer(modelstub.Say("One."))},
		}, 1, "It is under way.\n\nIt is back.", []string{"user_message", "tool_use Agent", "token_usage", "tool_result", "assistant_message", "token_usage", "assistant_message", "token_usage"}},
		{"nested", map[string][]modelstub.Reply{
			"MAIN":       {modelstub.Answer(spawn("toolu_s1", "HELPER-ONE, look", false)), modelstub.Answer(modelstub.Say("It is back."))},
			"HELPER-ONE": {modelstub.Answer(spawn("toolu_s2", "DEEPER, look", false)), modelstub.Answer(modelstub.Say("One."))},
			"DEEPER":     {modelstub.Answer(modelstub.Say("Deep."))},
		}, 2, "It is back.", []string{"user_message", "tool_use Agent", "token_usage", "tool_result", "assistant_message", "token_usage"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachVersion(t, func(t *testing.T, version string) {
				r := start(t, setup{version: version, spec: agent.Spec{Tools: tools}, handler: cast(c.scripts)})
				reply := r.must("MAIN, delegate.")
				if reply.Text != c.text || reply.Usage.Output != 50 {
					t.Errorf("reply %+v", reply)
				}
				r.stop()
				r.wantSequence("main", c.main...)
				src := map[string]string{} // source → parent and tool call
				for _, e := range r.store.Entries() {
					src[e.Source] = string(jsontext.Bare(jsontext.Get(e.Detail, "parent"))) + " " + string(jsontext.Bare(jsontext.Get(e.Detail, "parent_tool_use_id")))
				}
				delete(src, "main")
				for _, parent := range src {
					if _, deeper := strings.CutPrefix(parent, "subagent:"); deeper {
						if p, call, _ := strings.Cut(parent, " "); src[p] != "main toolu_s1" || call != "toolu_s2" {
							t.Errorf("a nested agent hangs on %q", parent)
						}
					} else if parent != "main toolu_s1" && parent != "main toolu_s2" {
						t.Errorf("an agent hangs on %q", parent)
					}
				}
				if len(src) != c.agents {
					t.Errorf("sources %v", src)
				}
				r.wantUsage(5)
			})
		})
	}
}
