package archive_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/archive"
	"conclave/archive/search"
	"conclave/internal/sample"
)

// TestMain lets the test program be one of two programs at an archive.
func TestMain(m *testing.M) {
	if path := os.Getenv("ARCHIVE_TEST_REFRESH"); path != "" {
		os.Exit(refreshMain(path, os.Getenv("ARCHIVE_TEST_ROOT"), os.Getenv("ARCHIVE_TEST_REBUILD") != ""))
	}
	sample.Tests(7)
	os.Exit(m.Run())
}

func refreshMain(path, root string, rebuild bool) int {
	a, err := archive.Open(path, archive.Options{Progress: func(done, total int64) { fmt.Println(done) }})
	if err == nil {
		defer a.Close()
		a.CommitEvery(200_000) // many transactions
		_, err = a.Refresh(context.Background(), []string{root})
	}
	if err == nil && rebuild {
		_, err = a.Rebuild(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func program(t *testing.T, path, root string, more ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), append(more, "ARCHIVE_TEST_REFRESH="+path, "ARCHIVE_TEST_ROOT="+root)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKilled kills a refresh after so many bytes of its progress, again and
// again: what is there is whole, and the next one completes it.
func TestKilled(t *testing.T) {
	sample.Long(t)
	tree := smallTree(t, 21, 1_500_000)
	cold := newTestArchive(t)
	refresh(t, cold, tree.Dir)
	want := answers(t, cold)
	r := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "archive.db")
	killed := 0
	for round := range 6 {
		var more []string
		if round%2 == 1 {
			more = []string{"ARCHIVE_TEST_REBUILD=1"}
		}
		cmd := program(t, path, tree.Dir, more...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := 1 + r.IntN(12)
		if _, err := io.ReadFull(out, make([]byte, lines*6)); err == nil {
			killed++
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		a := openAt(t, path)
		var sound string
		if err := a.Reader().QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
			t.Fatalf("after kill %d: %s, %v", round, sound, err)
		}
		if s, err := a.Verify(ctx); err != nil || len(s.Damaged) > 0 {
			t.Fatalf("after kill %d: %+v, %v", round, s, err)
		}
		// A source has the items of all of its blocks or of none.
		var lost int
		if err := a.Reader().QueryRow("SELECT count(*) FROM items WHERE source NOT IN (SELECT id FROM sources)").Scan(&lost); err != nil || lost != 0 {
			t.Fatalf("%d items without a source, %v", lost, err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if killed < 3 {
		t.Fatalf("only %d refreshes were killed at work", killed)
	}
	a := openAt(t, path)
	refresh(t, a, tree.Dir)
	same(t, "after many kills", answers(t, a), want)
	// A first refresh that is killed has not made the indexes yet.
	const count = "SELECT count(*) FROM sqlite_schema WHERE name IN ('items_type', 'items_tool', 'items_call')"
	var indexes int
	if err := a.Reader().QueryRow(count).Scan(&indexes); err != nil || indexes != 3 {
		t.Errorf("%d indexes after many kills, %v", indexes, err)
	}
}

// TestTwoPrograms: two refresh one archive while a third searches it.
func TestTwoPrograms(t *testing.T) {
	sample.Long(t)
	tree := smallTree(t, 22, 500_000)
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path)
	one, two := program(t, path, tree.Dir), program(t, path, tree.Dir)
	for _, cmd := range []*exec.Cmd{one, two} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 2)
	for _, cmd := range []*exec.Cmd{one, two} {
		go func() { done <- cmd.Wait() }()
	}
	searched := 0
	for left := 2; left > 0; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			left--
		default:
			if _, err := search.Find(ctx, a, search.Query{Words: "dragon"}); err != nil {
				t.Fatalf("a search meanwhile: %v", err)
			}
			searched++
		}
	}
	if searched == 0 {
		t.Error("nobody searched meanwhile")
	}
	cold := newTestArchive(t)
	refresh(t, cold, tree.Dir)
	same(t, "two programs", answers(t, a), answers(t, cold))
}

// TestCancelled: a refresh that is called off says so, and what it had
// committed stays.
func TestCancelled(t *testing.T) {
	sample.Long(t)
	tree := smallTree(t, 23, 400_000)
	a := newTestArchive(t)
	stop, cancel := context.WithCancel(ctx)
	a.SetProgress(func(int64, int64) { cancel() })
	if _, err := a.Refresh(stop, []string{tree.Dir}); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Fatalf("it ended with %v", err)
	}
	a.SetProgress(nil)
	refresh(t, a, tree.Dir)
	cold := newTestArchive(t)
	refresh(t, cold, tree.Dir)
	same(t, "after it was called off", answers(t, a), answers(t, cold))
}

// TestWaits: a refresh waits for the lock, and gives up when its time is over;
// TryRefresh does not wait.
func TestWaits(t *testing.T) {
	tree := smallTree(t, 24, 100_000)
	a := newTestArchive(t)
	inside := make(chan struct{})
	leave := make(chan struct{})
	first := true
	a.SetProgress(func(int64, int64) {
		if first {
			first = false
			close(inside)
			<-leave
		}
	})
	ended := make(chan error, 1)
	go func() {
		_, err := a.Refresh(ctx, []string{tree.Dir})
		ended <- err
	}()
	<-inside
	b := openAt(t, a.Path())
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := b.Refresh(short, []string{tree.Dir}); err == nil || !strings.Contains(err.Error(), "wait for the archive") {
		t.Errorf("a second refresh: %v", err)
	}
	if _, done, err := b.TryRefresh(ctx, []string{tree.Dir}); done || err != nil {
		t.Errorf("TryRefresh: %v, %v", done, err)
	}
	close(leave)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
