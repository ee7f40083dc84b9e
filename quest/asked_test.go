package quest

import (
	"bytes"
	"slices"
	"testing"

	"conclave/policy"
)

// A gate's evaluator gets what was asked and nothing of the quest that is here;
// what of that quest it may not know is denied, and looked for.
func TestAskedInPlaceOfTheQuest(t *testing.T) {
	for _, role := range []policy.Role{policy.Dragon, policy.Guardian} {
		m := canaries(t)
		m.Expectation, m.Checks, m.Stage, m.Profiles, m.OwnVerdict = "", nil, "", nil, nil
		m.Asked = &Asked{Criteria: []Criterion{{Number: 1, Text: "The light is lit"}}, Change: []byte("+lit\n")}
		got := Grant(role, m)
		var given []string
		for _, p := range got.Given {
			given = append(given, p.Name)
			if bytes.Contains(p.Bytes, []byte("CANARY")) {
				t.Errorf("%s is given %s: %q", role, p.Name, p.Bytes)
			}
		}
		want := []string{"quest/mode.txt", "quest/criteria.md", ChangeFile}
		if role == policy.Guardian {
			want = []string{"quest/mode.txt", ChangeFile} // it has an expectation in their place
		}
		if !slices.Equal(given, want) {
			t.Errorf("%s is given %q, not %q", role, given, want)
		}
		for _, name := range []string{"quest/narrative.md", "quest/anticipated-dragon.md"} {
			if !slices.ContainsFunc(got.Denied, func(p Piece) bool { return p.Name == name && len(p.Trace) > 0 }) {
				t.Errorf("%s of the quest is not looked for before the %s", name, role)
			}
		}
	}
}
