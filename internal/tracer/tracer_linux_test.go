package tracer

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The tracer sees what a program changes below the directory and nothing else,
// and the program does not come to its next change.
func TestTheTracer(t *testing.T) {
	want := []change{{"open", "in/a"}, {"write", "in/a"}, {"write", "in/a"}, {"open", "in/b"}}
	content := []string{"", "one\n", "one\ntwo\n", "one\ntwo\n"}
	for n := range len(want) + 1 {
		dir := t.TempDir()
		watched, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := os.Mkdir(watched, 0o700); err != nil {
			t.Fatal(err)
		}
		got, err := trace(command{program: "/bin/sh", dir: watched, output: out, deadline: time.Minute,
			args: []string{"-c", "echo no > ../beside; echo one > a; cat=$(:); echo two >> a; : > b; exit 7"}},
			watch{dir, []string{"in"}}, after(n))
		if err != nil {
			t.Fatal(err)
		}
		seen := len(want)
		if n > 0 {
			seen = n
		}
		if fmt.Sprint(got.changes) != fmt.Sprint(want[:seen]) || got.killed != (n > 0) || (got.code == 7) != (n == 0) {
			t.Errorf("killed after %d: %+v", n, got)
		}
		if text, err := os.ReadFile(filepath.Join(watched, "a")); err != nil || string(text) != content[seen-1] {
			t.Errorf("killed after %d: %q, %v", n, text, err)
		}
		if _, err := os.Stat(filepath.Join(watched, "b")); (err == nil) != (seen == len(want)) {
			t.Errorf("killed after %d: %v", n, err)
		}
	}
}
