package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// TestSeedTable: the rows of the specification's table that are about items and
// other notifications, each with the type and the subtype of its entry.
func TestSeedTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line, subtype string
		want          transcript.Type
	}{
		"item/started fileChange":                  {started("fileChange", "f", `"changes":[]`), "fileChange", transcript.ToolUse},
		"item/completed fileChange":                {completed("fileChange", "f", `"status":"completed"`), "fileChange", transcript.ToolResult},
		"item/started mcpToolCall":                 {started("mcpToolCall", "m", `"server":"s","tool":"x"`), "mcpToolCall", transcript.ToolUse},
		"item/completed mcpToolCall":               {completed("mcpToolCall", "m", `"status":"completed"`), "mcpToolCall", transcript.ToolResult},
		"item/completed contextCompaction":         {completed("contextCompaction", "c", ""), "compaction", transcript.SystemEvent},
		"turn/started":                             {begin, "turn_started", transcript.SystemEvent},
		"turn/diff/updated":                        {`{"method":"turn/diff/updated","params":{"threadId":"T"}}`, "diff", transcript.SystemEvent},
		"item/agentMessage/delta":                  {delta("d", "x"), "delta", transcript.SystemEvent},
		"item/never/heard":                         {`{"method":"item/never/heard","params":{}}`, "", transcript.Unknown},
		"item/completed of a kind never heard of":  {completed("somethingNew", "n", ""), "", transcript.Unknown},
		"thread/tokenUsage/updated without totals": {`{"method":"thread/tokenUsage/updated","params":{"threadId":"T"}}`, "", transcript.Unknown},
	} {
		items := new(Mapper).Server([]byte(c.line))
		if len(items) == 0 {
			t.Errorf("%s gives nothing", name)
			continue
		}
		last := items[len(items)-1]
		if sub := jsontext.Text(jsontext.Get(last.Detail, "subtype")); last.Type != c.want || sub != c.subtype {
			t.Errorf("%s gives %s(%s), want %s(%s)", name, last.Type, sub, c.want, c.subtype)
		}
		for _, it := range items {
			if it.Source != "" && it.Source != transcript.Main {
				t.Errorf("%s has the source %q", name, it.Source)
			}
		}
	}
}

// TestHeldMessageKeepsItsPlace: a finished message waits for a word on whether it
// stands, and nothing overtakes it.
func TestHeldMessageKeepsItsPlace(t *testing.T) {
	t.Parallel()
	lines := []string{begin, completed("agentMessage", "m", `"text":"one"`),
		`{"method":"account/rateLimits/updated","params":{}}`, `{"method":"thread/status/changed","params":{"threadId":"T"}}`,
		started("commandExecution", "c", ""), completed("commandExecution", "c", ""), completed("agentMessage", "n", `"text":"two"`), end}
	items, _ := mapLines(lines...)
	var raws []string
	for _, it := range items {
		if it.Raw != nil {
			raws = append(raws, string(it.Raw))
		}
	}
	if !slices.Equal(raws, lines) {
		t.Errorf("the lines come as %q", raws)
	}
}

// TestFailedTurnInBothForms: of a turn that failed after the model had spoken, the
// app-server's messages and the rollout tell the same.
func TestFailedTurnInBothForms(t *testing.T) {
	t.Parallel()
	const dir = "../../testdata/fixtures/codex/30-failed-after-messages/"
	rollouts, err := filepath.Glob(dir + "codex_home/sessions/*/*/*/*.jsonl")
	if err != nil || len(rollouts) != 1 {
		t.Fatalf("%v, %v", rollouts, err)
	}
	var told []string
	for _, path := range []string{dir + "server.jsonl", rollouts[0]} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var m FileMapper
		var items []transcript.Item
		for line := range bytes.Lines(text) {
			items = m.Append(items, bytes.TrimSuffix(line, []byte("\n")))
		}
		items = slices.DeleteFunc(append(items, m.Flush()...), func(it transcript.Item) bool {
			return it.Type == transcript.Error && jsontext.Text(jsontext.Get(it.Detail, "subtype")) == "retry" // no line of a rollout tells of it
		})
		told = append(told, tell(items))
	}
	if want := "user_message:x assistant_message:partial text error(turn_failed)"; told[0] != want || told[1] != want {
		t.Errorf("app-server: %s\nrollout: %s\nwant: %s", told[0], told[1], want)
	}
}
