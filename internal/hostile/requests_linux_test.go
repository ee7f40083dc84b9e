package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
)

// TestRequests seats the real Claude Code in hostile workspaces and looks at
// what the model is sent (W3): nothing that lies outside. In the twin it is
// sent the project's own instructions.
func TestRequests(t *testing.T) {
	sample.Long(t)
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, ordinary)
	}
	k := newStock(t, users)
	path, err := clients.Claude(clients.ClaudeNew)
	must(t, err)
	path, err = filepath.EvalSymlinks(path)
	must(t, err)
	program, remove, err := clients.Lend(path)
	must(t, err)
	t.Cleanup(remove)
	asked := 0
	for i, w := range readable() {
		for _, uid := range users {
			if !sample.All() && (i >= 4 || uid != users[i%len(users)]) {
				continue
			}
			asked += k.at("seat", uid).requests(t, w, program, i == 0)
		}
	}
	t.Logf("the model was asked %d times", asked)
}

// readable are the workspaces whose element could be read into a request, those
// of instructions first.
func readable() []Workspace {
	var first, list []Workspace
	for _, w := range All() {
		if w.Root && os.Getuid() != 0 {
			continue
		}
		switch {
		case slices.Contains(w.Touches, instruction) && len(w.Touches) < 4:
			first = append(first, w)
		case slices.Contains(w.Touches, profile) || slices.Contains(w.Touches, quest) || w.Name == "settings of agents":
			list = append(list, w)
		}
	}
	return append(first, list...)
}

// requests consults the Cat, in the twin too if that is wanted, and returns how
// often the model was asked.
func (s *stage) requests(t *testing.T, w Workspace, program string, withTwin bool) int {
	t.Helper()
	if withTwin {
		if sent := s.consult(t, w, program, true); !bytes.Contains(sent, []byte("Look at the roof first.")) {
			t.Fatalf("in the twin the model is not sent the project's instructions: this proves nothing; it was sent %d bytes", len(sent))
		}
	}
	sent := s.consult(t, w, program, false)
	if i := bytes.Index(sent, []byte(canaryWord)); i >= 0 {
		t.Errorf("%s (user %d): the model was sent what lies outside: %q", w.Name, s.uid, around(sent, i))
	}
	return min(len(sent), 1)
}

// consult returns everything that a model was sent.
func (s *stage) consult(t *testing.T, w Workspace, program string, twin bool) []byte {
	t.Helper()
	stub := modelstub.New(func(modelstub.Request) modelstub.Reply { return modelstub.Answer(modelstub.Say("There is one.")) })
	defer stub.Close()
	must(t, s.set(w, twin))
	own := fmt.Sprintf("agents:\n  default: {agent: claude, model: stub-model, provider: stub}\n"+
		"providers:\n  stub: {kind: anthropic, base_url: %q, key_env: STUB_KEY}\nprograms:\n  claude: %q\n", stub.URL(), program)
	must(t, Place{Root: s.home}.write(".config/conclave/config.yaml", own, 0o600))
	must(t, s.own())
	s.before = s.look()
	r, err := s.run(filepath.Join(s.ws, w.Dir), line{within: 2 * inTime}, "consult", "cat", "-m", "Where is the risk?")
	must(t, err)
	faults, _ := s.judge(r)
	for _, f := range faults {
		t.Errorf("%s with Claude Code (user %d): %s", w.Name, s.uid, f)
	}
	var sent []byte
	for _, q := range stub.Requests() {
		sent = append(sent, q.Body...)
	}
	if twin && len(sent) == 0 {
		t.Errorf("the twin of %s: exit %d: %s", w.Name, r.code, tail(r.output))
	}
	return sent
}
