package runs

import (
	"testing"
	"time"

	"conclave/transcript"
)

// What the package comment says of states, in its words.
func TestStates(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		what string
		in   standing
		want State
	}{
		{"no entry bears a time", standing{written: now}, Stale},
		{"older than a day", standing{last: ago(25 * time.Hour), said: transcript.AssistantMessage}, Stale},
		{"older than a day, and over", standing{last: ago(25 * time.Hour), over: true}, Stale},
		{"sealed just now", standing{last: ago(time.Second), over: true, said: transcript.ToolUse}, Idle},
		{"sealed after its last words", standing{last: ago(time.Second), over: true, said: transcript.AssistantMessage}, Idle},
		{"the agent's last words", standing{last: ago(time.Second), said: transcript.AssistantMessage}, Waiting},
		{"its last words hours ago", standing{last: ago(23 * time.Hour), said: transcript.AssistantMessage}, Waiting},
		{"a question", standing{last: ago(time.Hour), said: transcript.ToolUse, tool: "AskUserQuestion"}, Waiting},
		{"its answer", standing{last: ago(time.Second), said: transcript.ToolResult, tool: "AskUserQuestion"}, Working},
		{"a call", standing{last: ago(time.Second), said: transcript.ToolUse, tool: "Bash"}, Working},
		{"a call a minute ago", standing{last: ago(time.Minute), said: transcript.ToolUse, tool: "Bash"}, Idle},
		{"a call some time ago, and its file is written",
			standing{last: ago(9 * time.Minute), written: ago(time.Second), said: transcript.ToolUse}, Working},
		{"a file that was copied", standing{last: ago(2 * time.Hour), written: ago(time.Second), said: transcript.UserMessage}, Idle},
		{"a prompt", standing{last: ago(59 * time.Second), said: transcript.UserMessage}, Working},
		{"a prompt that nobody answered", standing{last: ago(2 * time.Hour), said: transcript.UserMessage}, Idle},
	} {
		if got := c.in.state(now); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// The captures stand as they did when they were made: whoever looks at their last
// entry then finds them working or waiting, an hour later waiting or left off, and
// two days later stale.
func TestStatesOfCaptures(t *testing.T) {
	_, s := fixtures(t)
	counts := map[string]map[State]int{"then": {}, "an hour later": {}, "two days later": {}}
	for _, r := range s.all(t) {
		if r.LastAt.IsZero() {
			continue
		}
		for when, d := range map[string]time.Duration{"then": time.Second, "an hour later": time.Hour, "two days later": 48 * time.Hour} {
			now := r.LastAt.Add(d)
			one, _, err := s.One(t.Context(), r.ID, now)
			if err != nil {
				t.Fatal(err)
			}
			counts[when][one.State]++
		}
	}
	if then := counts["then"]; then[Stale] != 0 || then[Waiting] == 0 || then[Working] == 0 {
		t.Errorf("then: %v", then)
	}
	if later := counts["two days later"]; len(later) != 1 || later[Stale] == 0 {
		t.Errorf("two days later: %v", later)
	}
}
