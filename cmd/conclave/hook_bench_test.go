package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/program"
)

// BenchmarkHookSession is how long a client waits for the hook at the start of a
// session, with a gate before "done" and a commit to keep for it, beside the bare start of the program.
func BenchmarkHookSession(b *testing.B) {
	built, err := program.Build(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	home, root := b.TempDir(), b.TempDir()
	took := func(in, name string, args ...string) time.Duration {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stdin = root, strings.NewReader(in)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		begun := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
		return time.Since(begun)
	}
	own := filepath.Join(home, ".config", "conclave")
	if err := errors.Join(os.Mkdir(filepath.Join(root, ".campaign"), 0o755), os.MkdirAll(own, 0o700),
		os.WriteFile(filepath.Join(own, "config.yaml"), []byte("gate: {before_done: done.md}\n"), 0o600)); err != nil {
		b.Fatal(err)
	}
	took("", "git", "init", "-q", ".")
	took("", "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
	var hook, version time.Duration
	n := 0
	for b.Loop() {
		n++
		const told = `{"hook_event_name":"SessionStart","session_id":"s%d","transcript_path":"/nonexistent/s.jsonl"}`
		hook += took(fmt.Sprintf(told, n), built, "hook", "session")
		version += took("", built, "version")
	}
	b.ReportMetric(float64(hook.Milliseconds())/float64(n), "ms/hook")
	b.ReportMetric(float64(hook)/float64(version), "×version")
}
