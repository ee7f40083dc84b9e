package usage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/archive/archivetest"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/session/claude"
	"conclave/transcript"
)

const fixtures = "../testdata/fixtures"

var (
	ctx            = context.Background()
	newTestArchive = archivetest.Open
	refresh        = archivetest.Refresh
	table          = archivetest.Table
	same           = archivetest.Same
	smallTree      = archivetest.Tree
	newRecord      = archivetest.NewRecord
	emit           = archivetest.Emit
	writeFile      = archivetest.WriteFile
	sessionText    = archivetest.Session
)

func count(t *testing.T, o Options, roots ...string) Report {
	t.Helper()
	u, err := Count(ctx, roots, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Problems) > 0 {
		t.Fatalf("problems: %v", u.Problems)
	}
	return u
}

// TestUsageOncePerMessage: the captures repeat the usage of a message on each
// of its lines; the true figure of 02-thinking-tools is 210, not 420.
func TestUsageOncePerMessage(t *testing.T) {
	u := count(t, Options{}, fixtures+"/claude/02-thinking-tools/home")
	if u.Total.Output != 210 || u.Total.Responses != 5 {
		t.Errorf("%+v", u.Total)
	}
	// A fork copies the history of its parent with the same ids.
	u = count(t, Options{By: "session"}, fixtures+"/claude/15b-resume-fork/home")
	if u.Copies == 0 || u.Total.Responses == 0 {
		t.Errorf("the fork has no copies: %+v", u)
	}
	seen := 0
	for _, g := range u.Groups {
		seen += g.Responses
	}
	if seen != u.Total.Responses {
		t.Errorf("groups have %d responses, the total %d", seen, u.Total.Responses)
	}
}

// TestUsageAgrees: the quick way over the files, the archive and the generator
// count the same, by every name.
func TestUsageAgrees(t *testing.T) {
	tree := smallTree(t, 11, int64(sample.Count(150_000, 600_000, 600_000)))
	roots := []string{tree.Dir, fixtures + "/claude", fixtures + "/claude-2.1.197", fixtures + "/codex"}
	u := count(t, Options{}, tree.Dir)
	if u.Total.Input != tree.Input || u.Total.Output != tree.Output || u.Total.CacheRead != tree.CacheRead ||
		u.Total.CacheWrite != tree.CacheWrite || int64(u.Total.Responses) != tree.Messages {
		t.Errorf("counted %+v, written were %+v", u.Total, tree.Written)
	}
	a := newTestArchive(t)
	refresh(t, a, roots...)
	for by, column := range map[string]string{"day": "day", "model": "model", "role": "seat"} {
		var got strings.Builder
		for _, g := range count(t, Options{By: by}, roots...).Groups {
			fmt.Fprintf(&got, "%s|%d|%d|%d|%d|%d\n", g.Name, g.Responses, g.Input, g.Output, g.CacheRead, g.CacheWrite)
		}
		want := table(t, a, `SELECT coalesce(nullif(`+column+`, ''), 'unknown'), count(*), sum(input), sum(output), sum(cache_read), sum(cache_write) FROM usage GROUP BY 1 ORDER BY `+
			map[bool]string{true: "1", false: "sum(total) DESC, 1"}[by == "day"])
		same(t, "usage by "+by, got.String(), want)
	}
}

// TestUsageCache: with a cache the answer is the same, after growth too.
func TestUsageCache(t *testing.T) {
	tree := smallTree(t, 12, 900_000)
	cache := filepath.Join(t.TempDir(), "usage")
	cold := count(t, Options{Cache: cache}, tree.Dir)
	warm := count(t, Options{Cache: cache}, tree.Dir)
	if warm.Read != 0 || warm.Total != cold.Total {
		t.Errorf("warm: read %d bytes, %+v, want %+v", warm.Read, warm.Total, cold.Total)
	}
	r := rand.New(rand.NewPCG(1, 2))
	more := sessionText(t, 777, 200_000)
	for len(more) > 0 {
		n := min(len(more), 1+r.IntN(60_000))
		f, err := os.OpenFile(tree.Files[0], os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(more[:n]); err != nil {
			t.Fatal(err)
		}
		f.Close()
		more = more[n:]
		got, want := count(t, Options{Cache: cache}, tree.Dir), count(t, Options{}, tree.Dir)
		if got.Total != want.Total {
			t.Fatalf("after growth: %+v, want %+v", got.Total, want.Total)
		}
		if got.Read > int64(n)+200_000 {
			t.Errorf("read %d bytes for %d new ones", got.Read, n)
		}
	}
	for _, damage := range [][]byte{nil, []byte("conclave usage 1\n"), []byte("something else")} {
		writeFile(t, cache, damage)
		if got, want := count(t, Options{Cache: cache}, tree.Dir), count(t, Options{}, tree.Dir); got.Total != want.Total {
			t.Errorf("with a damaged cache: %+v", got.Total)
		}
	}
}

func TestUsageOfRecords(t *testing.T) {
	dir := t.TempDir()
	newRecord(t, dir, "r1", "quest.consult.owl", func(_ *record.Writer, e *transcript.Emitter) {
		emit(t, e, transcript.TokenUsage, map[string]any{"message_id": "m1", "model": "claude-opus-4-5", "usage": map[string]any{"input_tokens": 1_000_000, "output_tokens": 100_000}})
		emit(t, e, transcript.TokenUsage, map[string]any{"message_id": "m2", "model": "nobody-1", "usage": map[string]any{"input_tokens": 1, "output_tokens": 1}})
	})
	u := count(t, Options{By: "role"}, dir)
	if len(u.Groups) != 1 || u.Groups[0].Name != "owl" || u.Total.Input != 1_000_001 || u.Total.CostUSD != 7.5 || len(u.Unpriced) != 1 {
		t.Errorf("%+v", u)
	}
	if u := count(t, Options{Since: time.Now().Add(time.Hour)}, dir); u.Total.Responses != 0 {
		t.Errorf("since tomorrow: %+v", u.Total)
	}
	if _, err := Count(ctx, nil, Options{By: "moon"}); !errors.Is(err, ErrNoSuchGroup) {
		t.Errorf("by moon: %v", err)
	}
	a := newTestArchive(t)
	refresh(t, a, dir)
	if got := table(t, a, "SELECT model, cost_usd FROM cost ORDER BY 1"); got != "claude-opus-4-5|7.5\nnobody-1|-\n" {
		t.Errorf("cost: %s", got)
	}
}

// TestUsageByRole: the role is the one that the record states, and not what the
// name of its prompt ends with; also of a record that is gone.
func TestUsageByRole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for prompt, role := range map[string]string{"quest.checkpoint": "guardian", "table.player.bram": "player",
		"table.journal-keeper.bram": "journal-keeper"} {
		w, err := record.Create(filepath.Join(dir, role+record.Extension), record.Header{Run: role, Program: "test",
			Attributes: map[string]string{"role": role, "prompt_name": prompt, "adapter": transcript.AdapterScripted}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := transcript.NewEmitter(transcript.Options{PromptName: prompt, Adapter: transcript.AdapterScripted, Store: w})
		if err != nil {
			t.Fatal(err)
		}
		emit(t, e, transcript.TokenUsage, map[string]any{"message_id": role, "model": "m", "usage": map[string]any{"output_tokens": 1}})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	roles := func(u Report) (names []string) {
		for _, g := range u.Groups {
			names = append(names, g.Name)
		}
		return names
	}
	want := []string{"guardian", "journal-keeper", "player"}
	if got := roles(count(t, Options{By: "role"}, dir)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	a := newTestArchive(t)
	refresh(t, a, dir)
	for _, role := range want {
		if err := os.Remove(filepath.Join(dir, role+record.Extension)); err != nil {
			t.Fatal(err)
		}
	}
	if got := roles(count(t, Options{By: "role", Archive: a}, dir)); !slices.Equal(got, want) {
		t.Errorf("of records that are gone: %v, want %v", got, want)
	}
}

// TestUsageOfExec: what codex exec --json says of a thread is what its rollout says
// in parts: it is counted once, whichever of both is there.
func TestUsageOfExec(t *testing.T) {
	t.Parallel()
	const capture = fixtures + "/codex/20-exec-json-command"
	for responses, roots := range map[int][]string{1: {capture + "/stdout.jsonl"}, 3: {capture + "/codex_home"}, 0: {capture}} {
		if responses == 0 {
			responses = 3
		}
		u := count(t, Options{By: "session"}, roots...)
		if len(u.Groups) != 1 || u.Total.Responses != responses || u.Total.Total != 3150 {
			t.Errorf("%v: %+v", roots, u.Groups)
		}
		a := newTestArchive(t)
		refresh(t, a, roots...)
		if got := table(t, a, "SELECT count(*), sum(total) FROM usage"); got != fmt.Sprintf("%d|3150\n", responses) {
			t.Errorf("%v: the archive says %s", roots, got)
		}
	}
}

// TestUsageOfEqualResponses: 61 responses that cost the same within seconds are
// 61, in what the app-server wrote and in the rollout, and in both together.
func TestUsageOfEqualResponses(t *testing.T) {
	t.Parallel()
	const capture = fixtures + "/codex/31-long-usage"
	for _, roots := range [][]string{
		{capture + "/server.jsonl"}, {capture + "/codex_home"}, {capture + "/server.jsonl", capture + "/codex_home"},
	} {
		u := count(t, Options{By: "model"}, roots...)
		if u.Total.Responses != 61 || u.Total.Total != 64_050 {
			t.Errorf("%v: %+v, want the thread's own total", roots, u.Total)
		}
		if len(u.Groups) != 1 || u.Groups[0].Name != "mock-model" {
			t.Errorf("%v: models %+v", roots, u.Groups)
		}
	}
	if u := count(t, Options{By: "day"}, capture+"/server.jsonl"); u.Groups[0].Name != "2026-11-15" {
		t.Errorf("an app-server's line has its time: %+v", u.Groups)
	}
}

// TestUsageCosts: what was captured costs what Claude Code says that it cost, by
// its files and by an archive: writing to the cache for an hour, searching the
// web, the model that it uses unless it is told otherwise.
func TestUsageCosts(t *testing.T) {
	t.Parallel()
	for capture, want := range map[string]float64{
		"35-cache-1h": 0.60363, "36-web-search-fee": 0.01219, "02-thinking-tools": 0.007,
	} {
		root := fixtures + "/claude/" + capture + "/home"
		cache := filepath.Join(t.TempDir(), "usage")
		for range 2 { // by the files, and by what was kept of them
			if u := count(t, Options{Cache: cache}, root); math.Abs(u.Total.CostUSD-want) > 1e-9 || u.Unpriced != nil {
				t.Errorf("%s: %+v, unpriced %v, want %v dollars", capture, u.Total, u.Unpriced, want)
			}
		}
		a := newTestArchive(t)
		refresh(t, a, root)
		for _, view := range []string{"usage", "cost"} {
			if got := table(t, a, fmt.Sprintf("SELECT abs(sum(cost_usd) - %v) < 1e-9 FROM %s", want, view)); got != "1\n" {
				t.Errorf("%s: not %v dollars by the archive's %s", capture, want, view)
			}
		}
	}
}

// TestUsageOfForks: what a fork copied was used by the session that it was made
// from.
func TestUsageOfForks(t *testing.T) {
	t.Parallel()
	for capture, want := range map[string]string{
		"32-fork":         "30303030 3, 15261c34 2, 6c004c99 1, ",
		"15b-resume-fork": "eeeeeeee 6, eeeeeeee 1, ",
	} {
		var got strings.Builder
		for _, g := range count(t, Options{By: "session"}, fixtures+"/claude/"+capture+"/home").Groups {
			fmt.Fprintf(&got, "%s %d, ", g.Name[:8], g.Responses)
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", capture, got.String(), want)
		}
		a := newTestArchive(t)
		refresh(t, a, fixtures+"/claude/"+capture+"/home")
		same(t, "the archive", strings.ReplaceAll(table(t, a, `SELECT substr(session_id, 1, 8) || ' ' || count(*) FROM usage
			GROUP BY session_id ORDER BY sum(total) DESC`), "\n", ", "), want)
	}
}

// TestUsageWithBlanks: JSON is JSON, however it is spaced.
func TestUsageWithBlanks(t *testing.T) {
	t.Parallel()
	for _, spaced := range []string{`"usage": {`, `"usage" : {`, "\"usage\":\t{"} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		writeFile(t, path, []byte(`{"type": "assistant", "sessionId": "s", "timestamp": "2026-11-15T10:00:00.000Z", `+
			`"message": {"id": "msg_1", "model": "m", "stop_reason": "end_turn", `+spaced+
			`"input_tokens": 3, "output_tokens": 2}}}`+"\n"))
		if u := count(t, Options{}, path); u.Total.Total != 5 {
			t.Errorf("%s: %+v", spaced, u.Total)
		}
	}
}

// TestUsageIsTheClients: the responses of each session, with what the program
// counted and wrote into no line, are the program's own sums; what a fork took up
// of them is not counted again.
func TestUsageIsTheClients(t *testing.T) {
	t.Parallel()
	captures, err := filepath.Glob(fixtures + "/claude/*/home")
	if err != nil || len(captures) < 15 {
		t.Fatalf("%d captures, %v", len(captures), err)
	}
	counted := 0
	for _, root := range captures {
		u := count(t, Options{By: "session"}, root)
		var want int64 // every response of the model server but one used 462 tokens
		switch n := ownTotal(t, root); {
		case strings.Contains(root, "32-fork"):
			want = 300 + 200 + 100 // what the forks say is with what they took up
			want = want / 100 * 462
		case strings.Contains(root, "15b-"):
			want = 7 * 462
		default:
			want = n
		}
		if u.Total.Total != want {
			t.Errorf("%s: %d tokens, the program counted %d", root, u.Total.Total, want)
		}
		counted += u.Total.Responses

		// So say an archive, and, of files that are gone, both together.
		a := newTestArchive(t)
		copied := filepath.Join(t.TempDir(), "home")
		if err := os.CopyFS(copied, os.DirFS(root)); err != nil {
			t.Fatal(err)
		}
		refresh(t, a, copied)
		if got := table(t, a, "SELECT sum(total) FROM usage"); got != fmt.Sprintf("%d\n", want) && (want > 0 || got != "-\n") {
			t.Errorf("%s: the archive says %s, want %d", root, got, want)
		}
		if err := os.RemoveAll(filepath.Join(copied, ".claude")); err != nil {
			t.Fatal(err)
		}
		if gone := count(t, Options{Archive: a}, copied); gone.Total.Total != want {
			t.Errorf("%s: %d tokens when the files are gone, want %d", root, gone.Total.Total, want)
		}
	}
	if counted < 40 {
		t.Errorf("%d responses in all captures", counted)
	}
}

// ownTotal sums the last sums of the sessions below a root.
func ownTotal(t *testing.T, root string) (sum int64) {
	t.Helper()
	files, err := filepath.Glob(root + "/.claude/projects/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", root, files, err)
	}
	for _, f := range files {
		h, err := claude.ReadHistory(f)
		if err != nil {
			t.Fatal(err)
		}
		sum += h.Totals.Total()
	}
	return sum
}
