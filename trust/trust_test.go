package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	if err := s.Check(ws, items[:1]); err != nil {
		t.Errorf("one of them alone: %v", err)
	}
	// Q7: what is missing is named, and nothing else.
	for want, asked := range map[string][]Item{
		"check of criterion 1 changed since you said yes; look":                                  {items[0], {"check of criterion 1", []byte("rm -rf /")}},
		"you have not said yes to check of criterion 2; look":                                    append(items[:2:2], Item{"check of criterion 2", nil}),
		"you have not said yes to check of criterion 9, x.md; look":                              {items[0], {"check of criterion 9", items[1].Text}, {"x.md", nil}},
		"trusted: conclave.yaml changed since you said yes; you have not said yes to x.md; look": {{"x.md", nil}, {"conclave.yaml", nil}, items[1]},
	} {
		if err := s.Check(ws, asked); !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	newer := []Item{{"conclave.yaml", []byte("agents: {cat: {}}")}}
	if err := errors.Join(s.Grant(ws, newer), s.Check(ws, newer), s.Check(ws, items)); err != nil {
		t.Errorf("a yes to one item touched another, or what was seen before: %v", err)
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

// TestTheFirstVersionIsRead: a yes of the first version holds if everything is as
// it was, and is worth nothing otherwise.
func TestTheFirstVersionIsRead(t *testing.T) {
	ws := t.TempDir()
	key, err := canonical(ws)
	if err != nil {
		t.Fatal(err)
	}
	items := []Item{{"conclave.yaml", []byte("agents: {}")}, {"profile-packs/x/cat.md", []byte("cat")}}
	for name, same := range map[string]bool{"same": true, "changed": false} {
		s := Store{filepath.Join(t.TempDir(), "trust.json")}
		old := fmt.Sprintf("{%q: {\"digest\": %q, \"names\": [\"conclave.yaml\"], \"since\": \"2026-01-02T03:04:05Z\"}}", key, digest(items))
		if err := os.WriteFile(s.Path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(ws, items[:1]); !errors.Is(err, ErrUntrusted) {
			t.Errorf("%s: one hash of everything says nothing of one item: %v", name, err)
		}
		now := slices.Clone(items)
		if !same {
			now[1].Text = []byte("dog")
		}
		if err := s.Upgrade(ws, func() []Item { return now }); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(ws, items[:1]); (err == nil) != same {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(s.Grant(ws, items), s.Check(ws, items)); err != nil {
			t.Errorf("%s: a new yes: %v", name, err)
		}
	}
}

// Two who say yes at the same moment are both heard.
func TestTrustAtOnce(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "trust.json")}
	items := []Item{{"conclave.yaml", []byte("agents: {}")}}
	const people, times = 6, 2
	var said [people]string
	var errs [people]error
	var wg sync.WaitGroup
	for n := range people {
		said[n] = t.TempDir()
		wg.Go(func() {
			for range times {
				errs[n] = errors.Join(errs[n], s.Revoke(said[n]), s.Grant(said[n], items))
			}
		})
	}
	wg.Wait()
	for n, ws := range said {
		if err := errors.Join(errs[n], s.Check(ws, items)); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(s.Path)); err != nil || len(left) != 1 {
		t.Errorf("beside the file: %v, %v", left, err)
	}
}

// What belongs to no workspace is kept beside them, by its text, and taken back
// alone.
func TestOwn(t *testing.T) {
	s := Store{Path: filepath.Join(t.TempDir(), "data", "trust.json")}
	one, other := []Item{{"login one", []byte("text")}}, []Item{{"login other", []byte("text")}}
	if err := s.CheckOwn(one); !errors.Is(err, ErrUntrusted) {
		t.Errorf("before a word was said: %v", err)
	}
	if err := errors.Join(s.GrantOwn(one), s.GrantOwn(other), s.CheckOwn(one), s.CheckOwn(other)); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckOwn([]Item{{"login one", []byte("another text")}}); !errors.Is(err, ErrUntrusted) {
		t.Errorf("another text: %v", err)
	}
	if err := errors.Join(s.RevokeOwn("login one"), s.CheckOwn(other)); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckOwn(one); !errors.Is(err, ErrUntrusted) {
		t.Errorf("after it was taken back: %v", err)
	}
	if (Store{}).GrantOwn(one) == nil || (Store{}).CheckOwn(one) == nil {
		t.Error("a word was kept nowhere")
	}
}
