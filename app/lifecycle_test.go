package app

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/archive/search"
	"conclave/internal/program"
	"conclave/internal/sample"
	"conclave/record"
)

// life is a session, and somebody in whose home it lives.
type life struct {
	t     *testing.T
	a     *App
	home  string
	store string // the directory of the archive
}

func newLife(t *testing.T) *life {
	home := t.TempDir()
	l := &life{t: t, home: home, store: filepath.Join(home, "data")}
	env := map[string]string{"HOME": home, "XDG_DATA_HOME": l.store, "XDG_CACHE_HOME": filepath.Join(home, "cache"),
		"XDG_CONFIG_HOME": filepath.Join(home, "config")}
	work := filepath.Join(home, "work")
	l.must(os.MkdirAll(filepath.Join(work, ".conclave"), 0o700))
	l.a = &App{Dir: work, Root: work, Getenv: func(name string) string { return env[name] }, Version: "test"}
	return l
}

func (l *life) must(err error) {
	if err != nil {
		l.t.Helper()
		l.t.Fatal(err)
	}
}

func (l *life) write(path string, data []byte) {
	l.must(os.MkdirAll(filepath.Dir(path), 0o700))
	l.must(os.WriteFile(path, data, 0o600))
}

// numbers are what usage, search and query say of everything that there is, or
// of the files that are named, which have no search.
func (l *life) numbers(word string, named ...string) string {
	l.t.Helper()
	var b strings.Builder
	ctx := l.t.Context()
	for _, by := range []string{"day", "model", "role"} {
		u, err := l.a.Usage(ctx, UsageOf{By: by, Paths: named})
		l.must(err)
		for _, g := range u.Groups {
			fmt.Fprintf(&b, "usage by %s: %s %d responses %d %d %d %d %.6f\n", by, g.Name, g.Responses,
				g.Input, g.Output, g.CacheRead, g.CacheWrite, g.CostUSD)
		}
		if len(u.Problems) > 0 {
			l.t.Errorf("problems: %v", u.Problems)
		}
	}
	rows, err := l.a.Query(ctx, `
		SELECT 'entries', entry_type, count(*), min(timestamp), max(timestamp), max(project) FROM transcript
			GROUP BY 2
		UNION ALL SELECT 'calls', tool_name, count(*), sum(success), 0, 0 FROM tool_calls GROUP BY 2
		UNION ALL SELECT 'turns', count(*), min(started), max(transcript_source), 0, 0 FROM turns
		UNION ALL SELECT 'used', day, project, model || session_id, count(*), sum(total) FROM usage GROUP BY 2, 3, 4`,
		Query{Names: named, Rows: 1000})
	l.must(err)
	for _, r := range rows.Rows.Rows {
		fmt.Fprintln(&b, r...)
	}
	if named != nil {
		return b.String()
	}
	found, err := l.a.Search(ctx, Search{Query: search.Query{Words: word, Limit: 1000}})
	l.must(err)
	for _, h := range found.Hits {
		fmt.Fprintf(&b, "hit: %s %s %s\n", h.Type, h.Time, h.Project)
	}
	return b.String()
}

func (l *life) same(stage, got, want string) {
	l.t.Helper()
	if got != want {
		l.t.Errorf("%s:\n%s\nwant:\n%s", stage, got, want)
	}
}

func withoutHits(numbers string) string {
	before, _, _ := strings.Cut(numbers, "hit: ")
	return before
}

// TestSessionLifeCycle takes one session through everything that can happen to
// it. Whatever is asked of it, the answer is always the same, once.
func TestSessionLifeCycle(t *testing.T) {
	t.Parallel()
	const fixtures = "../testdata/fixtures/"
	cases := []struct{ name, root, archived, word, run string }{
		{"claude with a file of what a tool gave back", fixtures + "claude/34-tool-results-file/home/.claude", "",
			"47113", "claude-"},
		{"claude", fixtures + "claude/02-thinking-tools/home/.claude", "", "the", "claude-"},
		{"claude with subagents", fixtures + "claude/04-subagents-hooks/home/.claude", "", "the", "claude-"},
		{"codex", fixtures + "codex/31-long-usage/codex_home", "archived_sessions", "long", "codex-"},
	}
	binary, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range sample.Pick(t, len(cases), 1, 1) {
		c := cases[i]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			liveThrough(t, binary, c.root, c.archived, c.word, c.run)
		})
	}
}

func liveThrough(t *testing.T, binary, root, archived, word, run string) {
	files := map[string][]byte{} // below the program's directory
	main := ""
	if err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if strings.Contains(rel, "5ae78c90") { // another session of that project
			return nil
		}
		files[rel], err = os.ReadFile(path)
		if !strings.Contains(rel, "subagents") && strings.HasSuffix(rel, ".jsonl") {
			main = rel
		}
		return err
	}); err != nil || main == "" {
		t.Fatal("no session", err)
	}
	dir := map[bool]string{true: ".codex", false: ".claude"}[archived != ""]
	place := func(l *life, content []byte) {
		for rel, data := range files {
			if rel == main {
				data = content
			}
			l.write(filepath.Join(l.home, dir, rel), data)
		}
	}

	// What the program's own files say, and nothing else.
	alone := newLife(t)
	place(alone, files[main])
	want := alone.numbers(word)
	if !strings.Contains(want, "hit: ") || !strings.Contains(want, "usage by") {
		t.Fatalf("nothing to compare: %s", want)
	}

	l := newLife(t)
	path := filepath.Join(l.home, dir, main)
	whole := files[main]
	once := DefaultFollow()
	once.Once = true
	place(l, nil)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for at, n := 0, len(lines)/5+1; at < len(lines); at += n {
		l.killed(binary, path, lines[at:min(at+n, len(lines))])
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, whole) {
		t.Fatalf("the session has %d bytes of %d: %v", len(text), len(whole), err)
	}
	l.same("after kills, before anything is read again", l.numbers(word), want)
	if b, err := l.a.Import(t.Context(), []string{filepath.Join(l.home, dir)}, DefaultFollow()); err != nil {
		t.Fatalf("import: %v %+v", err, b)
	}
	l.same("imported", l.numbers(word), want)
	_, err := l.a.RefreshArchive(t.Context(), ArchiveAt{}, nil)
	l.must(err)
	_, err = l.a.RebuildArchive(t.Context(), ArchiveAt{})
	l.must(err)
	l.same("rebuilt", l.numbers(word), want)

	records, err := record.List(record.Dir(l.a.Root))
	if err != nil || len(records) != 1 || !strings.HasPrefix(records[0].Run, run) {
		t.Fatalf("records: %+v %v", records, err)
	}
	zip := filepath.Join(l.home, "run.zip")
	_, err = l.a.CreateBundle(t.Context(), records[0].Run, Bundling{Out: zip})
	l.must(err)

	if archived != "" { // the program moves it
		moved := filepath.Join(l.home, dir, archived, filepath.Base(main))
		l.must(os.MkdirAll(filepath.Dir(moved), 0o700))
		l.must(os.Rename(path, moved))
		l.same("put away", l.numbers(word), want)
		if _, err := l.a.Watch(t.Context(), nil, once); err != nil {
			t.Fatal(err)
		}
		l.same("put away, and watched", l.numbers(word), want)
	}
	l.must(os.RemoveAll(filepath.Join(l.home, dir)))
	l.same("deleted, and on record", l.numbers(word), want)
	copied := filepath.Join(l.home, "copy.jsonl")
	session := strings.TrimPrefix(records[0].Run, run)
	l.must(l.a.RestoreArchived(t.Context(), ArchiveAt{}, session, copied))
	l.must(os.RemoveAll(filepath.Join(l.a.Root, ".conclave", "records")))
	l.same("deleted, record and all", l.numbers(word), want)

	l.same("the bundle", l.numbers(word, zip), withoutHits(want))
	if got, err := os.ReadFile(copied); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("restored are %d bytes of %d: %v", len(got), len(whole), err)
	}
	if len(files) == 1 {
		l.same("restored", l.numbers(word, copied), withoutHits(want))
		other := newLife(t)
		if b, err := other.a.Import(t.Context(), []string{copied}, DefaultFollow()); err != nil {
			t.Fatalf("import what was restored: %v %+v", err, b)
		}
		other.same("restored and imported", other.numbers(word), want)
	}
}

// TestSessionElsewhere: a session that its program has packed, and one whose
// directory is a link to another, is the session that it was: one record, one answer,
// also when it is deleted.
func TestSessionElsewhere(t *testing.T) {
	t.Parallel()
	const name = "rollout-2026-11-15T00-16-23-01a1dc8f-f251-7030-bc88-2ed97e77d298.jsonl"
	whole, err := os.ReadFile("../testdata/fixtures/codex/01-simple/codex_home/sessions/2026/11/15/" + name)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile("../session/testdata/packed/" + name + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	alone := newLife(t)
	alone.write(filepath.Join(alone.home, ".codex/sessions/2026/11/15", name), whole)
	want := alone.numbers("answer")
	if !strings.Contains(want, "hit: ") || !strings.Contains(want, "usage by") {
		t.Fatalf("nothing to compare: %s", want)
	}
	once := DefaultFollow()
	once.Once = true
	stage := func(l *life, what string) {
		t.Helper()
		l.same(what, l.numbers("answer"), want)
		if b, err := l.a.Watch(t.Context(), nil, once); err != nil {
			t.Fatalf("%s: %v %+v", what, err, b)
		}
		l.same(what+", and watched", l.numbers("answer"), want)
		if records, err := record.List(record.Dir(l.a.Root)); err != nil || len(records) != 1 {
			t.Errorf("%s: records: %+v %v", what, records, err)
		}
	}

	lives := []func(){
		func() {
			l := newLife(t)
			path := filepath.Join(l.home, ".codex/archived_sessions", name)
			l.write(path+".zst", packed)
			stage(l, "packed from the first")
			l.write(path, whole)
			stage(l, "being unpacked")
			l.must(os.Remove(path + ".zst"))
			stage(l, "unpacked")
			l.write(path+".zst", packed)
			l.must(os.Remove(path))
			stage(l, "packed")
			l.must(os.Remove(path + ".zst"))
			l.must(os.RemoveAll(filepath.Join(l.a.Root, ".conclave", "records")))
			l.same("deleted, record and all", l.numbers("answer"), want)
		},
		func() {
			never := newLife(t) // unpacked, or recorded
			path := filepath.Join(never.home, ".codex/sessions", name)
			never.write(path+".zst", packed)
			never.same("packed", never.numbers("answer"), want)
			never.must(os.Remove(path + ".zst"))
			never.same("packed, and deleted", never.numbers("answer"), want)
		},
		func() {
			linked := newLife(t)
			far := filepath.Join(linked.home, "disk", "15")
			linked.write(filepath.Join(far, name), whole)
			month := filepath.Join(linked.home, ".codex/sessions/2026/11")
			linked.must(os.MkdirAll(month, 0o700))
			linked.must(os.Symlink(far, filepath.Join(month, "15")))
			linked.must(os.Symlink(month, filepath.Join(month, "round")))
			stage(linked, "linked")
			linked.must(os.RemoveAll(far))
			linked.same("linked, and deleted", linked.numbers("answer"), want)
		},
	}
	for _, i := range sample.Pick(t, len(lives), 1, 1) {
		lives[i]()
	}
}

// killed has a session written, line by line and in the middle of lines, while the
// real program watches, and kills that when it has begun to record and the writing
// goes on. The session itself is written to its end.
func (l *life) killed(binary, path string, lines [][]byte) {
	l.t.Helper()
	watch := exec.CommandContext(l.t.Context(), binary, "record", "watch")
	watch.Dir = l.a.Root
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		watch.Env = append(watch.Env, name+"="+l.a.Getenv(name))
	}
	before := l.recorded()
	l.must(watch.Start())
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	l.must(err)
	defer f.Close()
	dead := make(chan struct{})
	go func() {
		defer close(dead)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for l.recorded() == before && l.t.Context().Err() == nil {
			<-tick.C
		}
		_ = watch.Process.Kill()
		_ = watch.Wait() // it was killed
	}()
	for i, line := range lines {
		if i == len(lines)-1 {
			<-dead
		}
		for _, piece := range [][]byte{line[:len(line)/2], line[len(line)/2:]} {
			_, err := f.Write(piece)
			l.must(err)
		}
	}
	if code := watch.ProcessState.ExitCode(); code != -1 {
		l.t.Fatalf("the watcher ended by itself: %v", watch.ProcessState)
	}
}

// recorded is how many bytes are on the records.
func (l *life) recorded() (n int64) {
	list, err := record.List(record.Dir(l.a.Root))
	if err != nil {
		return 0 // they are being made
	}
	for _, r := range list {
		n += r.Size
	}
	return n
}
