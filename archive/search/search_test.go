package search_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/archive"
	"conclave/archive/archivetest"
	"conclave/archive/search"
	"conclave/record"
	"conclave/transcript"
)

var (
	ctx            = context.Background()
	newTestArchive = archivetest.Open
	refresh        = archivetest.Refresh
	newRecord      = archivetest.NewRecord
	emit           = archivetest.Emit
)

// story is a small archive in which it is known what stands where.
func story(t *testing.T) *archive.Archive {
	t.Helper()
	dir := t.TempDir()
	for i, run := range []struct {
		role  string
		texts []string
	}{
		{"cat", []string{"The dragon sleeps in the north cave.", "Größe und Café: naïve façade", "snake_case and camelCase in foo_bar.go"}},
		{"owl", []string{"A dragon, a dragon, a dragon!", "東京タワーへ行く", "the cave of the dragon is dark; " + strings.Repeat("filler words go on and on. ", 300)}},
	} {
		newRecord(t, filepath.Join(dir, "proj-"+run.role), fmt.Sprintf("run-%d", i), "quest.consult."+run.role, func(_ *record.Writer, e *transcript.Emitter) {
			for _, text := range run.texts {
				emit(t, e, transcript.AssistantMessage, map[string]any{"text": text})
			}
			emit(t, e, transcript.ToolUse, map[string]any{"tool_use_id": "t" + run.role, "name": "Bash", "input": map[string]any{"command": "ls /tmp/dragon"}})
		})
	}
	a := newTestArchive(t)
	refresh(t, a, dir)
	return a
}

func TestSearch(t *testing.T) {
	a := story(t)
	for _, c := range []struct {
		q    search.Query
		want string // role and number of the hits, best first; "*" in any order
	}{
		{search.Query{Words: "sleeps"}, "cat/1"},
		{search.Query{Words: "DRAGON sleeps"}, "cat/1"},
		{search.Query{Words: `"north cave"`}, "cat/1"},
		{search.Query{Words: `"cave north"`}, ""},
		{search.Query{Words: "cafe"}, "cat/2"},
		{search.Query{Words: "grosse"}, ""}, // ß is not ss here
		{search.Query{Words: "größe"}, "cat/2"},
		{search.Query{Words: "facade naive"}, "cat/2"},
		{search.Query{Words: "東京"}, "owl/2"},
		{search.Query{Words: "京東"}, ""},
		{search.Query{Words: "foo_bar"}, "cat/3"},
		{search.Query{Words: "camelc*"}, "cat/3"},
		{search.Query{Words: "camelc"}, ""},
		{search.Query{Words: "dragon -cave -ls"}, "owl/1"},
		{search.Query{Words: `dragon -"north cave" -ls`}, "*owl/1 owl/3"},
		{search.Query{Words: "dragon", In: []transcript.Type{transcript.ToolUse}}, "*cat/4 owl/4"},
		{search.Query{Words: "dragon", Role: "owl", In: []transcript.Type{transcript.AssistantMessage}}, "owl/1 owl/3"},
		{search.Query{Words: "bash", Project: "PROJ-cat"}, "cat/4"},
		{search.Query{Words: "dragon", Project: "nowhere"}, ""},
		{search.Query{Words: "dragon", Until: time.Now().Add(-time.Hour)}, ""},
		{search.Query{Words: "sleeps", Since: time.Now().Add(-time.Hour)}, "cat/1"},
		{search.Query{Words: "sleeps", Since: time.Now().Add(time.Hour)}, ""},
	} {
		res, err := search.Find(ctx, a, c.q)
		if err != nil {
			t.Errorf("%+v: %v", c.q, err)
			continue
		}
		var got []string
		for _, h := range res.Hits {
			got = append(got, fmt.Sprintf("%s/%d", h.Role, h.Seq))
		}
		want, anyOrder := strings.CutPrefix(c.want, "*")
		if anyOrder {
			if len(got) == 2 && got[0] > got[1] {
				got[0], got[1] = got[1], got[0]
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: found %v, want %v", c.q, got, c.want)
		}
	}
}

func TestSearchShows(t *testing.T) {
	a := story(t)
	res, err := search.Find(ctx, a, search.Query{Words: "filler dark", Context: 1})
	if err != nil || len(res.Hits) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	h := res.Hits[0]
	if len(h.Marks) < 2 || h.Snippet[h.Marks[0][0]:h.Marks[0][1]] != "dark" || len(h.Snippet) > 320 {
		t.Errorf("snippet %q, marks %v", h.Snippet, h.Marks)
	}
	if len(h.Before) != 1 || !strings.Contains(h.Before[0].Text, "東京") || len(h.After) != 1 || h.After[0].Tool != "Bash" {
		t.Errorf("around: %+v %+v", h.Before, h.After)
	}
	if h.ID != "run-1/main/3" || h.Kind != "record" {
		t.Errorf("id %q of a %s", h.ID, h.Kind)
	}
	if res, err := search.Find(ctx, a, search.Query{Words: "dragon", Limit: 2}); err != nil || len(res.Hits) != 2 || !res.More {
		t.Errorf("limited: %+v %v", res, err)
	}
	for _, words := range []string{"", "  ", "-dragon", `""`, "...", "-"} {
		if _, err := search.Find(ctx, a, search.Query{Words: words}); !errors.Is(err, search.ErrNoWords) {
			t.Errorf("%q: %v", words, err)
		}
	}
	for _, words := range []string{`"`, `AND`, `a OR b`, `NEAR(a b)`, `dragon"`, `{}`, `col:dragon`, "dragon\x00", "_t1"} {
		if _, err := search.Find(ctx, a, search.Query{Words: words + " x"}); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
}
