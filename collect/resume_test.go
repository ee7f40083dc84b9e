package collect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/record"
)

// Whatever frame was the last one that became durable, the next collector ends
// with the same entries: those of several entries per line, those held back by
// the mapping, and those that a stop delivers.
func TestResumeFromAnyFrame(t *testing.T) {
	t.Parallel()
	files := []string{
		"claude/04-subagents-hooks/home/.claude/projects",
		"claude/13-interrupt/home/.claude/projects",
		"codex/07-interrupted/server.jsonl",
		"codex/09-dynamic-tool/server.jsonl",
		"codex/06a-failed-400/server.jsonl",
		"codex/20-exec-json-command/stdout.jsonl",
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			o := p.options()
			o.Roots = nil
			if path := filepath.Join(fixtures, name); strings.HasSuffix(name, ".jsonl") {
				o.Files = []string{path}
			} else {
				o.Roots = []string{path}
			}
			if b := p.collect(o); !b.OK() || b.Records != 1 {
				t.Fatalf("%+v", b)
			}
			found, err := record.List(record.Dir(p.workspace))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			want := said(p, found[0].Run)
			whole, err := os.ReadFile(found[0].Path)
			if err != nil {
				t.Fatal(err)
			}
			cuts := frameEnds(t, found[0].Path)
			step := max(1, len(cuts)/12)
			if testing.Short() {
				step = max(1, len(cuts)/5)
			}
			for i := 0; i < len(cuts); i += step {
				q := newPlace(t)
				path := filepath.Join(record.Dir(q.workspace), filepath.Base(found[0].Path))
				q.write(path, string(whole[:cuts[i]]))
				o.Workspace = q.workspace
				if b := q.collect(o); !b.OK() || b.Records != 1 {
					t.Fatalf("cut at frame %d: %+v", i, b)
				}
				if got := said(q, found[0].Run); !slices.Equal(got, want) {
					t.Fatalf("cut at frame %d of %d: %d entries, want %d; the first that differs:\n%s", i, len(cuts), len(got), len(want), firstOther(got, want))
				}
			}
		})
	}
}

// said lists the entries of a record, source by source.
func said(p *place, run string) []string {
	var out []string
	for _, e := range p.entries(run) {
		out = append(out, fmt.Sprintf("%s %d %s %q %s", e.Source, e.Sequence, e.Type, e.Raw, e.Detail))
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0])
	})
	return out
}

func firstOther(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%.300s\nwant\n%.300s", got[i], want[i])
		}
	}
	return "one is the beginning of the other"
}

// frameEnds lists where frames end, from the header's on.
func frameEnds(t *testing.T, path string) []int64 {
	t.Helper()
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var ends []int64
	for r.Next() {
		ends = append(ends, r.Cursor().Offset)
	}
	if r.Err() != nil || len(ends) < 10 {
		t.Fatalf("%d frames, %v", len(ends), r.Err())
	}
	return ends
}

// The counts of a whole file and of one that was taken in parts are the same.
func TestMapAndCollectAgree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(fixtures, "claude/02-thinking-tools/home/.claude/projects")
	var out counting
	mapped, err := Map(t.Context(), []string{path}, &out, MapOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	p.root = path
	got := p.once()
	if got.Entries != mapped.Entries || got.BytesRead != mapped.BytesRead || got.Lines != mapped.Lines || fmt.Sprint(got.Unknown) != fmt.Sprint(mapped.Unknown) {
		t.Errorf("map says %+v, collect %+v", mapped, got)
	}
}

// Who waits for a long file is told how much of that file was read.
func TestHowFarAFileIsMapped(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const id = "00000000-0000-4000-8000-000000000001"
	p.write(p.main(id), strings.Repeat(line("a", "some words")+"\n", 2000))
	info, err := os.Stat(p.main(id))
	if err != nil {
		t.Fatal(err)
	}
	var said []Balance
	var out counting
	m := newMapping(t.Context(), &out, MapOptions{Progress: func(b Balance) { said = append(said, b) }})
	m.said = time.Time{} // a second ago, and longer
	target, err := classify(p.main(id), "", true)
	if err == nil {
		err = m.file(target)
	}
	if err != nil || len(said) != 1 {
		t.Fatalf("%v, told %v", err, said)
	}
	if b := said[0]; b.BytesOnDisk != info.Size() || b.BytesRead < b.BytesOnDisk/3 || b.BytesRead >= b.BytesOnDisk {
		t.Errorf("of %d bytes: %+v", info.Size(), b)
	}
	if b := m.balance(); b.BytesRead != info.Size() || b.BytesOnDisk != info.Size() {
		t.Errorf("in the end: %+v", b)
	}
}

// Who waits for an import is told of all that is to come, not only of what was
// opened.
func TestHowMuchIsToCome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	total := int64(0)
	for i := range 20 {
		text := line("a", fmt.Sprint(i)) + "\n"
		p.write(p.main(fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", i)), text)
		total += int64(len(text))
	}
	c, err := New(p.options())
	if err != nil {
		t.Fatal(err)
	}
	lock, err := c.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.search("scan")
	if b := c.Balance(); b.Files != 20 || b.BytesOnDisk != total || b.BytesRead != 0 {
		t.Errorf("of %d bytes in 20 files: %+v", total, b)
	}
	if err := errors.Join(c.end(), lock.Unlock()); err != nil {
		t.Fatal(err)
	}
	if b := p.once(); b.BytesRead != total {
		t.Errorf("read %d of %d bytes", b.BytesRead, total)
	}
}

// What an import holds does not grow with the number of sessions: each is let go
// of when it was read, and is taken up again when something comes to it.
func TestImportLetsGo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b := line("a", "1"), line("b", "2")
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
		p.write(p.main(names[i]), a+"\n")
	}
	o := p.options()
	o.Once = true
	late := false
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, s := range c.byPath {
		if s.file != nil || s.ledger != nil || s.sess.emitter != nil || s.sess.past != nil || s.sess.writer != nil {
			t.Errorf("%s is still held", path)
		}
		late = late || s.added != 1
	}
	if balance := c.Balance(); late || balance.Entries != 40 || balance.Records != 40 || !balance.OK() {
		t.Errorf("%+v", balance)
	}
	p.append(p.main(names[7]), b+"\n")
	if balance := p.once(); balance.Added != 1 || balance.Entries != 41 {
		t.Errorf("after one has grown: %+v", balance)
	}
	p.same(runID("claude", names[7]), "main", a, b)
}
