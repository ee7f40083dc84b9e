package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnePage: a workspace has one page at a time; who comes second gets a link from
// the first, and serves it when that has ended.
func TestOnePage(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	env := func(k string) string { return map[string]string{"HOME": home}[k] }
	first := &App{Dir: root, Getenv: env, Version: "1"}
	link := func() (string, error) { return "http://127.0.0.1:1/#enter=x", nil }
	serving, end, ended := make(chan string), make(chan struct{}), make(chan error, 1)
	go func() {
		elsewhere, err := first.HoldPage(t.Context(), link, func(root string) error {
			serving <- root
			<-end
			return nil
		})
		if elsewhere != "" {
			t.Errorf("the first is sent to %s", elsewhere)
		}
		ended <- err
	}()
	if got := <-serving; got != root {
		t.Errorf("served is %s", got)
	}
	never := func(string) error { t.Error("served twice"); return nil }
	got, err := (&App{Dir: root, Getenv: env, Version: "1"}).HoldPage(t.Context(), nil, never)
	if err != nil || got != "http://127.0.0.1:1/#enter=x" {
		t.Errorf("the second gets %q, %v", got, err)
	}
	if _, err := (&App{Dir: root, Getenv: env, Version: "2"}).HoldPage(t.Context(), nil, never); err == nil ||
		!strings.Contains(err.Error(), "conclave 1") {
		t.Errorf("another version: %v", err)
	}
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, linked); err != nil {
		t.Fatal(err)
	}
	if got, err := (&App{Dir: linked, Root: linked, Getenv: env, Version: "1"}).HoldPage(t.Context(), nil, never); got == "" {
		t.Errorf("by another name the workspace is another one: %v", err)
	}
	other := false
	_, err = (&App{Dir: t.TempDir(), Getenv: env, Version: "1"}).HoldPage(t.Context(), link,
		func(string) error { other = true; return nil })
	if err != nil || !other {
		t.Errorf("another workspace: %v %v", other, err)
	}
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(home, ".cache", "conclave", "web", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("in the workspace: %v %v", left, err)
	}
	again := false
	_, err = first.HoldPage(t.Context(), link, func(string) error { again = true; return nil })
	if err != nil || !again {
		t.Errorf("afterwards: %v %v", again, err)
	}
	if _, err := first.PageLink(t.Context()); KindOf(err) != Usage {
		t.Errorf("a link to no page: %v", err)
	}
}
