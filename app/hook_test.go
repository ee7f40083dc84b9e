package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDoneHook: nothing happens unless the person's own file asks for it; then an
// agent is sent back once, is not judged by criteria that it changed itself, and
// goes where nobody could judge, which the person is told.
func TestDoneHook(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	own := filepath.Join(home, ".config", "conclave", "config.yaml")
	put := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	hook := func(input string) *HookWord {
		t.Helper()
		a := &App{Dir: root, Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
			Stdin: strings.NewReader(input)}
		word, err := a.DoneHook(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return word
	}
	const stop, again = `{"session_id":"s","stop_hook_active":false}`, `{"session_id":"s","stop_hook_active":true}`
	put(filepath.Join(root, ".campaign", ".keep"), "")
	put(filepath.Join(root, "plan.md"), "A bridge.\n")
	if word := hook(stop); word != nil {
		t.Errorf("nobody asked for a gate: %+v", word)
	}
	put(own, "gate: {before_done: done.md}\n")
	if word := hook(stop); word != nil {
		t.Errorf("a project without such criteria is judged: %+v", word)
	}
	put(filepath.Join(root, "done.md"), "1. The bridge is beautiful\n")
	if word := hook(stop); word == nil || word.Decision != "" || !strings.Contains(word.Message, "was not judged by done.md") {
		t.Errorf("what the embedded judge cannot judge: %+v", word)
	}
	if word := hook(again); word != nil {
		t.Errorf("an agent is sent back twice: %+v", word)
	}
}
