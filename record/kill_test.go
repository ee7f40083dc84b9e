//go:build unix

package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"conclave/internal/lockfile"
	sampled "conclave/internal/sample"
)

const childEnv = "RECORD_TEST_WRITE"

// TestMain turns the test binary into a writer that is there to be killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeUntilKilled continues the record at path and acknowledges on stdout the
// number of each entry that Commit made durable.
func writeUntilKilled(path string) error {
	last := 0
	w, _, err := ResumeEach(path, func(f Frame) error {
		if n, ok := entryNumber(f); ok {
			last = n
		}
		return nil
	})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for {
		for range 1 + rng.IntN(4) {
			last++
			if err := w.AppendLog(entry(last)); err != nil {
				return err
			}
			if rng.IntN(8) == 0 { // large enough to be killed in the middle of
				if err := w.AppendBlob("raw", make([]byte, rng.IntN(1<<20))); err != nil {
					return err
				}
			}
		}
		if err := w.Commit(); err != nil {
			return err
		}
		if _, err := fmt.Println(last); err != nil {
			return err
		}
	}
}

func entry(n int) []byte {
	return fmt.Appendf(nil, `{"event":"entry","n":%d,"pad":%q}`, n, strings.Repeat("x", n*7919%2000))
}

func entryNumber(f Frame) (int, bool) {
	var e struct {
		Event string
		N     int
	}
	if f.Kind != KindLog || json.Unmarshal(f.Payload, &e) != nil || e.Event != "entry" {
		return 0, false
	}
	return e.N, true
}

// Two hundred writers are killed at random moments, each continuing what the
// one before it left. After each, every acknowledged entry is there.
func TestKilledTwoHundredTimes(t *testing.T) {
	const lanes, kills = 2, 4
	records := sampled.Count(2, 12, 25)
	var done, torn atomic.Int64
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(strconv.Itoa(lane), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(uint64(lane), uint64(os.Getpid())))
				for range records {
					path := filepath.Join(t.TempDir(), "killed.record")
					must(t, create(t, path).Close())
					last := 0
					for n := range kills {
						acked := runAndKill(t, path, rng, n%2 == 0)
						rep := survivor(t, path, max(acked, last))
						if rep.TornBytes > 0 {
							torn.Add(1)
						}
						if rng.IntN(2) == 0 { // else the next writer resumes it as it is
							resumed(t, path, rep)
						}
						last = max(acked, last)
						done.Add(1)
					}
					must(t, os.Remove(path))
				}
			})
		}
	})
	t.Logf("%d kills, %d torn tails", done.Load(), torn.Load())
	if int(done.Load()) != lanes*records*kills {
		t.Errorf("%d kills, want %d", done.Load(), lanes*records*kills)
	}
}

// runAndKill runs a writer and kills it: at once after a random number of
// acknowledgements, or as soon as its file has grown by a random size, which
// is in the middle of a write. It returns the last entry that the writer
// acknowledged.
func runAndKill(t *testing.T, path string, rng *rand.Rand, bySize bool) (last int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	pipe, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	out := bufio.NewReader(pipe)
	acks := rng.IntN(6)
	if bySize {
		acks = 1 // it is past its Resume
	}
	for n := 0; ; n++ {
		if n == acks {
			if bySize {
				waitForSize(t, path, fileSize(t, path)+rng.Int64N(512<<10))
			}
			must(t, cmd.Process.Kill())
		}
		// After the kill, what is in the pipe was acknowledged, too.
		s, err := out.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		last, err = strconv.Atoi(strings.TrimSuffix(s, "\n"))
		must(t, err)
	}
	_ = cmd.Wait()
	if complaint.Len() > 0 {
		t.Fatalf("writer said: %s", complaint.String())
	}
	return last
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

func waitForSize(t *testing.T, path string, size int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); fileSize(t, path) < size; {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not grow to %d bytes", path, size)
		}
	}
}

// survivor checks a record after a kill: it verifies, and has every entry up
// to acked, none of them twice.
func survivor(t *testing.T, path string, acked int) Report {
	t.Helper()
	rep, err := Verify(path)
	must(t, err)
	must(t, rep.Sound())
	r, err := Open(path)
	must(t, err)
	defer r.Close()
	n := 0
	for r.Next() {
		if got, ok := entryNumber(r.Frame()); ok {
			if n++; got != n || string(r.Frame().Payload) != string(entry(n)) {
				t.Fatalf("entry %d stands where %d should", got, n)
			}
		}
	}
	must(t, r.Err())
	if n < acked {
		t.Fatalf("entry %d was acknowledged, the record ends with %d", acked, n)
	}
	return rep
}

// resumed resumes a record and checks that what is torn is cut with a word.
func resumed(t *testing.T, path string, before Report) {
	t.Helper()
	w, rec, err := Resume(path)
	must(t, err)
	must(t, w.Close())
	if rec.TornBytes != before.TornBytes || rec.Frames != before.Frames || rec.Head != before.Head {
		t.Fatalf("Resume found %v, Verify %+v", rec, before)
	}
	word := uint64(0)
	if before.TornBytes > 0 {
		word = 1
	}
	if strings.Contains(rec.String(), "torn tail") != (word == 1) {
		t.Fatalf("%d torn bytes, and the word is %q", before.TornBytes, rec)
	}
	after, err := Verify(path)
	must(t, err)
	if after.Sound() != nil || after.TornBytes != 0 || after.Durable != after.Frames || after.Frames != before.Frames+word {
		t.Fatalf("after Resume: %+v, before: %+v", after, before)
	}
}

func TestSecondWriterInAnotherProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.record")
	must(t, create(t, path).Close())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	pipe, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = bufio.NewReader(pipe).ReadString('\n') // it writes
	must(t, err)
	_, _, err = Resume(path)
	var held *lockfile.HeldError
	if !errors.As(err, &held) || held.Holder.PID != cmd.Process.Pid {
		t.Errorf("Resume beside process %d: %v, want *HeldError", cmd.Process.Pid, err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	w, _, err := Resume(path)
	must(t, err)
	must(t, w.Close())
}
