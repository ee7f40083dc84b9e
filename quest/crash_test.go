//go:build unix

package quest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// TestMain is also the writer that TestKilledWhileWriting kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CONCLAVE_TEST_WRITER"); dir != "" {
		writeForEver(dir)
	}
	os.Exit(m.Run())
}

// version is a file that shows whether it is whole: one letter, many times.
func version(n int) []byte { return bytes.Repeat([]byte{byte('a' + n%26)}, 256<<10) }

func writeForEver(dir string) {
	s, err := OpenStore(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	before := ""
	if old, err := s.Read(QuestFile); err == nil {
		before = Digest(old)
	}
	for n := 0; ; n++ {
		err := errors.Join(s.Replace(QuestFile, before, version(n)), s.Create(fmt.Sprintf("%s/%d-%d.md", ConversationsDir, os.Getpid(), n), version(n)))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		before = Digest(version(n))
		fmt.Println("wrote", n)
	}
}

// Killed at any moment, a writer leaves whole files: the old one, the new one,
// or none.
func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	files := 0
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CONCLAVE_TEST_WRITER="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + round%3 {
			if !lines.Scan() || !strings.HasPrefix(lines.Text(), "wrote") {
				t.Fatalf("the writer said %q", lines.Text())
			}
		}
		cmd.Process.Kill()
		for lines.Scan() {
		}
		_ = cmd.Wait() // it was killed
		files = checkWhole(t, s)
	}
	if files < 5 {
		t.Fatalf("only %d files were written", files)
	}
	put(t, dir, map[string]string{".campaign/.quest.md.ABCDEFGH.new": "half"})
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if left := snapshot(t, dir); strings.Contains(left, ".new ") || checkWhole(t, s) != files {
		t.Errorf("after the sweep:\n%s", left)
	}
}

func checkWhole(t *testing.T, s *Store) int {
	t.Helper()
	n := 0
	for _, dir := range []string{".campaign", ConversationsDir} {
		names, err := s.list(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := s.Read(path.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) != 256<<10 || !bytes.Equal(data, bytes.Repeat(data[:1], len(data))) {
				t.Fatalf("%s is torn", name)
			}
			n++
		}
	}
	return n
}
