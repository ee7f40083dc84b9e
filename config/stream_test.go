package config

import (
	"strings"
	"testing"
	"time"
)

func parse(t *testing.T, text string) Config {
	t.Helper()
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return Merge(Config{}, c)
}

// TestStreamSettings: the settings of the transcript specification, by its names
// and with its defaults.
func TestStreamSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want Stream
	}{
		"transcript defaults to true":                 {"agents: {cat: {agent: codex}}", Stream{}},
		"transcript = false":                          {"agents: {cat: {agent: codex, transcript: false}}", Stream{Quiet: true}},
		"transcript_emit_raw defaults to true":        {"agents: {cat: {agent: codex, transcript: true}}", Stream{}},
		"transcript_emit_raw = false":                 {"agents: {cat: {agent: codex, transcript_emit_raw: false}}", Stream{NoRaw: true}},
		"transcript_collection = null":                {"agents: {cat: {agent: claude, transcript_collection: null}}", Stream{Quiet: true}},
		"transcript_collection = null in a block":     {"agents:\n  cat:\n    agent: claude\n    transcript_collection:\n", Stream{Quiet: true}},
		"emit_raw = false":                            {"agents: {cat: {transcript_collection: {emit_raw: false}}}", Stream{NoRaw: true}},
		"poll_interval":                               {"agents: {cat: {transcript_collection: {poll_interval: 0.25}}}", Stream{Poll: 250 * time.Millisecond}},
		"subagent_discovery_interval, max_read_bytes": {"agents: {cat: {transcript_collection: {subagent_discovery_interval: 1.0, max_read_bytes: 65536}}}", Stream{Discovery: time.Second, MaxReadBytes: 65536}},
		"for everybody":                               {"transcript: false\ntranscript_collection: {poll_interval: 2}\nagents: {cat: {agent: claude}}", Stream{Quiet: true, Poll: 2 * time.Second}},
		"null for everybody":                          {"transcript_collection: null\nagents: {cat: {agent: claude}}", Stream{Quiet: true}},
		"an agent's own wins":                         {"transcript: false\ntranscript_emit_raw: false\nagents: {cat: {transcript: true, transcript_emit_raw: true}}", Stream{}},
		"an agent's own collection wins":              {"transcript_collection: null\nagents: {cat: {transcript_collection: {emit_raw: true}}}", Stream{}},
	} {
		if got := parse(t, c.text); got.StreamOf(got.For("cat")) != c.want {
			t.Errorf("%s: %+v, want %+v", name, got.StreamOf(got.For("cat")), c.want)
		}
	}
	for text, want := range map[string]string{
		"transcript_collection: {poll_interval: 0}":                      "line 1: transcript_collection: poll_interval is in seconds",
		"agents:\n  cat: {transcript_collection: {poll_interval: .nan}}": "line 2: agents: cat: transcript_collection: poll_interval",
		"transcript_collection: {subagent_discovery_interval: 99999}":    "subagent_discovery_interval is in seconds",
		"transcript_collection: {max_read_bytes: -1}":                    "max_read_bytes is above zero",
		"transcript_collection: {pol_interval: 1}":                       "pol_interval",
		"transcript: perhaps":                                            "line 1",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
