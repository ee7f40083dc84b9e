package home

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"conclave/agent"
)

func TestPut(t *testing.T) {
	host := t.TempDir()
	p := agent.Place{Host: host, Guest: "/room"}
	for _, text := range []string{"first", "second"} {
		if err := Put(p, []byte(text), agent.HomeDir, ".config", "x.json"); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(host, agent.HomeDir, ".config", "x.json")
		data, err := os.ReadFile(file)
		if err != nil || string(data) != text {
			t.Errorf("%q, %v", data, err)
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
	if !slices.Contains(Env(p), "HOME=/room/home") {
		t.Errorf("%q", Env(p))
	}
}

// Who lives in the room may have left links: none of them is followed out of it.
func TestNoLinkLeadsOut(t *testing.T) {
	host, outside := t.TempDir(), t.TempDir()
	p := agent.Place{Host: host, Guest: host}
	if err := Dir(p, agent.HomeDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(host, agent.HomeDir, ".config")); err != nil {
		t.Fatal(err)
	}
	if err := Put(p, []byte("x"), agent.HomeDir, ".config", "x.json"); err == nil {
		t.Error("a file was written through a link out of the room")
	}
	mine := filepath.Join(outside, "mine")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mine, filepath.Join(host, agent.HomeDir, "x.json")); err != nil {
		t.Fatal(err)
	}
	if err := Put(p, []byte("x"), agent.HomeDir, "x.json"); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(mine); string(data) != "mine" {
		t.Errorf("a file outside of the room now holds %q", data)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside there is %v", entries)
	}
}
