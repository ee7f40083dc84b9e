package transcript

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func entryLine(prompt, adapter, kind string, n int, source string) string {
	return fmt.Sprintf(`{"timestamp":"2026-02-18T11:00:00+00:00","level":"DEBUG","logger":"l","event":"transcript.entry","message":"m","context":{"prompt_name":%q,"adapter":%q,"entry_type":%q,"sequence_number":%d,"source":%q,"timestamp":"2026-02-18T11:00:00+00:00"}}`,
		prompt, adapter, kind, n, source)
}

func eventLine(level, event, context string) string {
	return fmt.Sprintf(`{"timestamp":"2026-02-18T11:00:00+00:00","level":%q,"logger":"l","event":%q,"message":"m","context":{%s}}`, level, event, context)
}

func checkText(text string) (Summary, error) {
	return Check(func(yield func([]byte) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			if !yield([]byte(line)) {
				return
			}
		}
	})
}

func TestCheckFindsEachViolation(t *testing.T) {
	one := entryLine("p", "scripted", "user_message", 1, "main")
	for _, c := range []struct {
		name, text string
		line       int
		invariant  string
		reason     string
	}{
		{"not a log record", one + "\nnonsense", 2, envelopeCompleteness, "not a log record"},
		{"missing key", strings.Replace(one, `"source":"main",`, "", 1), 1, envelopeCompleteness, "source is missing"},
		{"no time", strings.Replace(one, `"source":"main","timestamp":"2026-02-18T11:00:00+00:00"`, `"source":"main","timestamp":"now"`, 1), 1, envelopeCompleteness, "no ISO-8601 time"},
		{"not in UTC", strings.Replace(one, `"main","timestamp":"2026-02-18T11:00:00+00:00"`, `"main","timestamp":"2026-02-18T13:00:00+02:00"`, 1), 1, envelopeCompleteness, "is not in UTC"},
		{"record not in UTC", strings.Replace(one, `{"timestamp":"2026-02-18T11:00:00+00:00"`, `{"timestamp":"2026-02-18T13:00:00+02:00"`, 1), 1, envelopeCompleteness, "no ISO-8601 time in UTC"},
		{"level", strings.Replace(one, `"DEBUG"`, `"INFO"`, 1), 1, envelopeCompleteness, "has the level INFO"},
		{"start's level", eventLine("INFO", EventStart, `"prompt_name":"p","adapter":"offline"`), 1, envelopeCompleteness, "has the level INFO"},
		{"gap", one + "\n" + entryLine("p", "scripted", "thinking", 3, "main"), 2, sequenceMonotonicity, "has number 3, expected 2"},
		{"repeat", one + "\n" + one, 2, sequenceMonotonicity, "has number 1, expected 2"},
		{"begins late", entryLine("p", "scripted", "thinking", 2, "main"), 1, sequenceMonotonicity, "expected 1"},
		{"type", entryLine("p", "scripted", "musing", 1, "main"), 1, typeVocabulary, `"musing"`},
		{"adapter", entryLine("p", "gpt", "thinking", 1, "main"), 1, adapterLabeling, "not registered"},
		{"adapter changes", one + "\n" + entryLine("p", "offline", "thinking", 2, "main"), 2, adapterLabeling, "changes from scripted to offline"},
		{"adapter differs from start", eventLine("DEBUG", EventStart, `"prompt_name":"p","adapter":"offline"`) + "\n" + one, 2, adapterLabeling, "changes from offline"},
		{"source", entryLine("p", "scripted", "thinking", 1, "side"), 1, sourceConsistency, `"side"`},
		{"empty subagent", entryLine("p", "scripted", "thinking", 1, "subagent:"), 1, sourceConsistency, "subagent:"},
		{"codex subagent", entryLine("p", "codex_app_server", "thinking", 1, "subagent:x"), 1, sourceConsistency, "main only"},
		{"error level", one + "\n" + eventLine("ERROR", eventError, ""), 2, nonBlockingEmission, "level ERROR"},
		{"lost entry", one + "\n" + eventLine("DEBUG", EventStop, `"prompt_name":"p","adapter":"scripted","total_entries":2`), 2, nonBlockingEmission, "counted 2 entries, this log holds 1"},
		{"lost in a source", one + "\n" + eventLine("DEBUG", EventStop, `"prompt_name":"p","adapter":"scripted","total_entries":1,"entries_by_source":{"main":0,"subagent:x":1}`), 2, nonBlockingEmission, "of main"},
		{"stop without summary", one + "\n" + eventLine("DEBUG", EventStop, `"prompt_name":"p"`), 2, envelopeCompleteness, "stop without its summary"},
		{"start without names", eventLine("DEBUG", EventStart, ``), 1, envelopeCompleteness, "start without"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := checkText(c.text)
			var v *Violation
			if !errors.As(err, &v) {
				t.Fatalf("no violation found: %v", err)
			}
			if v.Line != c.line || v.Invariant != c.invariant || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("found %v; want line %d, %s, %q", v, c.line, c.invariant, c.reason)
			}
		})
	}
}

func TestCheckAcceptsWhatIsInOrder(t *testing.T) {
	s, err := checkText(strings.Join([]string{
		eventLine("DEBUG", EventStart, `"prompt_name":"p","adapter":"claude_agent_sdk"`),
		entryLine("p", "claude_agent_sdk", "user_message", 1, "main"),
		entryLine("p", "claude_agent_sdk", "thinking", 1, "subagent:agent_1"),
		entryLine("p", "claude_agent_sdk", "thinking", 1, "subagent:agent_10"),
		eventLine("INFO", "something.else", ""),
		eventLine("WARNING", eventError, ""),
		entryLine("q", "codex_app_server", "user_message", 1, "main"), // another run in the same log
		entryLine("p", "claude_agent_sdk", "assistant_message", 2, "main"),
		eventLine("DEBUG", EventStop, `"prompt_name":"p","adapter":"claude_agent_sdk","total_entries":4,"entries_by_source":{"main":2}`),
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.TotalEntries != 5 || s.EntriesByType[Thinking] != 2 || len(s.Sources) != 3 {
		t.Errorf("summary = %+v", s)
	}
}

func TestCheckWantsEntries(t *testing.T) {
	if _, err := checkText(eventLine("INFO", "x", "")); err == nil {
		t.Error("a log without entries passes")
	}
}
