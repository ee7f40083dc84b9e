package archive_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/archive"
	"conclave/archive/search"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/transcript"
)

const fixtures = "../testdata/fixtures"

// TestGrownInStepsEqualsCold lets the files of a tree grow by pieces that end
// anywhere, within lines and characters too, with a refresh after each: the
// answers are those of one refresh of the whole, and those of a rebuild.
func TestGrownInStepsEqualsCold(t *testing.T) {
	sample.Long(t)
	growInSteps(t, 1, 400_000)
}

// TestSoakGrownInSteps is the same, for longer.
func TestSoakGrownInSteps(t *testing.T) {
	if os.Getenv("CONCLAVE_SOAK") == "" {
		t.Skip("make soak runs it")
	}
	for seed := uint64(2); seed <= 20; seed++ {
		growInSteps(t, seed, 3_000_000)
	}
}

func growInSteps(t *testing.T, seed uint64, size int64) {
	t.Helper()
	whole := smallTree(t, seed, size)
	codex := append(glob(t, fixtures+"/codex/1[39]*/codex_home/sessions/*/*/*/*.jsonl"), glob(t, fixtures+"/claude/04*/home/.claude/projects/*/*.jsonl")...)
	dir := t.TempDir()
	contents := map[string][]byte{}
	for i, file := range append(whole.Files, codex...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		to, err := filepath.Rel(whole.Dir, file)
		if err != nil || strings.HasPrefix(to, "..") {
			to = filepath.Join("other", string(rune('a'+i%26))+filepath.Base(file))
		}
		contents[filepath.Join(dir, to)] = text
	}
	for _, meta := range glob(t, whole.Dir+"/*/*/subagents/*.meta.json") {
		text, _ := os.ReadFile(meta)
		to, _ := filepath.Rel(whole.Dir, meta)
		writeFile(t, filepath.Join(dir, to), text)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	grown := newTestArchive(t)
	done := map[string]int{}
	for left := len(contents); left > 0; {
		left = 0
		for file, text := range contents {
			n := done[file]
			if n == len(text) {
				continue
			}
			// Mostly a few kilobytes, now and then a lot.
			n = min(len(text), n+1+r.IntN(1+len(text)))
			writeFile(t, file, text[:n])
			done[file] = n
			if n < len(text) {
				left++
			}
		}
		refresh(t, grown, dir)
	}
	cold := newTestArchive(t)
	rep := refresh(t, cold, dir)
	var total int64
	for _, text := range contents {
		total += int64(len(text))
	}
	if rep.Bytes != total {
		t.Fatalf("took up %d of %d bytes", rep.Bytes, total)
	}
	want := answers(t, cold)
	if strings.Count(want, "\n") < 200 {
		t.Fatalf("only %d lines of answers", strings.Count(want, "\n"))
	}
	same(t, "grown in steps", answers(t, grown), want)
	if _, err := grown.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	same(t, "rebuilt", answers(t, grown), want)
	if s, err := grown.Verify(ctx); err != nil || len(s.Damaged) > 0 || s.Bytes != total {
		t.Fatalf("verify: %+v, %v", s, err)
	}
	if rep := refresh(t, grown, dir); rep.Changed != 0 {
		t.Fatalf("a refresh without a change read %d files", rep.Changed)
	}
}

// TestKeepsWhatIsDeleted: what the programs delete stays, byte for byte.
func TestKeepsWhatIsDeleted(t *testing.T) {
	tree := smallTree(t, 5, 600_000)
	a := newTestArchive(t)
	refresh(t, a, tree.Dir)
	want := answers(t, a)
	before := map[string][]byte{}
	for _, f := range tree.Files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		before[f] = text
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if rep := refresh(t, a, tree.Dir); rep.Gone != len(tree.Files) {
		t.Fatalf("%d files are gone, the refresh saw %d", len(tree.Files), rep.Gone)
	}
	same(t, "after deletion", answers(t, a), want)
	if _, err := a.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	same(t, "rebuilt after deletion", answers(t, a), want)
	for f, text := range before {
		var out bytes.Buffer
		if err := a.Restore(ctx, &out, f); err != nil || !bytes.Equal(out.Bytes(), text) {
			t.Errorf("%s comes back with %d of %d bytes (%v)", f, out.Len(), len(text), err)
		}
		for _, name := range []string{filepath.Base(f), strings.TrimSuffix(filepath.Base(f), ".jsonl")} {
			out.Reset() // a subagent's file, too, by its name
			if err := a.Restore(ctx, &out, name); err != nil || !bytes.Equal(out.Bytes(), text) {
				t.Errorf("%s comes back with %d of %d bytes (%v)", name, out.Len(), len(text), err)
			}
		}
	}
	for f, text := range before { // and they may come back
		writeFile(t, f, text)
	}
	refresh(t, a, tree.Dir)
	same(t, "after they came back", answers(t, a), want)
}

// TestReplacedFile: a file that was written anew is another one; nothing of
// the old one is lost, and nothing is told twice.
func TestReplacedFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "projects", "-home-ada-work-proj", "11111111-1111-4111-8111-111111111111.jsonl")
	one, two := session(t, 1, 80_000), session(t, 2, 60_000)
	writeFile(t, file, append(bytes.Clone(one), two...))
	a := newTestArchive(t)
	refresh(t, a, dir)
	writeFile(t, file, two)
	if rep := refresh(t, a, dir); rep.Replaced != 1 {
		t.Fatalf("replaced: %+v", rep)
	}
	if got := table(t, a, "SELECT state, pos FROM sources ORDER BY generation"); got != "replaced|"+itoa(len(one)+len(two))+"\nlive|"+itoa(len(two))+"\n" {
		t.Fatalf("sources:\n%s", got)
	}
	fresh := newTestArchive(t)
	other := filepath.Join(t.TempDir(), "x.jsonl")
	writeFile(t, other, append(bytes.Clone(one), two...))
	refresh(t, fresh, other)
	const usage = "SELECT count(*), sum(input), sum(output), sum(cache_read) FROM usage"
	same(t, "usage", table(t, a, usage), table(t, fresh, usage))
	const said = "SELECT count(*), count(DISTINCT content) FROM transcript WHERE entry_type IN ('user_message', 'assistant_message', 'tool_use', 'tool_result')"
	same(t, "what was said", table(t, a, said), table(t, fresh, said))
	want := answers(t, a)
	if _, err := a.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	same(t, "rebuilt", answers(t, a), want)
}

// TestSameLinesOnce: a copy of a tree costs next to nothing.
func TestSameLinesOnce(t *testing.T) {
	tree := smallTree(t, 6, 800_000)
	a := newTestArchive(t)
	refresh(t, a, tree.Dir)
	one, err := a.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(tree.Dir)); err != nil {
		t.Fatal(err)
	}
	refresh(t, a, copied)
	two, err := a.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if two.Bytes != 2*one.Bytes || two.Stored != one.Stored || two.Entries != 2*one.Entries {
		t.Errorf("stored %d bytes for %d, and %d for twice as many", one.Stored, one.Bytes, two.Stored)
	}
	if got := table(t, a, "SELECT count(*), sum(output) FROM usage"); got != itoa(int(tree.Messages))+"|"+itoa(int(tree.Output))+"\n" {
		t.Errorf("usage counts copies: %s, want %d|%d", got, tree.Messages, tree.Output)
	}
	res, err := search.Find(ctx, a, search.Query{Words: "dragon"})
	if err != nil || len(res.Hits) == 0 || res.Hits[0].Copies != 1 {
		t.Errorf("a search tells copies apart: %+v %v", res, err)
	}
}

// TestDamagedBlock: a changed byte in the raw store is found, and mended from
// the file.
func TestDamagedBlock(t *testing.T) {
	tree := smallTree(t, 8, 300_000)
	a := newTestArchive(t)
	refresh(t, a, tree.Dir)
	want := answers(t, a)
	if _, err := a.Writer().Exec("UPDATE blocks SET sum = zeroblob(32) WHERE id = 2"); err != nil {
		t.Fatal(err)
	}
	if s, err := a.Verify(ctx); err != nil || len(s.Damaged) != 1 || s.Damaged[0] != 2 {
		t.Fatalf("verify: %+v %v", s, err)
	}
	if _, err := a.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	if s, err := a.Verify(ctx); err != nil || len(s.Damaged) != 0 {
		t.Fatalf("verify after the rebuild: %+v %v", s, err)
	}
	same(t, "mended", answers(t, a), want)
}

// TestRecords: records are taken up while they are written, and what they hold
// comes back as it was, chain and all.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	path := newRecord(t, dir, "run-1", "quest.consult.cat", func(w *record.Writer, e *transcript.Emitter) {
		emit(t, e, transcript.UserMessage, map[string]any{"text": "where is the dragon?"})
		emit(t, e, transcript.ToolUse, map[string]any{"tool_use_id": "t1", "name": "look", "input": map[string]any{"at": "the cave"}})
		emit(t, e, transcript.ToolResult, map[string]any{"tool_use_id": "t1", "name": "look", "is_error": true, "content": "too dark"})
		emit(t, e, transcript.AssistantMessage, map[string]any{"text": "In the cave, asleep."})
		if err := w.AppendBlob("gateway.request", bytes.Repeat([]byte("x"), 300_000)); err != nil {
			t.Fatal(err)
		}
		if err := e.Event(0, "turn.reply", "a reply", map[string]any{"turn": "t-1", "text": "In the cave, asleep."}); err != nil {
			t.Fatal(err)
		}
		if err := e.Event(0, "turn.reply", "a reply", map[string]any{"turn": "t-2", "text": "Never said."}); err != nil {
			t.Fatal(err)
		}
	})
	a := newTestArchive(t)
	refresh(t, a, dir)
	for query, want := range map[string]string{
		"SELECT entry_type, seat, project, adapter FROM transcript WHERE sequence_number = 1":                          "user_message|cat|" + dir + "|scripted\n",
		"SELECT tool_name, params, result, success FROM tool_calls":                                                    `look|{"at":"the cave"}|too dark|0` + "\n",
		"SELECT source, error_type FROM errors":                                                                        "tool_call|ToolError:look\n",
		"SELECT turn, found FROM verbatim WHERE what = 'reply' ORDER BY 1":                                             "t-1|1\nt-2|0\n",
		"SELECT event, count(*) FROM logs GROUP BY 1 ORDER BY 1":                                                       "transcript.entry|4\ntranscript.start|1\ntranscript.stop|1\nturn.reply|2\n",
		"SELECT turn, prompt, tool_calls, errors FROM turns":                                                           "1|where is the dragon?|1|1\n",
		"SELECT status FROM manifest":                                                                                  "sealed\n",
		"SELECT context->>'entry_type', context->>'source', context->>'$.detail.text' FROM transcript WHERE rowid = 2": "user_message|main|where is the dragon?\n",
	} {
		if got := table(t, a, query); got != want {
			t.Errorf("%s:\n got %q\nwant %q", query, got, want)
		}
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refresh(t, a, dir)
	back := filepath.Join(t.TempDir(), "back.record")
	var out bytes.Buffer
	if err := a.Restore(ctx, &out, "run-1"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, back, out.Bytes())
	rep, err := record.Verify(back)
	if err != nil || !rep.Sealed || rep.Damage != nil {
		t.Errorf("the record that came back: %+v, %v", rep, err)
	}
	if !bytes.HasPrefix(before, out.Bytes()) || len(before)-out.Len() > 256 { // at most the last mark
		t.Errorf("%d of %d bytes came back", out.Len(), len(before))
	}
}

// TestRecordBeingWritten: a refresh reads beside the writer, takes no lock of
// its record, and goes on where the record was.
func TestRecordBeingWritten(t *testing.T) {
	dir := t.TempDir()
	a := newTestArchive(t)
	path := newRecord(t, dir, "live", "p", func(w *record.Writer, e *transcript.Emitter) {
		for i := range 40 {
			emit(t, e, transcript.AssistantMessage, map[string]any{"text": "step " + itoa(i) + strings.Repeat(" on and on", 300)})
			if i%9 != 0 {
				continue
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if rep := refresh(t, a, dir); rep.Changed != 1 || len(rep.Problems) > 0 {
				t.Fatalf("after step %d: %+v", i, rep)
			}
			if got := table(t, a, "SELECT count(*) FROM transcript"); got != itoa(i+1)+"\n" {
				t.Fatalf("after step %d there are %s entries", i, got)
			}
		}
	})
	refresh(t, a, dir)
	cold := newTestArchive(t)
	refresh(t, cold, dir)
	same(t, "a record read as it was written", answers(t, a), answers(t, cold))
	if rep, err := record.Verify(path); err != nil || rep.Sound() != nil || !rep.Sealed {
		t.Errorf("the record: %+v, %v", rep, err)
	}
}

// TestNewerVersion: a file of a later program is refused, not misread.
func TestNewerVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path)
	if _, err := a.Writer().Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Open(path, archive.Options{}); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("opened: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
