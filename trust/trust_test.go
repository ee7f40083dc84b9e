package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrustHoldsForTheContentAlone(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "deep", "trust.json")}
	ws, other := t.TempDir(), t.TempDir()
	items := []Item{{"conclave.yaml", []byte("agents: {}")}, {"check of criterion 1", []byte("go test ./...")}}
	if err := s.Check(ws, items); !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "conclave trust") {
		t.Errorf("a stranger: %v", err)
	}
	if err := s.Check(ws, nil); err != nil {
		t.Errorf("who asks for nothing needs no trust: %v", err)
	}
	if err := s.Grant(ws, items); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(ws, []Item{items[1], items[0]}); err != nil {
		t.Errorf("the order matters: %v", err)
	}
	for name, changed := range map[string][]Item{
		"content":   {items[0], {"check of criterion 1", []byte("rm -rf /")}},
		"one more":  append(items[:2:2], Item{"check of criterion 2", nil}),
		"one fewer": items[:1],
		"renamed":   {items[0], {"check of criterion 9", items[1].Text}},
	} {
		if err := s.Check(ws, changed); !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Check(other, items); !errors.Is(err, ErrUntrusted) {
		t.Errorf("another workspace with the same files: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(ws, link); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(link, items); err != nil {
		t.Errorf("the same workspace by another name: %v", err)
	}
	if err := s.Revoke(ws); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(ws, items); !errors.Is(err, ErrUntrusted) {
		t.Errorf("after taking it back: %v", err)
	}
	if info, err := os.Stat(s.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
}

func TestADamagedStoreTrustsNobody(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "trust.json")}
	if err := os.WriteFile(s.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.TempDir(), []Item{{"x", nil}}); !errors.Is(err, ErrUntrusted) {
		t.Errorf("Check = %v", err)
	}
	if err := s.Grant(t.TempDir(), []Item{{"x", nil}}); err == nil {
		t.Error("a damaged file was overwritten")
	}
}
