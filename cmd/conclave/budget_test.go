package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
)

// TestRealBudget holds the real Claude Code to a quest's budget (Q14): what a
// request can cost at most is asked for before it is sent, what an earlier
// command spent counts, and what was refused goes on once the budget is raised.
func TestRealBudget(t *testing.T) {
	path := reachable(t, realClaude(t, clients.ClaudeNew))
	stub := modelstub.New(func(modelstub.Request) modelstub.Reply { return modelstub.Answer(modelstub.Say("It holds.")) })
	defer stub.Close()
	w := newReal(t, "")
	quest := filepath.Join(w.dir, ".campaign", "quest.md")
	if err := os.WriteFile(quest, []byte(terminalQuest), 0o644); err != nil {
		t.Fatal(err)
	}
	w.own(fmt.Sprintf("programs:\n  claude: %q\n", path))
	budget := func(limits string) {
		t.Helper()
		text := fmt.Sprintf("agents:\n  default: {agent: claude, model: claude-sonnet-4-5, provider: stub}\n"+
			"providers:\n  stub: {kind: anthropic, base_url: %q, key_env: STUB_KEY}\nbudget: {%s}\n", stub.URL(), limits)
		if err := os.WriteFile(filepath.Join(w.dir, "conclave.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		w.run(0, "trust", "--yes")
	}
	says := func(parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(w.out.String(), part) {
				t.Errorf("%q is not in\n%s", part, w.out.String())
			}
		}
	}
	budget("usd: 0.0001")
	w.run(3, "consult", "cat", "-m", "What of the flood?")
	says("the budget of 0.0001 USD does not cover a request that may cost", "(0.00 are spent)",
		filepath.Join(w.dir, "conclave.yaml"), "nothing is lost: `conclave quest continue`")
	if n := len(stub.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	budget("usd: 50")
	w.run(0, "quest", "continue")
	says("It holds.")
	sent := len(stub.Requests())
	budget("tokens: 1")
	w.run(1, "consult", "cat", "-m", "And then?")
	says("the budget of 1 tokens is spent (")
	if n := len(stub.Requests()); sent == 0 || n != sent {
		t.Errorf("%d requests were sent, then %d", sent, n)
	}
}

// TestBudgetStopsAnEndlessAnswer: under a cent, a model that never ends is
// stopped within its first answer, whichever API it speaks; what it cost is
// counted, and the next command begins nothing.
func TestBudgetStopsAnEndlessAnswer(t *testing.T) {
	kinds := gateway.Kinds()
	for _, i := range sample.Pick(t, len(kinds), 1, 2) {
		kind := kinds[i]
		t.Run(string(kind), func(t *testing.T) {
			stub := modelstub.New(func(modelstub.Request) modelstub.Reply {
				return modelstub.Reply{Blocks: []modelstub.Block{modelstub.Say("and so on, and on")}, Endless: true}
			})
			defer stub.Close()
			w := newReal(t, "")
			price := 10 // a dear answer is cut soon
			if kind == gateway.Anthropic {
				price = 1 // what a request may cost at most is known before, and has to be covered
			}
			w.own(fmt.Sprintf("agents:\n  default: {agent: model, model: stub-model, provider: stub}\nbudget: {usd: 0.01}\n"+
				"providers:\n  stub: {kind: %s, base_url: %q}\nprices:\n  stub-model: {input: 0.1, output: %d}\n", kind, stub.URL(), price))
			w.run(0, "trust", "--yes")
			w.run(3, "consult", "cat", "-m", "What of the flood?")
			if !strings.Contains(w.out.String(), "the budget of 0.01 USD is spent (0.01") {
				t.Errorf("it says\n%s", w.out.String())
			}
			if n := len(stub.Requests()); n != 1 {
				t.Errorf("%d requests were sent", n)
			}
			w.run(1, "consult", "owl", "-m", "And you?")
			if n := len(stub.Requests()); n != 1 || !strings.Contains(w.out.String(), "the budget of 0.01 USD is spent (0.01") {
				t.Errorf("%d requests were sent; it says\n%s", n, w.out.String())
			}
		})
	}
}
