package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// atPack runs a command as if a person sat at a terminal and typed the answers.
func atPack(t *testing.T, dir, answers string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	env := &environment{Terminal: piped(answers, &out, &out), Dir: dir,
		Getenv: func(name string) string {
			return map[string]string{"XDG_DATA_HOME": filepath.Join(dir, ".data")}[name]
		}}
	env.StdinIsTerminal = true
	cmd := newPackCommand(env)
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage = true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestInstallOffersToCustomise(t *testing.T) {
	dir := t.TempDir()
	out, err := atPack(t, dir, "the rogue\nThe Locksmith\n🔑\nlynx\nowl\na/b\n\n\n", "install", "fantasy")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Customise a character?", "Name [The Rogue]:", "Emoji [🗡️]:", "**🔑 The Locksmith:**", `no profile for "lynx"`, `skin name "a/b"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, ".campaign", "profiles", "owl.md"))
	if err != nil || !strings.Contains(string(data), "The Sage") {
		t.Errorf("a refused name changed the owl: %v", err)
	}
}

func TestInstallAsksAPerson(t *testing.T) {
	dir := t.TempDir()
	if _, err := atPack(t, dir, "\n", "install", "fantasy"); err != nil {
		t.Fatal(err)
	}
	cat := filepath.Join(dir, ".campaign", "profiles", "cat.md")
	if err := os.WriteFile(cat, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := atPack(t, dir, "n\n", "install", "neutral"); err == nil || !strings.Contains(out, "You edited cat.md") {
		t.Errorf("no: %v\n%s", err, out)
	}
	if data, _ := os.ReadFile(cat); string(data) != "mine" {
		t.Error("replaced after a no")
	}
	if out, err := atPack(t, dir, "y\n\n", "install", "neutral"); err != nil || !strings.Contains(out, "are kept in") {
		t.Errorf("yes: %v\n%s", err, out)
	}
	if data, _ := os.ReadFile(cat); !strings.Contains(string(data), "Risk Analyst") {
		t.Error("not replaced after a yes")
	}
}
