package archive

import (
	"bytes"
	"testing"
	"time"

	"conclave/bundle"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// TestQuickLogLine: the quick way and the long one take lines apart alike, also
// where a text looks like a member.
func TestQuickLogLine(t *testing.T) {
	var lines [][]byte
	for _, file := range glob(t, bundles+"*.zip") {
		b, err := bundle.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := b.ReadFile("logs/app.jsonl", 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, bytes.Split(bytes.TrimSpace(text), []byte("\n"))...)
		b.Close()
	}
	for _, detail := range []string{`{}`, `{"text":"\"context\":{ \"detail\":{"}`, `{"context":{"detail":{"entry_type":"error"}}}`, `{"a":[1,{"b":"}"}] }`} {
		for _, prompt := range []string{"p", `"detail":{`, `x","context":{"entry_type":"error`, "ü\n"} {
			lines = append(lines, transcript.AppendEntry(nil, &transcript.Entry{PromptName: prompt, Adapter: transcript.AdapterScripted, Type: transcript.ToolUse,
				Sequence: 7, Source: transcript.Main, Timestamp: time.Now(), SessionID: "s", Detail: []byte(detail), Raw: []byte(`{"raw":1}`)}))
		}
	}
	quick := 0
	for _, line := range lines {
		var got, want logLine
		got.parse(line)
		want.slow(line)
		if got.parseEntry(line) {
			quick++
		}
		got.parse(line)
		compare(t, line, &got, &want)
	}
	if quick < 100 {
		t.Errorf("only %d of %d lines go the quick way", quick, len(lines))
	}
}

// slow takes a line apart the long way.
func (l *logLine) slow(line []byte) {
	m := jsontext.Members(line, "timestamp", "level", "logger", "event", "message", "context")
	l.timestamp, l.level, l.logger, l.event, l.message, l.context = m[0], m[1], m[2], m[3], m[4], m[5]
	if l.entry = string(jsontext.Bare(l.event)) == "transcript.entry" && l.context != nil; l.entry {
		l.envelope(jsontext.Members(l.context, envelopeNames...))
	}
}

func compare(t *testing.T, line []byte, got, want *logLine) {
	t.Helper()
	if got.entry != want.entry {
		t.Fatalf("%.200s: entry %v", line, got.entry)
	}
	pairs := map[string][2][]byte{"timestamp": {got.timestamp, want.timestamp}, "level": {got.level, want.level}, "logger": {got.logger, want.logger},
		"event": {got.event, want.event}, "prompt": {got.prompt, want.prompt}, "adapter": {got.adapter, want.adapter}, "source": {got.source, want.source},
		"session": {got.session, want.session}, "type": {got.typ, want.typ}, "seq": {got.seq, want.seq}, "at": {got.at, want.at}, "detail": {got.detail, want.detail}}
	for name, p := range pairs {
		if !bytes.Equal(p[0], p[1]) {
			t.Errorf("%.300s\n%s: %.200s, want %.200s", line, name, p[0], p[1])
		}
	}
}

// FuzzLogLine: on lines that are JSON both ways agree, or the quick one leaves
// it to the other.
func FuzzLogLine(f *testing.F) {
	f.Add([]byte(`{"timestamp":"t","level":"DEBUG","logger":"l","event":"transcript.entry","message":"m","context":{"prompt_name":"p","adapter":"a","entry_type":"error","sequence_number":1,"source":"main","timestamp":"t","detail":{"a":1},"raw":"x"}}`))
	f.Add([]byte(`{"event":"transcript.entry","context":{"entry_type":"error","sequence_number":1,"detail":{},"session_id":"s"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var quick logLine
		if bytes.Count(line, []byte(`"context"`)) > 1 || bytes.Count(line, []byte(`"detail"`)) > 1 || !jsontext.Valid(line) || !quick.parseEntry(line) {
			return // repeated members are nobody's format
		}
		var slow logLine
		slow.slow(line)
		if slow.detail == nil {
			return // a member of something else
		}
		if !bytes.Equal(quick.detail, slow.detail) {
			t.Fatalf("%s\n%s\n%s", line, quick.detail, slow.detail)
		}
	})
}
