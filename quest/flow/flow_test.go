package flow

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/agent/scripted"
	"conclave/engine"
	"conclave/internal/sample"
	"conclave/profile"
	"conclave/quest"
	"conclave/room"
	"conclave/seat"
)

func TestMain(m *testing.M) {
	room.Init()
	sample.Tests(7)
	os.Exit(m.Run())
}

// noon is when everything happens in these tests.
func noon() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }

// stage is a workspace with a party that plays a script.
type stage struct {
	dir     string
	script  string
	answers map[string]string // by the question's name, whatever its number
	crash   func(string)
	listen  Listener
}

func (s stage) house() (*House, error) {
	script, err := scripted.Parse([]byte(s.script))
	if err != nil {
		return nil, err
	}
	return New(Options{
		Root: s.dir, Now: noon, Listener: s.listen, Library: profile.Library{},
		Dress: func(p *seat.Plan) error {
			p.Agent, p.InProcess, p.Program = &scripted.Agent{Script: script}, true, "test"
			return nil
		},
	}), nil
}

// Ask answers by the name of the question: "3 agree" is asked for "agree".
func (s stage) Ask(_ context.Context, q engine.Question) (string, error) {
	for name, answer := range s.answers {
		if len(q.ID) > len(name) && q.ID[len(q.ID)-len(name)-1:] == " "+name {
			return answer, nil
		}
	}
	if q.Default != "" {
		return q.Default, nil
	}
	return "", engine.ErrNobody
}

// act is one interaction of a play.
type act struct {
	flow  string
	input any
}

// play runs acts in order, each under an id of its own: what has ended is left
// alone, what was cut goes on.
func (s stage) play(ctx context.Context, acts []act) (results []Result, err error) {
	h, err := s.house()
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(ctx, engine.Options{Dir: s.dir, Scope: Scope, Flows: h.Flows(), Asker: h.Asker(s), CrashPoint: s.crash})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close(), e.Close()) }()
	for i, a := range acts {
		id := string(rune('a'+i)) + "-" + a.flow
		data, err := e.Start(ctx, a.flow, id, a.input)
		if errors.Is(err, engine.ErrUsed) {
			data, err = e.Resume(ctx, id)
		}
		if err != nil {
			return results, err
		}
		var res Result
		if err := json.Unmarshal(data, &res); err != nil {
			return results, err
		}
		results = append(results, res)
	}
	return results, nil
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const aQuest = `---
campaign-mode: Grow & Ship
phase: 3
created: 2026-02-14
---

# Cross the river

## Quest Narrative

There is a village on the other side that waits for the bread we bake.

## Success Criteria

1. A bridge stands

## Anticipated Dragon

The spring flood.

## Party Assignments

## Progress Log

- **Phase 1 complete** — Quest defined (2026-02-14)
`

// proved checks that every conversation is proved by its record.
func proved(t testing.TB, dir string, want int) {
	t.Helper()
	proofs, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proofs {
		if !p.OK {
			t.Errorf("%s: %s", p.File, p.Reason)
		}
	}
	if len(proofs) != want {
		t.Errorf("%d conversations, want %d", len(proofs), want)
	}
}

func conversation(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(quest.ConversationsDir), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestArchivesNeverOverwrite: an old quest is kept byte for byte, damaged or
// not, under a name of its own.
func TestArchivesNeverOverwrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, c := range []struct{ text, name string }{
		{aQuest, "2026-02-14-cross-the-river.md"},
		{aQuest + "more\n", "2026-02-14-cross-the-river_02.md"},
		{strings.Replace(aQuest, "# Cross the river", "# First: a/quest!", 1), "2026-02-14-first-a-quest.md"},
		{"damaged \x00", "undated-quest.md"},
	} {
		write(t, dir, quest.QuestFile, c.text)
		s := stage{dir: dir}
		acts := slices.Repeat([]act{{"move", Move{Archive: true}}}, i+1) // all but the last have ended
		if _, err := s.play(t.Context(), acts); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, quest.ArchiveDir, c.name))
		if err != nil || string(got) != c.text {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
