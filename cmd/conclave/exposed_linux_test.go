package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	agentcodex "conclave/agent/codex"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
)

// A credential that appears in the workspace while a party seat is open ends
// that seat, and the person is told which file it was; the record keeps it.
func TestASecretThatAppearsEndsTheSeat(t *testing.T) {
	sample.Long(t)
	codex, err := clients.Codex()
	if err == nil {
		codex, err = agentcodex.Locate(codex)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ name, kind, path string }{
		{"claude", "anthropic", reachable(t, realClaude(t, clients.ClaudeNew))},
		{"codex", "openai", reachable(t, codex)},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			var w *real
			var once sync.Once
			m := &model{}
			stub := modelstub.New(func(r modelstub.Request) modelstub.Reply {
				reply := m.answer(r)
				if !r.Auxiliary() && strings.Contains(r.LastUser(), "What of the flood") {
					once.Do(func() {
						reply.Hold = make(chan struct{}) // until the program is gone
						if err := os.WriteFile(filepath.Join(w.dir, "docs", ".env"), []byte("TOKEN=x"), 0o600); err != nil {
							t.Error(err)
						}
					})
				}
				return reply
			})
			defer stub.Close()
			w = newReal(t, fmt.Sprintf("agents:\n  default: {agent: %s, model: stub-model, provider: stub}\nproviders:\n  stub: {kind: %s, base_url: %q, key_env: STUB_KEY}\n", x.name, x.kind, stub.URL()))
			w.own(fmt.Sprintf("programs:\n  %s: %q\n", x.name, x.path))
			if err := os.Mkdir(filepath.Join(w.dir, "docs"), 0o755); err != nil {
				t.Fatal(err)
			}
			w.run(0, "trust", "--yes")
			w.run(0, "quest", "start", "--mode", "ship", "--yes", "-m", "I want to bring bread.")
			w.run(3, "consult", "cat", "-m", "What of the flood?")
			const said = "docs/.env came into the workspace's view"
			if !strings.Contains(w.out.String(), said) {
				t.Errorf("%q", w.out.String())
			}
			if !w.recorded(said) {
				t.Error("no record says it")
			}
			w.run(0, "quest", "continue") // in a new room, from which it is absent
		})
	}
}

// recorded reports whether a record of the workspace holds a text.
func (w *real) recorded(text string) bool {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, ".conclave", "records", "*.record"))
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(f string) bool {
		b, err := os.ReadFile(f)
		return err == nil && bytes.Contains(b, []byte(text))
	})
}
