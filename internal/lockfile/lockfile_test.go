package lockfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain turns the test binary into a holder that takes the lock, says so,
// and then waits to be killed.
func TestMain(m *testing.M) {
	path := os.Getenv("LOCKFILE_TEST_HOLD")
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := TryLock(path, "held by a child"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	select {}
}

func holder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCKFILE_TEST_HOLD="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	return cmd
}

func TestSecondHolderIsRefusedAndToldWho(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quest.lock")
	first, err := TryLock(path, "consult the cat")
	if err != nil {
		t.Fatal(err)
	}
	_, err = TryLock(path, "another")
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("second TryLock: %v, want *HeldError", err)
	}
	if held.Holder != first.Holder() || held.Holder.PID != os.Getpid() || held.Holder.Purpose != "consult the cat" {
		t.Errorf("holder = %+v, want %+v", held.Holder, first.Holder())
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := first.Unlock(); err != nil {
		t.Errorf("second Unlock: %v", err)
	}
	again, err := TryLock(path, "another")
	if err != nil {
		t.Fatalf("after Unlock: %v", err)
	}
	if err := again.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestKilledHolderFreesTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.lock")
	child := holder(t, path)

	_, err := TryLock(path, "parent")
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("TryLock beside the child: %v, want *HeldError", err)
	}
	if held.Holder.PID != child.Process.Pid || held.Holder.Purpose != "held by a child" {
		t.Errorf("holder = %+v, want process %d", held.Holder, child.Process.Pid)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if h, err := readFrom(path); err != nil || h.PID != child.Process.Pid {
		t.Errorf("the file should still name the dead child: %+v, %v", h, err)
	}
	l, err := TryLock(path, "parent")
	if err != nil {
		t.Fatalf("after the kill: %v", err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestWaitLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wait.lock")
	child := holder(t, path)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := WaitLock(ctx, path, "too late")
	var held *HeldError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &held) {
		t.Fatalf("cancelled WaitLock: %v", err)
	}

	got := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		l, err := WaitLock(ctx, path, "patient")
		if err == nil {
			err = l.Unlock()
		}
		got <- err
	}()
	_ = child.Process.Kill()
	_ = child.Wait()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

// Holders that remove the file as they go must never overlap.
func TestLockExcludesUnderChurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "churn.lock")
	var inside, taken atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := 0; n < 50; {
				l, err := TryLock(path, "churn")
				var held *HeldError
				if errors.As(err, &held) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two holders at once")
				}
				inside.Add(-1)
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
				taken.Add(1)
				n++
			}
		})
	}
	wg.Wait()
	if taken.Load() != 8*50 {
		t.Errorf("taken %d times, want %d", taken.Load(), 8*50)
	}
}

func TestForeignContentIsNoHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "foreign.lock")
	if err := os.WriteFile(path, []byte("not json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := readFrom(path); err != nil || h != (Holder{}) {
		t.Errorf("the file says %+v, %v; want the zero holder", h, err)
	}
	l, err := TryLock(path, "mine now")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	if h, err := readFrom(path); err != nil || h != l.Holder() {
		t.Errorf("the file says %+v, %v; want %+v", h, err, l.Holder())
	}
}

// readFrom says who a lock file names.
func readFrom(path string) (Holder, error) {
	f, err := os.Open(path)
	if err != nil {
		return Holder{}, err
	}
	defer f.Close()
	return readHolder(f), nil
}
