package flow

import (
	"strings"
	"testing"

	"conclave/internal/shingle"
	"conclave/policy"
)

// TestTraceOfAJournal: two keepers are told the same narrative under the same
// heading. What one of them wrote down first must not accuse the other.
func TestTraceOfAJournal(t *testing.T) {
	narrative := "The rain thins as the river road comes out of the trees, and there is the weir."
	journal := "# Bram's Journal\n\n---\n\n### The rain\n\n- What happened: " + narrative + "\n- What I did: I held my tongue about the letter in my coat all evening long.\n"
	set, err := shingle.NewSet(make([]byte, shingle.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	set.Add("journal", trace(policy.OtherJournal, journal))
	set.Subtract([]byte(narrative))
	if hits := set.Find([]byte("# What happened\n" + narrative)); len(hits) > 0 {
		t.Errorf("the shared narrative accuses a keeper: %v", hits)
	}
	if hits := set.Find([]byte("She wrote: I held my tongue about the letter in my coat.")); len(hits) != 1 {
		t.Errorf("what is Bram's own is not found: %v", hits)
	}
	if got := string(trace(policy.StoryState, journal)); !strings.Contains(got, "What happened:") {
		t.Errorf("another kind of text was changed: %q", got)
	}
}
