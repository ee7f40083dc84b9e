package policy_test

import (
	"io"
	"strings"
	"testing"

	"conclave/policy"
	"conclave/policy/policytest"
)

// What policy says of every name of the list, which a room is held against in
// package quest/flow.
func TestPaths(t *testing.T) {
	list := policytest.Paths()
	innocent := 0
	for _, p := range list {
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(p.Content)), nil }
		if got := policy.ClassifyWorkspace(p.Path, open); got != p.Kind {
			t.Errorf("%q is %s, want %s", p.Path, got, p.Kind)
		}
		if p.Kind == policy.Workspace {
			innocent++
		}
		for _, role := range policy.Roles() {
			kind, d := policy.Withheld(role, p.Path, false, open)
			shown := p.Kind == policy.Workspace && (policy.Decide(role, policy.Workspace).Allow || role.Evaluator())
			if d.Allow != shown || d.Reason == "" || d.Source == "" {
				t.Errorf("%s × %q: %s %+v", role, p.Path, kind, d)
			}
		}
	}
	if len(list) < 150 || innocent*3 < len(list) {
		t.Errorf("%d names, %d of them innocent", len(list), innocent)
	}
}

// A view asks for every name of a project, so the answer is to cost less than
// looking at the file.
func BenchmarkWithheld(b *testing.B) {
	for b.Loop() {
		policy.Withheld(policy.Cat, "src/service/handlers/user_account.go", false, nil)
	}
}
