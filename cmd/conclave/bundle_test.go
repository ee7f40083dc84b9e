package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runBundle runs one command in a directory of its own.
func runBundle(t *testing.T, dir string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := &environment{Terminal: piped("", &stdout, &stderr), Dir: dir, Getenv: func(string) string { return "" }}
	code = execute(t.Context(), env, append([]string{"bundle"}, args...))
	return code, stdout.String(), stderr.String()
}

// TestBundlesOfTheOriginal: the original system's bundles open here; what was
// changed in one is an answer, with exit code 1.
func TestBundlesOfTheOriginal(t *testing.T) {
	dir := t.TempDir()
	fixtures, err := filepath.Abs(filepath.Join("..", "..", "testdata", "fixtures", "bundles"))
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(fixtures, name) }
	steps := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"verify", file("wink-claude-error.zip"), file("wink-claude-subagents.zip"), file("wink-codex-commands.zip")}, 0, "wink-codex-commands.zip: sound: 8 files"},
		{[]string{"open", file("wink-claude-error.zip")}, 0, "status     error"},
		{[]string{"open", file("wink-claude-error.zip"), "error.json"}, 0, "ProviderError"},
		{[]string{"open", file("wink-codex-commands.zip"), "--extract", "out"}, 0, filepath.Join("out", "debug_bundle")},
		{[]string{"list", fixtures}, 0, "success"},
		{[]string{"verify", "text.zip"}, 1, "no whole zip"},
		{[]string{"verify", "broken.zip"}, 1, "not sound"},
		{[]string{"open", "broken.zip", "--extract", "bad"}, 1, "conclave: "},
		{[]string{"verify", "none.zip"}, 2, "none.zip"},
		{[]string{"open", "none.zip"}, 2, "none.zip"},
		{[]string{"verify"}, 2, "arg"},
	}
	good, err := os.ReadFile(file("wink-codex-commands.zip"))
	if err != nil {
		t.Fatal(err)
	}
	good[3000] ^= 1
	for name, text := range map[string][]byte{"text.zip": []byte("words"), "broken.zip": good} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range steps {
		code, out, errs := runBundle(t, dir, s.args...)
		if code != s.code || !strings.Contains(out+errs, s.want) {
			t.Errorf("%v: exit code %d, want %d with %q\n%s%s", s.args, code, s.code, s.want, out, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "bad")); err == nil {
		t.Error("a broken bundle was extracted")
	}
}
