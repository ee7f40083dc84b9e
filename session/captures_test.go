package session

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fixtures = "../testdata/fixtures"

// capture is a file of lines that a real program wrote, or that its store was
// unfolded into.
type capture struct {
	name string // agent/scenario/file
	path string
	kind *kind.Kind
	text []byte
}

// lines are those of the capture.
func (c capture) lines() [][]byte {
	return bytes.Split(bytes.TrimSuffix(c.text, []byte("\n")), []byte("\n"))
}

// captures are those of the programs named, whose stores are unfolded first.
func captures(t testing.TB, agents ...string) (list []capture) {
	t.Helper()
	for _, agent := range agents {
		root, err := filepath.Abs(filepath.Join(fixtures, agent))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, capturesIn(t, agent, root, root)...)
		dirs, err := Stores{Spool: t.TempDir()}.Unfold(context.Background(), []string{root})
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			list = append(list, capturesIn(t, agent+"/store", dir, dir)...)
		}
	}
	return list
}

func capturesIn(t testing.TB, name, root, dir string) (list []capture) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") || filepath.Base(path) == "hooks.jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) == 0 {
			return err
		}
		f, err := Identify(path, "", false)
		if err != nil {
			return nil // input of a program, and the like
		}
		rel, err := filepath.Rel(root, path)
		list = append(list, capture{name + "/" + filepath.ToSlash(rel), path, f.Kind, text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// newcomers are the programs that are read and not driven.
var newcomers = []string{"acp", "cline", "copilot", "gemini", "kilo", "opencode", "qwen"}

// mapAll maps the lines of a capture.
func mapAll(k *kind.Kind, path string, lines [][]byte) (items []transcript.Item, m kind.Mapper) {
	f := Of(path, k)
	m = k.NewMapper(f, kind.Options{})
	for _, line := range lines {
		items = m.Append(items, line)
	}
	return append(items, m.Flush()...), m
}

// unaccounted says which line is on no entry, or not once and in order; "" when
// each is.
func unaccounted(items []transcript.Item, lines [][]byte) string {
	next := 0
	for i, it := range items {
		if !it.Type.Valid() || !json.Valid(it.Detail) {
			return fmt.Sprintf("entry %d has the type %q and the detail %s", i, it.Type, it.Detail)
		}
		if it.Raw == nil {
			continue
		}
		if next >= len(lines) || !bytes.Equal(it.Raw, lines[next]) {
			return fmt.Sprintf("entry %d does not bear line %d", i, next+1)
		}
		next++
	}
	if next != len(lines) {
		return fmt.Sprintf("%d of %d lines are on an entry", next, len(lines))
	}
	return ""
}

// Every byte of every capture is on one entry, nothing in it is unknown, and an
// entry means the same when its line is read alone.
func TestCapturesAreAccountedFor(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, c := range captures(t, newcomers...) {
		seen[c.kind.Name]++
		items, m := mapAll(c.kind, c.path, c.lines())
		if what := unaccounted(items, c.lines()); what != "" {
			t.Errorf("%s: %s", c.name, what)
		}
		if len(m.Unknown()) > 0 {
			t.Errorf("%s: not known: %v", c.name, m.Unknown())
		}
		for _, it := range items {
			if it.Type != transcript.SystemEvent && it.Type != transcript.TokenUsage && c.kind.Name != "acp" &&
				jsontext.Get(it.Detail, "text") == nil && jsontext.Get(it.Detail, "input") == nil &&
				jsontext.Get(it.Detail, "output") == nil {
				t.Errorf("%s: says nothing: %s %s", c.name, it.Type, it.Detail)
			}
		}
	}
	for _, agent := range newcomers {
		if seen[agent] == 0 {
			t.Errorf("no capture of %s was read as one: %v", agent, seen)
		}
	}
}

// What a line means does not depend on where it is read from: each of its entries
// stands at the same place when the line is mapped alone.
func TestEntriesKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range captures(t, newcomers...) {
		if c.kind.Name == "acp" {
			continue // whose texts are made of many lines
		}
		f := Of(c.path, c.kind)
		m := c.kind.NewMapper(f, kind.Options{})
		for n, line := range c.lines() {
			alone := c.kind.NewMapper(f, kind.Options{}).Append(nil, line)
			for i, it := range m.Append(nil, line) {
				told := it.Type != transcript.SystemEvent
				if told && (i >= len(alone) || alone[i].Type != it.Type) {
					t.Errorf("%s: line %d: entry %d is %s, and not when the line is alone", c.name, n+1, i, it.Type)
				}
			}
		}
	}
}

// The tokens of a session are those that its program counted.
func TestTotalsAreThePrograms(t *testing.T) {
	t.Parallel()
	type totals struct {
		Responses  int   `json:"responses"`
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
		CacheRead  int64 `json:"cache_read_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	}
	files, err := filepath.Glob(filepath.Join(fixtures, "*", "*", "expected.json"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d scenarios with totals, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want, got totals
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		scenario, err := filepath.Rel(fixtures, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		counted := map[string]bool{}
		for _, c := range captures(t, filepath.ToSlash(scenario)) {
			if strings.Contains(c.name, "/stdout") {
				continue
			}
			m := c.kind.NewMapper(Of(c.path, c.kind), kind.Options{})
			for _, line := range c.lines() {
				for i := range m.Append(nil, line) {
					f := m.Facts(i)
					if f.Usage == nil {
						continue
					}
					if f.Message == "" || f.Model == "" {
						t.Errorf("%s: a response without id or model: %s", c.name, line)
					}
					if counted[f.Message] {
						t.Errorf("%s: %s is counted twice", c.name, f.Message)
					}
					counted[f.Message] = true
					got.Responses++
					got.Input, got.Output = got.Input+f.Usage.Input, got.Output+f.Usage.Output
					got.CacheRead, got.CacheWrite = got.CacheRead+f.Usage.CacheRead, got.CacheWrite+f.Usage.CacheWrite
				}
			}
		}
		if got != want {
			t.Errorf("%s: %+v, the program says %+v", scenario, got, want)
		}
	}
}

// The goldens were read by a person; a change of them is a change of meaning.
func TestGolden(t *testing.T) {
	for _, c := range captures(t, newcomers...) {
		items, _ := mapAll(c.kind, c.path, c.lines())
		got := render(items)
		name := strings.NewReplacer("/", "_", ".jsonl", "").Replace(c.name)
		path := filepath.Join("testdata", "golden", name+".txt")
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
			t.Errorf("%s differs from %s; see all of it with -update and git diff", c.name, path)
		}
	}
}

// render writes an entry per line: whether it bears the line, its type, and what
// it says.
func render(items []transcript.Item) string {
	var b strings.Builder
	for _, it := range items {
		raw := " "
		if it.Raw != nil {
			raw = "+"
		}
		fmt.Fprintf(&b, "%s %-17s", raw, it.Type)
		for _, name := range []string{"subtype", "tool_use_id", "name", "is_error", "partial", "model", "usage", "text",
			"input", "output"} {
			if v := jsontext.Get(it.Detail, name); v != nil {
				fmt.Fprintf(&b, " %s=%s", name, v)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The adapters of all kinds are registered, each once: what bears another name is
// refused as a transcript.
func TestAdaptersAreRegistered(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range append(slices.Clone(kinds), nobody) {
		if !slices.Contains(transcript.Adapters(), k.Adapter) || seen[k.Adapter] {
			t.Errorf("%s: %q is not registered, or not alone", k.Name, k.Adapter)
		}
		seen[k.Adapter] = true
	}
}
