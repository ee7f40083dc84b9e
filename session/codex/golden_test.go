package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fixtures = "../../testdata/fixtures/codex"

// capture is a recorded conversation or file of the real program.
type capture struct {
	name  string
	lines []direction
}

type direction struct {
	client bool
	line   []byte
}

func captures(t *testing.T) []capture {
	t.Helper()
	dirs, err := filepath.Glob(fixtures + "/[0-9]*")
	if err != nil || len(dirs) < 15 {
		t.Fatalf("%d captures in %s (%v)", len(dirs), fixtures, err)
	}
	var out []capture
	for _, dir := range dirs {
		name := filepath.Base(dir)
		if server := readLines(t, dir+"/server.jsonl"); server != nil {
			out = append(out, capture{name, interleave(readLines(t, dir+"/client.jsonl"), server)})
			out = append(out, capture{name + "-server-only", interleave(nil, server)})
		}
		if lines := readLines(t, dir+"/stdout.jsonl"); lines != nil {
			out = append(out, capture{name + "-exec", interleave(nil, lines)})
		}
		rollouts, _ := filepath.Glob(dir + "/codex_home/sessions/*/*/*/rollout-*.jsonl")
		for i, f := range rollouts {
			out = append(out, capture{fmt.Sprintf("%s-rollout%d", name, i+1), interleave(nil, readLines(t, f))})
		}
	}
	if len(out) < 40 {
		t.Fatalf("only %d captures", len(out))
	}
	return out
}

func readLines(t testing.TB, path string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for l := range bytes.Lines(b) {
		out = append(out, bytes.TrimSuffix(l, []byte("\n")))
	}
	return out
}

// interleave puts the client's lines where they must have been: a request
// before its answer, an answer after the request.
func interleave(client, server [][]byte) []direction {
	var out []direction
	upTo := func(id string, kind jsonrpc.Kind) {
		for i, l := range client {
			m, err := jsonrpc.Parse(l)
			if err == nil && m.Kind == kind && string(m.ID) == id {
				for _, c := range client[:i+1] {
					out = append(out, direction{true, c})
				}
				client = client[i+1:]
				return
			}
		}
	}
	for _, l := range server {
		m, _ := jsonrpc.Parse(l)
		if m.Kind == jsonrpc.Response {
			upTo(string(m.ID), jsonrpc.Request)
		}
		out = append(out, direction{false, l})
		if m.Kind == jsonrpc.Request {
			upTo(string(m.ID), jsonrpc.Response)
		}
	}
	for _, c := range client {
		out = append(out, direction{true, c})
	}
	return out
}

// mapCapture maps a capture as its format asks.
func mapCapture(c capture) (items []transcript.Item, unknown []string) {
	if len(c.lines) > 0 && c.lines[0].client {
		var m Mapper
		for _, d := range c.lines {
			if d.client {
				items = append(items, m.Client(d.line)...)
			} else {
				items = append(items, m.Server(d.line)...)
			}
		}
		return append(items, m.Flush()...), m.Unrecognised()
	}
	var f FileMapper
	for _, d := range c.lines {
		items = append(items, f.Map(d.line)...)
	}
	return append(items, f.Flush()...), f.Unrecognised()
}

// Every byte of every capture is on exactly one entry, in order.
func TestEveryByteIsAccountedFor(t *testing.T) {
	for _, c := range captures(t) {
		items, unknown := mapCapture(c)
		if len(unknown) > 0 {
			t.Errorf("%s: not recognised: %q", c.name, unknown)
		}
		next := 0
		for i, item := range items {
			if !item.Type.Valid() || item.Source != "" && item.Source != transcript.Main {
				t.Errorf("%s: entry %d has type %q, source %q", c.name, i, item.Type, item.Source)
			}
			if !json.Valid(item.Detail) {
				t.Errorf("%s: entry %d: detail is no JSON: %s", c.name, i, item.Detail)
			}
			if item.Raw == nil {
				continue
			}
			if next >= len(c.lines) || !bytes.Equal(item.Raw, c.lines[next].line) {
				t.Fatalf("%s: entry %d does not bear line %d", c.name, i, next+1)
			}
			next++
		}
		if next != len(c.lines) {
			t.Errorf("%s: %d of %d lines are on an entry", c.name, next, len(c.lines))
		}
	}
}

// detail.notification is the program's own bytes.
func TestNotificationIsVerbatim(t *testing.T) {
	checked := 0
	for _, c := range captures(t) {
		items, _ := mapCapture(c)
		for _, item := range items {
			if item.Raw == nil {
				continue
			}
			got := jsontext.Get(item.Detail, "notification")
			if got == nil {
				got = jsontext.Get(item.Detail, "response")
			}
			if got == nil {
				continue // a message without params
			}
			if !bytes.Contains(item.Raw, got) {
				t.Errorf("%s: %s is not a part of %s", c.name, got, item.Raw)
			}
			checked++
		}
	}
	if checked < 500 {
		t.Errorf("only %d entries were compared", checked)
	}
}

// What the entries of a thread add up to is what the program says itself.
func TestTokenTotalsAreTheProgramsOwn(t *testing.T) {
	compared := 0
	for _, c := range captures(t) {
		items, _ := mapCapture(c)
		sum := map[string]tokens{}
		for _, item := range items {
			if item.Type != transcript.TokenUsage {
				continue
			}
			u, ok := readTokens(jsontext.Get(item.Detail, "usage"))
			if !ok {
				t.Fatalf("%s: usage of %s", c.name, item.Detail)
			}
			id := jsontext.Text(jsontext.Get(item.Detail, "thread_id"))
			s := sum[id]
			sum[id] = tokens{s.total + u.total, s.input + u.input + cacheRead(item.Detail), 0, 0, s.output + u.output, s.reasoning + u.reasoning}
		}
		for id, want := range programTotals(c) {
			got := sum[id]
			want.cached = 0
			if got != want {
				t.Errorf("%s: thread %s: %+v, the program says %+v", c.name, id, got, want)
			}
			compared++
		}
	}
	if compared < 40 {
		t.Errorf("only %d totals were compared", compared)
	}
}

func cacheRead(detail []byte) int64 {
	var n int64
	_ = json.Unmarshal(jsontext.Get(detail, "usage", "cache_read_input_tokens"), &n)
	return n
}

// programTotals reads the last total of each thread, less what a resumed
// thread began with.
func programTotals(c capture) map[string]tokens {
	out := map[string]tokens{}
	base := map[string]tokens{}
	started := map[string]bool{}
	thread := ""
	for _, d := range c.lines {
		get := func(path ...string) []byte { return jsontext.Get(d.line, path...) }
		switch id := jsontext.Text(get("params", "threadId")); jsontext.Text(get("method")) {
		case "turn/started":
			started[id] = true
		case "thread/tokenUsage/updated":
			total, _ := readTokens(get("params", "tokenUsage", "total"))
			if !started[id] {
				base[id] = total
			}
			out[id] = total.minus(base[id])
		}
		if jsontext.Text(get("type")) == "session_meta" {
			thread = jsontext.Text(get("payload", "id"))
		}
		if jsontext.Text(get("type")) == "thread.started" {
			thread = jsontext.Text(get("thread_id"))
		}
		if t, ok := readTokens(get("payload", "info", "total_token_usage")); ok {
			out[thread] = t
		}
		if t, ok := readTokens(get("usage")); ok {
			out[thread] = t
		}
	}
	return out
}

// The goldens were read by a person; a change of them is a change of meaning.
func TestGolden(t *testing.T) {
	for _, c := range captures(t) {
		items, _ := mapCapture(c)
		got := render(items)
		path := filepath.Join("testdata", "golden", c.name+".txt")
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s: %s; see all of it with -update and git diff", c.name, path, firstDifference(got, string(want)))
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// render writes an entry per line: type, subtype, thread, and what it says.
// Threads are lettered in the order of their appearance.
func render(items []transcript.Item) string {
	var b strings.Builder
	letters := map[string]string{}
	letter := func(id string) string {
		if id == "" {
			return "-"
		}
		if letters[id] == "" {
			letters[id] = string(rune('A' + len(letters)))
		}
		return letters[id]
	}
	for _, item := range items {
		get := func(name string) string { return jsontext.Text(jsontext.Get(item.Detail, name)) }
		thread := letter(get("thread_id"))
		if p := get("parent_thread_id"); p != "" {
			thread += "<" + letter(p)
		}
		raw := "+"
		if item.Raw == nil {
			raw = " "
		}
		fmt.Fprintf(&b, "%s %-17s %-4s", raw, item.Type, thread)
		for _, name := range []string{"subtype", "method", "rollout", "phase", "tool_use_id", "name"} {
			v := get(name)
			if tool := item.Type == transcript.ToolUse || item.Type == transcript.ToolResult; tool && name == "tool_use_id" {
				v = cmp.Or(v, get("item_id"))
			}
			if v != "" {
				fmt.Fprintf(&b, " %s=%s", name, v)
			}
		}
		for _, name := range []string{"is_error", "partial", "usage", "error", "text"} {
			if v := jsontext.Get(item.Detail, name); v != nil {
				fmt.Fprintf(&b, " %s=%s", name, v)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
