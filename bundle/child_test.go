package bundle

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/internal/sample"
	"conclave/record"
	"conclave/transcript"
)

// childVariable makes the test program one of the programs below: they are
// killed, or their memory is measured.
const childVariable = "CONCLAVE_BUNDLE_TEST_CHILD"

func child() int {
	switch words := strings.Split(os.Getenv(childVariable), "|"); words[0] {
	case "create":
		return childCreate(words[1], words[2])
	case "prune":
		return childPrune(words[1], words[2])
	case "measure":
		return childMeasure(words[1], words[2])
	}
	return 2
}

// childCreate makes bundles until it is killed.
func childCreate(path, dir string) int {
	fmt.Println("ready")
	for {
		if _, err := Create(context.Background(), Options{Record: path, Dir: dir}); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("made")
	}
}

// childPrune makes and prunes bundles until it is killed.
func childPrune(path, dir string) int {
	fmt.Println("ready")
	for {
		made, err := Create(context.Background(), Options{Record: path, Dir: dir})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if _, err := Prune(dir, Policy{MaxBundles: 3}, time.Now(), made.Path); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("made")
	}
}

func childMeasure(path, dir string) int {
	started := time.Now()
	made, err := Create(context.Background(), Options{Record: path, Dir: dir, Environ: os.Environ()})
	took := time.Since(started)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			fmt.Println(took.Milliseconds(), f[1], made.Size)
		}
	}
	return 0
}

func startChild(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(words, "|"))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKill kills the programs at random moments. Whatever bears the name of a
// bundle is one, and the next run works.
func TestKill(t *testing.T) {
	sample.Long(t)
	path := manyEntries(t, filepath.Join(t.TempDir(), "r.record"), 150, 20)
	rounds := 8
	if os.Getenv("CONCLAVE_SOAK") != "" {
		rounds = 300
	}
	for _, what := range []string{"create", "prune"} {
		dir, seen := t.TempDir(), map[string]bool{}
		for round := range rounds {
			killOne(t, startChild(t, what, path, dir), round)
			whole(t, dir, seen)
		}
		if _, err := Prune(dir, Policy{}, time.Now().Add(2*staleAfter), ""); err != nil {
			t.Error(err)
		}
		list, err := List(dir)
		if err != nil || len(list) == 0 {
			t.Errorf("%s: no bundle was made (%v): the child was killed too early each time", what, err)
		}
		for _, name := range dirNames(t, dir) {
			if strings.HasPrefix(name, ".") {
				t.Errorf("%s: %s stays for ever", what, name)
			}
		}
		mustCreate(t, Options{Record: path, Dir: dir})
	}
}

// killOne kills a program some time after it began, or, every other time, some
// time after its first bundle: on a slow machine, too, there are bundles then.
func killOne(t *testing.T, cmd *exec.Cmd, round int) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range 1 + round%2 {
		if !lines.Scan() || lines.Text() != "ready" && lines.Text() != "made" {
			t.Fatalf("the child said %q, %v", lines.Text(), lines.Err())
		}
	}
	timer := time.AfterFunc(time.Duration(rand.IntN(120_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	for lines.Scan() { // what it says until it is killed
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
}

// whole: every file with the name of a bundle verifies; others are hidden.
// What was seen before is a file that nobody changes.
func whole(t *testing.T, dir string, seen map[string]bool) {
	t.Helper()
	for _, name := range dirNames(t, dir) {
		if strings.HasPrefix(name, tempPrefix) || seen[name] {
			continue
		}
		seen[name] = true
		if rep, err := VerifyFile(filepath.Join(dir, name)); err != nil || !rep.Sound() {
			t.Fatalf("%s is there and not whole: %v %v", name, rep.Problems, err)
		}
	}
}

// manyEntries makes a record with n entries of long to four times as many words; 20 is
// the size of real ones.
func manyEntries(tb testing.TB, path string, n, long int) string {
	tb.Helper()
	w, err := record.Create(path, record.Header{Run: "many", Attributes: map[string]string{"prompt_name": "p", "adapter": "claude_agent_sdk"}})
	if err != nil {
		tb.Fatal(err)
	}
	e, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: "claude_agent_sdk", Store: w})
	if err != nil {
		tb.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the of door key token function return error package import value string map test file line read write open close party dragon cat rule check")
	for i := range n {
		var text strings.Builder
		for range long + random.IntN(3*long) {
			text.WriteString(words[random.IntN(len(words))])
			text.WriteByte(' ')
		}
		raw, err := json.Marshal(map[string]any{"type": "assistant", "uuid": strconv.FormatUint(random.Uint64(), 16), "sessionId": "55555555-5555-4555-8555-5555555555a0",
			"message": map[string]any{"role": "assistant", "content": text.String(), "usage": map[string]int{"input_tokens": i, "output_tokens": i / 2}}})
		if err != nil {
			tb.Fatal(err)
		}
		detail := append(append([]byte(`{"sdk_entry":`), raw...), '}')
		if _, err := e.Emit(transcript.Item{Type: transcript.AssistantMessage, Detail: detail, Raw: raw}); err != nil {
			tb.Fatal(err)
		}
	}
	if _, err := w.Seal("done"); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// TestMemoryDoesNotGrow makes a bundle of a short and of a long run in
// programs of their own and compares their peaks. With CONCLAVE_SOAK it is a
// hundred thousand entries, in 150 MB; BenchmarkCreate says how fast.
func TestMemoryDoesNotGrow(t *testing.T) {
	sample.Long(t)
	if runtime.GOOS != "linux" {
		t.Skip("peak memory is read from /proc")
	}
	long := 6_000
	if os.Getenv("CONCLAVE_SOAK") != "" {
		long = 100_000
	}
	measure := func(n int) (kb int) {
		path := manyEntries(t, filepath.Join(t.TempDir(), "r.record"), n, 20)
		dir := t.TempDir()
		cmd := startChild(t, "measure", path, dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var ms, size int
		if _, err := fmt.Sscan(string(out), &ms, &kb, &size); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d entries, %d MB: %d ms, %v of processor time, %d MB at the peak, bundle of %d MB", n, info.Size()>>20, ms, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), kb>>10, size>>20)
		return kb
	}
	small, large := measure(1_000), measure(long)
	if large > small+40<<10 || large > 150<<10 {
		t.Errorf("%d kB for the short run, %d kB for the long one", small, large)
	}
}
