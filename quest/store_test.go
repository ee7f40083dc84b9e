package quest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes files into a directory.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot is everything in a directory, to show that nothing changed.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", p, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestNoQuestAndTwoQuests(t *testing.T) {
	s, dir := openStore(t)
	if _, err := s.Quest(); !errors.Is(err, ErrNoQuest) {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{".campaign/quest 2.md": "x"})
	if _, err := s.Quest(); !errors.Is(err, ErrNoQuest) || !strings.Contains(err.Error(), "quest 2.md") {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{".campaign/quest.md": string(pluginQuest(t))})
	q, err := s.Quest()
	if err != nil {
		t.Fatal(err)
	}
	if q.Err() == nil || !strings.Contains(q.Err().Error(), "two quests") {
		t.Errorf("two quests: %v", q.Err())
	}
}

func TestReplaceLosesNothing(t *testing.T) {
	s, dir := openStore(t)
	src := pluginQuest(t)
	put(t, dir, map[string]string{QuestFile: string(src)})
	q, err := s.Quest()
	if err != nil {
		t.Fatal(err)
	}
	next, err := q.WithProgress(Progressed("one", "2026-03-01"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{QuestFile: string(src) + "edited by a person\n"})
	before := snapshot(t, dir)
	if err := s.Replace(QuestFile, Digest(src), next); !errors.Is(err, ErrChanged) {
		t.Fatal(err)
	}
	if snapshot(t, dir) != before {
		t.Error("a refused change left traces")
	}
	put(t, dir, map[string]string{QuestFile: string(src)})
	for range 2 { // the second time it is done already
		if err := s.Replace(QuestFile, Digest(src), next); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := s.Read(QuestFile); string(got) != string(next) {
		t.Error("not written")
	}
}

func TestStartNewArchivesTheOld(t *testing.T) {
	s, dir := openStore(t)
	fresh := func(title string) []byte {
		data, err := New(Definition{Title: title, Mode: Ship, Created: "2026-04-01", Narrative: "n", Criteria: []Criterion{{Text: "c"}}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if old, err := s.StartNew(fresh("First: a/quest!")); old != "" || err != nil {
		t.Fatal(old, err)
	}
	old, err := s.StartNew(fresh("Second"))
	if old != ".campaign/archive/2026-04-01-first-a-quest.md" || err != nil {
		t.Fatal(old, err)
	}
	// The same title again, then a damaged quest: nothing is overwritten.
	if _, err := s.StartNew(fresh("First: a/quest!")); err != nil {
		t.Fatal(err)
	}
	edited := string(fresh("First: a/quest!")) + "\nmore\n"
	put(t, dir, map[string]string{QuestFile: edited})
	if old, err = s.StartNew(fresh("Third")); old != ".campaign/archive/2026-04-01-first-a-quest_02.md" || err != nil {
		t.Fatal(old, err)
	}
	put(t, dir, map[string]string{QuestFile: "damaged \x00"})
	if old, err = s.StartNew(fresh("Fourth")); old != ".campaign/archive/undated-quest.md" || err != nil {
		t.Fatal(old, err)
	}
	for name, want := range map[string]string{"2026-04-01-first-a-quest.md": string(fresh("First: a/quest!")), "2026-04-01-first-a-quest_02.md": edited, "undated-quest.md": "damaged \x00"} {
		if got, err := os.ReadFile(filepath.Join(dir, ArchiveDir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	before := snapshot(t, dir)
	if _, err := s.StartNew([]byte("no quest")); err == nil {
		t.Error("something that is no quest was started")
	}
	if snapshot(t, dir) != before {
		t.Error("a refused start left traces")
	}
}

func TestStoreRefusesLinksAndStrangePaths(t *testing.T) {
	s, dir := openStore(t)
	put(t, dir, map[string]string{"secret.txt": "s", "elsewhere/x": "y"})
	for _, name := range []string{"secret.txt", ".campaign", ".campaign/../secret.txt", "/etc/passwd", ".campaignx/a", ".campaign//a", ""} {
		if _, err := s.Read(name); err == nil {
			t.Errorf("read %q", name)
		}
		if err := s.Create(name, []byte("x")); err == nil {
			t.Errorf("created %q", name)
		}
	}
	put(t, dir, map[string]string{".campaign/x.md": "x"})
	for link, target := range map[string]string{".campaign/quest.md": "../secret.txt", ".campaign/conversations": "../elsewhere", ".campaign/profiles": "/etc"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot(t, dir)
	if _, err := s.Quest(); err == nil || errors.Is(err, ErrNoQuest) {
		t.Errorf("a linked quest: %v", err)
	}
	if _, err := s.File(sample(t)); err == nil || !strings.Contains(err.Error(), "links are not followed") {
		t.Errorf("filed through a link: %v", err)
	}
	if _, err := s.Transcripts(); err == nil {
		t.Error("conversations read through a link")
	}
	if _, err := s.Profiles(); err == nil {
		t.Error("profiles read through a link")
	}
	if snapshot(t, dir) != before {
		t.Error("a refusal left traces")
	}
}

func TestMaterialReadsThePluginsDirectory(t *testing.T) {
	s, err := OpenStore(filepath.Join("testdata", "plugin"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := s.Material()
	if err != nil {
		t.Fatal(err)
	}
	if m.Quest.Err() != nil || len(m.Transcripts) != 3 || len(m.Profiles) != 2 || len(m.CouncilReport) == 0 {
		t.Fatalf("read %d transcripts, %d profiles", len(m.Transcripts), len(m.Profiles))
	}
	if len(m.EvaluatorNames) != 1 || m.EvaluatorNames[0] != "Kanga" {
		t.Errorf("evaluators go under %q", m.EvaluatorNames)
	}
	for _, tr := range m.Transcripts {
		if tr.Fault != "" {
			t.Errorf("%s: %s", tr.Name, tr.Fault)
		}
	}
}
