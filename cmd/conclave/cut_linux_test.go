package main

import (
	"fmt"
	"strings"
	"testing"

	agentcodex "conclave/agent/codex"
	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
)

// A budget that cuts an answer in its middle ends the turn of every program: the
// person reads why, and the model's server is not asked again.
func TestBudgetCutsRealPrograms(t *testing.T) {
	sample.Long(t)
	codex, err := clients.Codex()
	if err == nil {
		codex, err = agentcodex.Locate(codex)
	}
	if err != nil {
		t.Fatal(err)
	}
	programs := append(speakACP(t),
		realProgram{"claude", "claude", clients.ClaudeNew, "anthropic", reachable(t, realClaude(t, clients.ClaudeNew)), 0},
		realProgram{"codex", "codex", clients.CodexOnly, "openai", reachable(t, codex), 0})
	for _, kind := range gateway.Kinds() {
		programs = append(programs, realProgram{"model", "model", string(kind), string(kind), "/nowhere", 0})
	}
	var long strings.Builder // no two sentences alike: one program ends what repeats itself, and asks again
	for i := range 60_000 {
		fmt.Fprintf(&long, "sentence %x of many. ", i)
	}
	for _, i := range sample.Pick(t, len(programs), 1, 1) {
		x := programs[i]
		t.Run(x.name+" "+x.version, func(t *testing.T) {
			t.Parallel()
			stub := modelstub.New(func(r modelstub.Request) modelstub.Reply {
				if r.Auxiliary() {
					return modelstub.Answer(modelstub.Say("ok"))
				}
				return modelstub.Answer(modelstub.Say(long.String()))
			})
			defer stub.Close()
			w := newReal(t, fmt.Sprintf("agents:\n  default: {agent: %s, model: stub-model, provider: stub, tokens: 60000}\n"+
				"providers:\n  stub: {kind: %s, base_url: %q, key_env: STUB_KEY}\n", x.agent, x.kind, stub.URL()))
			node, err := clients.Node()
			if err != nil {
				t.Fatal(err)
			}
			w.own(fmt.Sprintf("programs:\n  %s: %q\n  node: %q\n", x.name, x.path, node))
			w.run(0, "trust", "--yes")
			w.run(3, "agents", "try", "cat")
			if out := w.out.String(); !strings.Contains(out, "the budget of 60000 tokens") {
				t.Errorf("the person is not told why: %s", out)
			}
			asked := 0
			for _, r := range stub.Requests() {
				if !r.Auxiliary() {
					asked++
				}
			}
			if asked != 1 {
				t.Errorf("the model was asked %d times", asked)
			}
			t.Logf("%.600s", w.out.String())
		})
	}
}
