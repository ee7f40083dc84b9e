package quest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Criteria of their own, outside of a quest, in every form that people write.
func TestReadCriteria(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
		says string
	}{
		"numbered":           {"1. One.\n2. Two.\n   more of it\n", []string{"One.", "Two.\n   more of it"}, ""},
		"bullets":            {"- [x] One.\n- Two.\n", []string{"One.", "Two."}, ""},
		"under headings":     {"# What counts\n\nWhy we chose these.\n\n## Deliverables\n\n1. One.\n\n## Growth\n\n1. Two.\n", []string{"One.", "Two."}, ""},
		"one sentence":       {"It builds.\n", []string{"It builds."}, ""},
		"one with a check":   {"It builds (check: `make`)", []string{"It builds (check: `make`)"}, ""},
		"paragraphs":         {"It builds.\n\nAnd runs.", []string{"It builds.\nAnd runs."}, ""},
		"line ends":          {"1. One.\r\n2. Two.\r\n", []string{"One.", "Two."}, ""},
		"of a quest":         {"# Quest\n\n1. Not this.\n\n## Success Criteria\n\n1. This.\n\n## Progress Log\n\n1. Nor that.\n", []string{"This."}, ""},
		"empty":              {" \n", nil, "there are no criteria"},
		"only a heading":     {"# What counts\n", nil, "no success criteria"},
		"no text":            {"a\x00b", nil, "c.md:1: a NUL byte"},
		"not UTF-8":          {"1. a\xffb", nil, "UTF-8"},
		"a conflict":         {"<<<<<<< HEAD\n1. a\n", nil, "merge conflict"},
		"two checks":         {"1. x (check: `a`) (check: `b`)", nil, "2 checks"},
		"a check like prose": {"1. x (check: it builds)", nil, "c.md:1: criterion 1: a check is written"},
	} {
		list, err := ReadCriteria("c.md", []byte(c.text))
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), QuestFile) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var got []string
		for i, k := range list {
			got = append(got, k.Text)
			if k.Number != i+1 || strings.Contains(k.Text, "(check:") != (k.Check == "make") {
				t.Errorf("%s: %+v", name, k)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A commit's links that lead out are left out; named by a person they are refused.
// What is gone since was nothing then.
func TestTreesOfCommits(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{"src/a.go": "a", "src/.env": "K=1", ".campaign/x.md": "x", "empty": ""} {
		file = filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for to, name := range map[string]string{"/etc/passwd": "out", "nowhere": "lost", "src/a.go": "fine", ".campaign/x.md": "leak", "src/.env": "key"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenWork(dir, []string{"."}); err == nil {
		t.Error("the person's own links were not refused")
	}
	w, err := OpenTree(dir, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var got, left []string
	for _, f := range w.Files {
		got = append(got, f.Path)
	}
	for _, l := range w.LeftOut {
		left = append(left, l.Path)
	}
	slices.Sort(left)
	if !slices.Equal(got, []string{"empty", "fine", "src/a.go"}) || !slices.Equal(left, []string{".campaign", "key", "leak", "lost", "out", "src/.env"}) {
		t.Errorf("%q, and without %q", got, left)
	}
	for _, names := range [][]string{{"gone"}, {"gone/*.go"}, {"empty"}} {
		if _, err := OpenTree(dir, names); err == nil {
			t.Errorf("%q is work", names)
		}
		w, err := OpenPast(dir, names)
		if err != nil || w.Bytes != 0 {
			t.Errorf("%q: %v", names, err)
			continue
		}
		w.Close()
	}
	if _, err := OpenPast(dir, []string{".campaign"}); err == nil {
		t.Error("what never goes in went in then")
	}
}
