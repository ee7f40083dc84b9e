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

func TestStoreRefusesLinksAndStrangePaths(t *testing.T) {
	s, dir := openStore(t)
	put(t, dir, map[string]string{"secret.txt": "s", "elsewhere/x": "y"})
	for _, name := range []string{"secret.txt", ".campaign", ".campaign/../secret.txt", "/etc/passwd", ".campaignx/a", ".campaign//a", ""} {
		if _, err := s.Read(name); err == nil {
			t.Errorf("read %q", name)
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
