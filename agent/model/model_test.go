package model

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/agent"
	"conclave/agent/agenttest"
	"conclave/gateway"
	"conclave/internal/modelstub"
)

// TestContract: what a caller may rely on, whoever answers.
func TestContract(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		agenttest.Run(t, agenttest.Subject{Survives: true, New: func(t *testing.T, answers ...agenttest.Answer) (agent.Agent, agent.Spec) {
			r := newRig(t, kind, modelstub.Script(script(kind, answers)...))
			return r.agent, r.spec
		}})
	})
}

// script puts answers into replies. The APIs that have one text in an answer
// tell blocks apart by a call between them.
func script(kind gateway.Kind, answers []agenttest.Answer) (out []modelstub.Reply) {
	for _, a := range answers {
		var blocks []modelstub.Block
		if a.Thinks != "" {
			blocks = append(blocks, modelstub.Think(a.Thinks))
		}
		for i, text := range a.Says {
			if blocks = append(blocks, modelstub.Say(text)); i == len(a.Says)-1 {
				break
			}
			if kind == gateway.Chat || kind == gateway.Gemini {
				out = append(out, modelstub.Answer(append(blocks, modelstub.Call(ListFiles, "", "{}"))...))
				blocks = nil
			}
		}
		reply := modelstub.Answer(blocks...)
		if a.Hangs {
			reply.Hold = make(chan struct{})
		}
		out = append(out, reply)
	}
	return out
}

// TestTools: calls in parallel are served in order, the room's and those that
// read, and their results go back.
func TestTools(t *testing.T) {
	eachKind(t, func(t *testing.T, kind gateway.Kind) {
		r := newRig(t, kind, modelstub.Script(
			modelstub.Answer(modelstub.Think("Let me look."), modelstub.Say("I look."),
				modelstub.Call(ReadFile, "c1", `{"path":"README.md","from":3,"to":4}`),
				modelstub.Call("roll", "c2", `{"expr":"1d20"}`),
				modelstub.Call("fail", "c3", `{}`),
				modelstub.Call("nobody", "c4", `{}`)),
			modelstub.Answer(modelstub.Say("Done."))))
		room := &caller{}
		r.spec.Tools.Caller, r.spec.Tools.Offers = room, roomTools
		s := r.start(t)
		reply, _, err := r.say(t, s, agent.Message{Text: "Look around."})
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != "I look.\n\nDone." || len(reply.Uses) != 4 || reply.Uses[1].Name != "roll" || reply.Uses[1].Said != len("I look.") {
			t.Errorf("reply %+v", reply)
		}
		if want := "roll {\"expr\":\"1d20\"}|fail {}"; strings.Join(room.calls, "|") != want {
			t.Errorf("the room was asked %v", room.calls)
		}
		results := r.stub.Requests()[1].ToolResults()
		if len(results) != 4 {
			t.Fatalf("results %+v", results)
		}
		for i, want := range []string{"3\tOne\n4\tTwo", "you rolled 17", "it is broken", "there is no tool \"nobody\" (there are: list_files"} {
			got := results[i].Text
			var inner map[string]string // as Gemini has it
			if json.Unmarshal([]byte(got), &inner) == nil {
				got = inner["result"] + inner["error"]
			}
			if !strings.Contains(got, want) {
				t.Errorf("result %d is %+v, want %q", i, results[i], want)
			}
		}
		if want := "user_message thinking assistant_message tool_use tool_use tool_use tool_use token_usage " +
			"tool_result tool_result tool_result tool_result assistant_message token_usage"; strings.Join(r.types(), " ") != want {
			t.Errorf("the record has\n%s, want\n%s", strings.Join(r.types(), " "), want)
		}
		if tools := r.stub.Requests()[0].Tools(); strings.Join(tools, " ") != "list_files read_file search_files roll fail" {
			t.Errorf("the model was offered %v", tools)
		}
		entries, seen := r.spent(t)
		if entries != seen || reply.Usage.Tokens() != seen || seen.Output != 20 {
			t.Errorf("the record says %+v, the reply %+v, the gateway %+v", entries, reply.Usage, seen)
		}
		if info := s.Info(); info.Model == "" || info.Program != "" || info.Adapter != "model" {
			t.Errorf("info %+v", info)
		}
		r.store.Check(t)
	})
}
