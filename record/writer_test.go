package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/lockfile"
)

func TestWriteSealRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "deep", "run.record")
	w := create(t, path)
	want := []seen{{KindLog, false, `{"n":1}`}, {KindBlob, false, "\x06stdout\x00\n\xff"}, {KindBlob, false, "\x01c"}}
	must(t, w.AppendLog([]byte(want[0].Payload)))
	must(t, w.AppendBlob("stdout", []byte("\x00\n\xff")))
	must(t, w.AppendBlob("c", nil))
	seal, err := w.Seal("done")
	must(t, err)
	if head, n := w.Head(); head != seal.Head || n != seal.Frames || n != 5 || w.durableFrames() != 5 {
		t.Errorf("head %v over %d frames (durable %d), seal %+v", head, n, w.durableFrames(), seal)
	}
	for name, err := range map[string]error{
		"AppendLog":  w.AppendLog([]byte("{}")),
		"AppendBlob": w.AppendBlob("c", nil),
		"Seal":       func() error { _, err := w.Seal("again"); return err }(),
	} {
		if !errors.Is(err, ErrSealed) {
			t.Errorf("%s after Seal: %v, want ErrSealed", name, err)
		}
	}
	must(t, w.Close())
	must(t, w.Close())
	if err := w.AppendLog([]byte("{}")); !errors.Is(err, errClosed) {
		t.Errorf("AppendLog after Close: %v, want ErrClosed", err)
	}

	data, err := os.ReadFile(path)
	must(t, err)
	got, _, r := readAll(bytes.NewReader(data))
	must(t, r.Err())
	if len(got) != 5 || got[0].Kind != KindHeader || got[4].Kind != KindSeal {
		t.Fatalf("frames = %+v", got)
	}
	for i, s := range want {
		if got[i+1] != s {
			t.Errorf("frame %d = %+v, want %+v", i+1, got[i+1], s)
		}
	}
	if s, ok := r.Sealed(); !ok || s.Head != seal.Head || s.Frames != seal.Frames || s.Reason != "done" || !s.Sealed.Equal(seal.Sealed) {
		t.Errorf("Sealed = %+v, want %+v", s, seal)
	}
	if h := r.Header(); h.Run != w.header.Run || h.Attributes["role"] != "cat" || h.Format != 1 {
		t.Errorf("header = %+v", h)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode = %v, want 0600", info.Mode())
		}
	}
	if _, err := os.Stat(path + ".lock"); !errors.Is(err, fs.ErrNotExist) && runtime.GOOS != "windows" {
		t.Errorf("lock file is left after Close: %v", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "there.record")
	must(t, os.WriteFile(path, nil, 0o600))
	if _, err := Create(path, Header{Run: "x"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("existing path: %v, want ErrExist", err)
	}
	for _, run := range []string{"", "a/b", "..", ".x", "x.", "a b", `a\b`, "é", strings.Repeat("x", 101)} {
		if _, err := Create(filepath.Join(dir, "new.record"), Header{Run: run}); err == nil {
			t.Errorf("Create with run id %q succeeded", run)
		}
		if _, err := Path(dir, run); err == nil {
			t.Errorf("Path with run id %q succeeded", run)
		}
	}
}

func TestAppendRefusesAndGoesOn(t *testing.T) {
	w := create(t, filepath.Join(t.TempDir(), "r.record"))
	for name, err := range map[string]error{
		"empty line":    w.AppendLog(nil),
		"newline":       w.AppendLog([]byte("{}\n")),
		"no channel":    w.AppendBlob("", []byte("x")),
		"long channel":  w.AppendBlob(strings.Repeat("c", 256), nil),
		"large payload": checkSize(maxPayload + 1), // too large to make for a test
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	must(t, w.AppendLog([]byte("{}")))
	must(t, w.AppendBlob(strings.Repeat("c", 255), nil))
	must(t, w.Close())
	rep, err := Verify(w.Path())
	must(t, err)
	if rep.Sound() != nil || rep.Frames != 3 || rep.Durable != 3 {
		t.Errorf("report = %+v", rep)
	}
}

// Eight goroutines append and commit; every frame is there, each goroutine's
// in its own order, and what Commit acknowledged is durable.
func TestEightGoroutines(t *testing.T) {
	const workers, each = 8, 2000
	path := filepath.Join(t.TempDir(), "eight.record")
	w := create(t, path)
	var wg sync.WaitGroup
	for g := range workers {
		wg.Go(func() {
			for n := range each {
				if err := w.AppendLog(fmt.Appendf(nil, `{"g":%d,"n":%d}`, g, n)); err != nil {
					t.Error(err)
					return
				}
				if n%500 != 499 {
					continue
				}
				_, before := w.Head()
				if err := w.Commit(); err != nil {
					t.Error(err)
				}
				if w.durableFrames() < before {
					t.Errorf("Commit returned with %d of %d frames durable", w.durableFrames(), before)
				}
			}
		})
	}
	wg.Wait()
	_, err := w.Seal("done")
	must(t, err)
	must(t, w.Close())

	r, err := Open(path)
	must(t, err)
	defer r.Close()
	var next [workers]int
	for r.Next() {
		if r.Frame().Kind != KindLog {
			continue
		}
		var e struct{ G, N int }
		must(t, json.Unmarshal(r.Frame().Payload, &e))
		if e.N != next[e.G] {
			t.Fatalf("goroutine %d: entry %d after %d", e.G, e.N, next[e.G]-1)
		}
		next[e.G]++
	}
	must(t, r.Err())
	for g, n := range next {
		if n != each {
			t.Errorf("goroutine %d: %d entries, want %d", g, n, each)
		}
	}
}

// slowFile lets a test hold a sync and count them.
type slowFile struct {
	nowhere
	began, goOn chan struct{}
	syncs       int
}

func (f *slowFile) Sync() error {
	f.syncs++
	f.began <- struct{}{}
	<-f.goOn
	return nil
}

func TestConcurrentCommitsShareASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowFile{began: make(chan struct{}), goOn: make(chan struct{})}
		w := newWriter("slow", Header{}, f, Cursor{Head: newChain().head})
		var wg sync.WaitGroup
		commit := func() {
			wg.Go(func() {
				if err := errors.Join(w.AppendLog([]byte("{}")), w.Commit()); err != nil {
					t.Error(err)
				}
			})
		}
		commit()
		<-f.began // the first is syncing; the others append meanwhile
		appended := make(chan error)
		for range 20 {
			go func() { appended <- w.AppendLog([]byte("{}")) }()
			must(t, <-appended)
			wg.Go(func() {
				if err := w.Commit(); err != nil {
					t.Error(err)
				}
			})
		}
		f.goOn <- struct{}{}
		<-f.began
		f.goOn <- struct{}{}
		wg.Wait()
		if f.syncs != 2 {
			t.Errorf("%d syncs for 21 commits, want 2", f.syncs)
		}
		if _, n := w.Head(); w.durableFrames() != n || n != 21 {
			t.Errorf("durable %d of %d, want 21", w.durableFrames(), n)
		}
	})
}

// Who appends much does not wait for the disk.
func TestAppendsGoOnDuringASync(t *testing.T) {
	f := &slowFile{began: make(chan struct{}), goOn: make(chan struct{})}
	w := newWriter("slow", Header{}, f, Cursor{Head: newChain().head})
	much := make([]byte, bufferLimit)
	for w.pending+2*bufferLimit < syncBytes {
		must(t, w.AppendBlob("c", much))
		must(t, w.Flush())
	}
	must(t, w.AppendBlob("c", make([]byte, 2*bufferLimit)))
	<-f.began
	for n := 0; n < bufferMost/2; n += bufferLimit {
		must(t, w.AppendBlob("c", much)) // while the sync goes on
	}
	if n := w.durableFrames(); n != 0 {
		t.Errorf("%d frames are called durable before the sync has ended", n)
	}
	committed := make(chan error)
	go func() { committed <- w.Commit() }()
	f.goOn <- struct{}{}
	<-f.began
	f.goOn <- struct{}{}
	must(t, <-committed)
	if _, n := w.Head(); w.durableFrames() != n {
		t.Errorf("durable %d of %d", w.durableFrames(), n)
	}
}

// What fails beside an append is told by a later one and by Commit.
func TestWhatFailsBesideIsTold(t *testing.T) {
	w := create(t, filepath.Join(t.TempDir(), "full.record"))
	must(t, w.Commit())
	w.file = &fullDisk{file: w.file, room: bufferLimit}
	var failed error
	for n := 0; failed == nil && n < 1000; n++ {
		failed = w.AppendBlob("c", make([]byte, bufferLimit/2))
	}
	for name, err := range map[string]error{"AppendBlob": failed, "Commit": w.Commit(), "Close": w.Close()} {
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.durableFrames() != 1 {
		t.Errorf("durable = %d, want the header alone", w.durableFrames())
	}
}

// tally counts calls.
type tally struct {
	nowhere
	writes, syncs int
}

func (f *tally) Write(p []byte) (int, error) { f.writes++; return len(p), nil }
func (f *tally) Sync() error                 { f.syncs++; return nil }

func TestPolicyWithoutCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &tally{}
		w := newWriter("tally", Header{}, f, Cursor{Head: newChain().head})
		check := func(what string, writes, syncs int) {
			t.Helper()
			synctest.Wait() // for what is written beside
			if f.writes != writes || f.syncs != syncs {
				t.Errorf("%s: %d writes and %d syncs, want %d and %d", what, f.writes, f.syncs, writes, syncs)
			}
		}
		must(t, w.AppendLog([]byte("{}")))
		check("small append", 0, 0)
		time.Sleep(bufferAge) // the bubble's clock: nobody waits
		must(t, w.AppendLog([]byte("{}")))
		check("append after the age of the buffer", 1, 0)
		time.Sleep(syncAge)
		must(t, w.AppendLog([]byte("{}")))
		check("append after the age of a sync", 3, 1) // batch, mark
		must(t, w.Commit())
		check("commit with nothing outstanding", 3, 1)
		must(t, w.AppendBlob("c", make([]byte, bufferLimit)))
		check("append of a full buffer", 4, 1)
		must(t, w.AppendBlob("c", make([]byte, syncBytes)))
		check("append of all that may be outstanding", 6, 2)
	})
}

// fullDisk takes room bytes and then fails as a full disk does, in the middle
// of a write.
type fullDisk struct {
	file
	room     int
	syncFail error
}

func (f *fullDisk) Write(p []byte) (int, error) {
	take := min(f.room, len(p))
	n, err := f.file.Write(p[:take])
	f.room -= n
	if err == nil && n < len(p) {
		err = errors.New("no space left on device")
	}
	return n, err
}

func (f *fullDisk) Sync() error {
	if f.syncFail != nil {
		return f.syncFail
	}
	return f.file.Sync()
}

func TestFullDiskFailsClosedAndResumes(t *testing.T) {
	cases := 0
	for room := 0; room < 900; room += 37 {
		cases++
		path := filepath.Join(t.TempDir(), "full.record")
		w := create(t, path)
		w.file = &fullDisk{file: w.file, room: room}
		acked := 0
		var failed error
		for n := 0; failed == nil && n < 50; n++ {
			if failed = errors.Join(w.AppendLog(line(n)), w.Commit()); failed == nil {
				acked++
			}
		}
		if failed == nil {
			t.Fatalf("room %d: the disk never filled", room)
		}
		_, sealErr := w.Seal("done")
		for name, err := range map[string]error{
			"AppendLog": w.AppendLog([]byte("{}")), "AppendBlob": w.AppendBlob("c", nil),
			"Commit": w.Commit(), "Flush": w.Flush(), "Seal": sealErr, "Close": w.Close(),
		} {
			if err == nil || !strings.Contains(err.Error(), "no space left") {
				t.Errorf("room %d: %s after the failure: %v", room, name, err)
			}
		}
		w2, rec, err := Resume(path)
		if err != nil {
			t.Fatalf("room %d: %v", room, err)
		}
		must(t, w2.AppendLog([]byte(`{"on":"again"}`)))
		must(t, w2.Close())
		rep, err := Verify(path)
		must(t, err)
		if rep.Sound() != nil || rep.TornBytes != 0 || rec.Frames < uint64(1+acked) {
			t.Errorf("room %d: %d acknowledged, recovery %v, report %+v", room, acked, rec, rep)
		}
	}
	if cases == 0 {
		t.Fatal("no cases")
	}
}

func TestFailedSyncIsNeverForgotten(t *testing.T) {
	w := create(t, filepath.Join(t.TempDir(), "sync.record"))
	must(t, w.Commit())
	disk := &fullDisk{file: w.file, room: 1 << 20, syncFail: errors.New("input/output error")}
	w.file = disk
	must(t, w.AppendLog([]byte("{}")))
	if err := w.Commit(); err == nil {
		t.Fatal("Commit succeeded over a failed sync")
	}
	disk.syncFail = nil // the next fsync would succeed, as Linux's does
	if err := w.Commit(); err == nil {
		t.Error("second Commit succeeded: the failure was forgotten")
	}
	if err := w.AppendLog([]byte("{}")); err == nil {
		t.Error("AppendLog succeeded after a failed sync")
	}
	if w.durableFrames() != 1 {
		t.Errorf("durable = %d, want the header alone", w.durableFrames())
	}
}

func TestSecondWriterInThisProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.record")
	w := create(t, path)
	link := filepath.Join(t.TempDir(), "alias.record")
	must(t, os.Symlink(path, link))
	for _, p := range []string{path, link} {
		_, _, err := Resume(p)
		var held *lockfile.HeldError
		if !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
			t.Errorf("Resume(%s) beside a writer: %v, want *HeldError of this process", p, err)
		}
	}
	must(t, w.Close())
	w2, _, err := Resume(path)
	must(t, err)
	must(t, w2.Close())
}

func TestRunIDsSort(t *testing.T) {
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.FixedZone("", 3600))
	a, b := NewRunID(at), NewRunID(at.Add(time.Millisecond))
	if a >= b || !strings.HasPrefix(a, "20260102T140405.000Z-") || checkRunID(a) != nil {
		t.Errorf("ids %q, %q", a, b)
	}
	if again := NewRunID(at); again == a {
		t.Error("two ids of one moment are the same")
	}
}

func TestList(t *testing.T) {
	root := t.TempDir()
	if found, err := List(Dir(root)); err != nil || len(found) != 0 {
		t.Errorf("List of a missing directory = %v, %v", found, err)
	}
	for _, id := range []string{"b", "a"} {
		path, err := Path(root, id)
		must(t, err)
		create(t, path)
	}
	must(t, os.WriteFile(filepath.Join(Dir(root), "notes.txt"), nil, 0o600))
	must(t, os.Mkdir(filepath.Join(Dir(root), "c.record"), 0o700))
	found, err := List(Dir(root))
	must(t, err)
	if len(found) != 2 || found[0].Run != "a" || found[1].Run != "b" || found[0].Size == 0 {
		t.Errorf("List = %+v, want a and b", found)
	}
}
