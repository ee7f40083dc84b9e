package claude

import (
	"bytes"
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

var update = flag.Bool("update", false, "write the golden files anew")

const fixtures = "../../testdata/fixtures"

// fixtureDirs lists the captures of both versions.
func fixtureDirs(t testing.TB) []string {
	t.Helper()
	var dirs []string
	for _, pattern := range []string{"claude/[0-9]*", "claude-2.1.197/[0-9]*"} {
		found, err := filepath.Glob(filepath.Join(fixtures, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no captures at %s: %v", pattern, err)
		}
		dirs = append(dirs, found...)
	}
	return dirs
}

// sessionFiles lists the session files below dir, main files first.
func sessionFiles(t testing.TB, dir string) []kind.File {
	t.Helper()
	var files []kind.File
	err := filepath.WalkDir(filepath.Join(dir, "home"), func(path string, d fs.DirEntry, err error) error {
		if f, ok := Locate(path); ok && err == nil {
			files = append(files, f)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no session file in %s: %v", dir, err)
	}
	slices.SortFunc(files, func(a, b kind.File) int { return strings.Compare(a.Source+a.Session, b.Source+b.Session) })
	return files
}

// mapFile maps a whole file and checks what holds for any: every line gives
// entries, the first with the line itself, twice.
func mapFile(t testing.TB, f kind.File, o Options) (items []transcript.Item, m *Mapper) {
	t.Helper()
	data, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	o.Source = f.Source
	if note, ok, err := Note(f); err != nil {
		t.Fatal(err)
	} else if ok {
		o.Parent = note.Hangs(nil)
	}
	m = NewMapper(o)
	accounted := 0
	for n, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		got := m.Map(line)
		if len(got) == 0 {
			t.Fatalf("%s:%d gives no entry", f.Path, n+1)
		}
		// The usage of a message stands behind its last line, and so may come
		// in front of what the next one gives.
		if len(got) > 1 && got[0].Type == transcript.TokenUsage && got[0].Raw == nil {
			items, got = append(items, got[0]), got[1:]
		}
		for i, it := range got {
			if !it.Type.Valid() || !transcript.ValidSource(it.Source) || !json.Valid(it.Detail) {
				t.Fatalf("%s:%d: %+v is no entry", f.Path, n+1, it)
			}
			if (it.Raw != nil) != (i == 0) {
				t.Fatalf("%s:%d: raw on entry %d", f.Path, n+1, i)
			}
		}
		entry := jsontext.Get(got[0].Detail, "sdk_entry")
		if tool := got[0].Type == transcript.ToolResult || got[0].Type == transcript.ToolUse; tool && len(entry) > len(line) {
			// The id of the call stands in front of the line.
			entry = append([]byte("{"), entry[len(entry)-len(line)+1:]...)
		}
		if !bytes.Equal(got[0].Raw, line) || !bytes.Equal(entry, line) {
			t.Fatalf("%s:%d: the line did not come through as it was", f.Path, n+1)
		}
		accounted += len(got[0].Raw) + 1
		items = append(items, got...)
	}
	items = append(items, m.Flush()...)
	if accounted != len(data) {
		t.Errorf("%s: %d of %d bytes accounted for", f.Path, accounted, len(data))
	}
	if st := m.Stats(); st.Bytes != int64(len(data)) || st.Entries != int64(len(items)) {
		t.Errorf("%s: stats %+v for %d bytes and %d entries", f.Path, st, len(data), len(items))
	}
	return items, m
}

// describe is one item in one line, for people who review golden files.
func describe(it transcript.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", it.Source, it.Type)
	for _, key := range []string{"subtype", "name", "tool_use_id", "is_error", "transient", "partial", "redacted", "block_index", "message_id", "parent", "parent_tool_use_id"} {
		if v := jsontext.Get(it.Detail, key); v != nil && !(key == "block_index" && string(v) == "0") {
			fmt.Fprintf(&b, " %s=%s", key, strings.Trim(string(v), `"`))
		}
	}
	if it.Type == transcript.TokenUsage {
		u := transcript.UsageOf(it.Detail)
		fmt.Fprintf(&b, " in=%d out=%d read=%d write=%d", u.Input, u.Output, u.CacheRead, u.CacheWrite)
	}
	if text := Text(it.Detail); text != "" && it.Type != transcript.SystemEvent && it.Type != transcript.Unknown {
		if r := []rune(text); len(r) > 60 {
			text = string(r[:60]) + "…"
		}
		fmt.Fprintf(&b, " %q", text)
	}
	return b.String()
}

func TestFixtures(t *testing.T) {
	for _, dir := range fixtureDirs(t) {
		name := strings.ReplaceAll(strings.TrimPrefix(filepath.ToSlash(dir), fixtures+"/"), "/", "-")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			for _, f := range sessionFiles(t, dir) {
				fmt.Fprintf(&out, "# %s\n", filepath.Base(f.Path))
				items, m := mapFile(t, f, Options{})
				for _, it := range items {
					out.WriteString(describe(it) + "\n")
				}
				if un := m.Stats().Unrecognised; len(un) > 0 {
					t.Errorf("%s: not recognised: %v", f.Path, un)
				}
			}
			golden(t, filepath.Join("testdata", name+".golden"), out.String())
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update and read what it writes", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update and look at the difference\n%s", path, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, a, b)
		}
	}
	return ""
}

// The sum of the token_usage entries of a session and its subagents is what
// the program itself counts, less the calls that it writes into no file: those
// that summarise at a compaction.
func TestTokenTotals(t *testing.T) {
	unwritten := map[string]int64{"07a-compact-manual": 1, "33-compact-cost-state": 1}
	for _, dir := range fixtureDirs(t) {
		if _, err := os.Stat(filepath.Join(dir, "stdout.jsonl")); err != nil {
			continue // a capture of session files alone: nobody summed it up
		}
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			var sum transcript.Usage
			var messages int64
			files := sessionFiles(t, dir)
			if _, err := os.Stat(filepath.Join(dir, "stdout.jsonl")); err != nil {
				filesAgree(t, files, unwritten[filepath.Base(dir)])
				return
			}
			last := files[len(files)-1]
			if filepath.Base(dir) == "15b-resume-fork" {
				parent := map[string]bool{}
				items, _ := mapFile(t, files[0], Options{})
				for _, it := range items {
					parent[string(jsontext.Bare(jsontext.Get(it.Detail, "sdk_entry", "uuid")))] = true
				}
				items, _ = mapFile(t, last, Options{Known: func(_, uuid string) bool { return parent[uuid] }})
				repeated := 0
				for _, it := range items {
					if string(jsontext.Get(it.Detail, "subtype")) == `"repeated"` {
						repeated++
					}
				}
				if repeated != 28 {
					t.Errorf("%d lines of the fork are repeated, want 28", repeated)
				}
				if s, n := totals(items); n != 1 {
					t.Errorf("the fork itself used %+v in %d messages, want one", s, n)
				}
				files = files[1:] // the program's own sums are of all that the fork holds
			}
			for _, f := range files {
				items, _ := mapFile(t, f, Options{})
				s, n := totals(items)
				sum, messages = sum.Add(s), messages+n
			}
			own := ownTotals(t, filepath.Join(dir, "stdout.jsonl"))
			// Every response of the model server of the captures costs the same.
			n := unwritten[filepath.Base(dir)]
			each := transcript.Usage{Input: 100, Output: 42, CacheRead: 300, CacheWrite: 20}
			for range n {
				sum = sum.Add(each)
			}
			own.CostUSD = 0
			if sum != own {
				t.Errorf("entries say %+v over %d messages, the program says %+v", sum, messages, own)
			}
		})
	}
}

// filesAgree holds each file against the program's own sums in it, for captures
// of which nothing else was kept.
func filesAgree(t *testing.T, files []kind.File, unwritten int64) {
	for _, f := range files {
		items, _ := mapFile(t, f, Options{})
		sum, n := totals(items)
		own, err := ReadHistory(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if own.Totals.CostUSD = 0; own.Totals == (transcript.Usage{}) {
			t.Fatalf("%s has no sums", f.Path)
		}
		for range unwritten {
			sum = sum.Add(transcript.Usage{Input: 100, Output: 42, CacheRead: 300, CacheWrite: 20})
		}
		if sum != own.Totals {
			t.Errorf("%s: entries say %+v over %d messages, the program says %+v", f.Path, sum, n, own.Totals)
		}
	}
}

func totals(items []transcript.Item) (sum transcript.Usage, n int64) {
	for _, it := range items {
		if it.Type == transcript.TokenUsage {
			sum = sum.Add(transcript.UsageOf(it.Detail))
			n++
		}
	}
	return sum, n
}

// ownTotals reads the sums of the last result line.
func ownTotals(t *testing.T, path string) (own transcript.Usage) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if string(jsontext.Get(line, "type")) == `"result"` {
			own, seen = ModelUsage(jsontext.Get(line, "modelUsage")), true
		}
	}
	if !seen {
		t.Fatalf("%s has no result", path)
	}
	return own
}
