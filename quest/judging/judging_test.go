package judging

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/policy"
	"conclave/quest"
)

const slain = `{"verdict":"Dragon Slain","summary":"It stands.",` +
	`"criteria":[{"number":1,"status":"met","evidence":"a.md:1"}]}`

// A verdict is held against the criteria once, where it comes in; whoever asks
// takes what the tool has taken.
func TestAVerdictIsReadOnce(t *testing.T) {
	t.Parallel()
	c := &Case{Role: policy.Dragon, Quest: &quest.Quest{Mode: quest.Ship, Criteria: []quest.Criterion{{Number: 1}}}}
	if _, err := c.Tool().Handle(t.Context(), json.RawMessage(slain)); err != nil || c.Decided() {
		t.Fatalf("the tool: %v; decided: %v", err, c.Decided())
	}
	taken := c.last.Dragon
	if err := c.decide([]byte(slain)); err != nil || c.Dragon != taken {
		t.Errorf("it was read again: %v", err)
	}
	if err := c.decide([]byte(`{"verdict":"Dragon Slain"}`)); err == nil || c.Dragon != taken {
		t.Errorf("what is no verdict was taken for one: %v", err)
	}
}

// Whoever is asked outside of a quest is told of no stage and no title.
func TestFramingWithoutAQuest(t *testing.T) {
	t.Parallel()
	c := &Case{Role: policy.Guardian, Quest: &quest.Quest{Mode: quest.Ship}, Expect: "It runs.", Change: "work.diff"}
	text := c.Framing()
	for _, want := range []string{"work.diff", "It runs.", ToolName} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said: %s", want, text)
		}
	}
	if strings.Contains(text, "title") {
		t.Errorf("a title is spoken of: %s", text)
	}
}
