package table

import (
	"strings"
	"testing"

	"conclave/policy"
)

// What a reader may read is what policy says, for every role of a table and
// names of every kind; the two differed on six once.
func TestReadersAskPolicy(t *testing.T) {
	names := []string{"new.md", "story-state.md", "Story-State.md", "overview.md", "decision-log.md", "preferences.md", "party-knowledge.md", "world-primer.md",
		"dice-log.jsonl", "beats/1.md", "npcs/a/b.md", "factions/x.md", "locations/y.md", "items/z.md", "scenes/001-dock.md", "tmp/gm-context.md",
		"tmp/narrative-for-journal.md", "tmp/state-delta.md", "tmp/other", "tmp/sub/tilda-prompt.md", "party/x/tilda.md", ".env", "beats/.x.md", ".conclave/seed",
		"party/.tilda.md.0123456789abcdef.new", "CLAUDE.md", "../x", "a:b", "", "/x", "x/"}
	for _, who := range []string{"tilda", "gideon", "tilda-brannock", "Tilda", ""} {
		for _, form := range []string{"party/%.md", "party/%-journal.md", "party/%-brief.md", "tmp/%-prompt.md", "tmp/%-response.md", "tmp/%-notes-for-journal.md", "party/%.md.bak"} {
			names = append(names, strings.Replace(form, "%", who, 1))
		}
	}
	allowed := 0
	for _, role := range []policy.Role{policy.GM, policy.Player, policy.JournalKeeper, policy.Spectator, ""} {
		for _, path := range names {
			want := policy.Decide(policy.Role(role), policy.ClassifyTable(path, "tilda")).Allow
			if got := (Reader{Role: role, Character: "tilda"}).May(path); got != want {
				t.Errorf("%s reads %q: %v, policy says %v", role, path, got, want)
			}
			if want && Classify(path).Kind == KindHidden {
				t.Errorf("%s is granted %q, which is no file of a campaign", role, path)
			}
			if want {
				allowed++
			}
		}
	}
	if allowed < 40 {
		t.Errorf("only %d pairs are allowed: the list tests nothing", allowed)
	}
}
