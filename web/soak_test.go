package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app"
)

// TestLiveConnections has one process that serves 200 streams while session files
// grow: everybody hears of every line, and neither memory nor goroutines grow with
// what was told.
func TestLiveConnections(t *testing.T) {
	rounds := 0
	liveConnections(t, 0, func() bool { rounds++; return rounds <= 40 }, 4)
}

// TestSoakLiveConnections is the same for ten minutes, at two lines a second, once so
// many lines have passed that what is kept up to a bound is full: what the archive
// knows of the lines is little then beside what 200 streams might leave behind.
func TestSoakLiveConnections(t *testing.T) {
	if os.Getenv("CONCLAVE_SOAK") == "" {
		t.Skip("make soak")
	}
	const warm = 5000
	pace := time.NewTicker(500 * time.Millisecond)
	defer pace.Stop()
	rounds, end := 0, time.Time{}
	liveConnections(t, warm, func() bool {
		if rounds++; rounds <= warm {
			end = time.Now().Add(10 * time.Minute)
			return true
		}
		return (<-pace.C).Before(end)
	}, 20)
}

// figures are what a process holds after its garbage is collected.
type figures struct {
	Heap       uint64 // bytes
	RSS        uint64 // bytes; 0: this system does not say
	Goroutines int
}

// liveConnections goes on while more says so, and looks after so many rounds each; the
// first rounds do not count.
func liveConnections(t *testing.T, warm int, more func() bool, each int) {
	const many, sessions = 200, 20
	c := startChild(t)
	path, line := c.sessions()
	for n := range sessions {
		appendText(t, path(n), line(n, 0))
	}
	listening := make([]*hearer, many)
	var now atomic.Pointer[round]
	for i := range listening {
		listening[i] = &hearer{l: c.listen(""), now: &now}
		listening[i].begin()
	}
	written := make([]int, sessions)
	var looks []figures
	n := 0
	for ; more(); n++ {
		s := n % sessions
		written[s]++
		r := &round{number: n + 1, run: sessionName(s), want: 1 + written[s]}
		r.left.Add(many)
		now.Store(r)
		appendText(t, path(s), line(s, written[s]))
		if !within(time.Minute, r.left.Wait) {
			t.Fatalf("round %d: not everybody has heard of entry %d", n, written[s])
		}
		if n%10 == 0 { // as a page does that shows it
			c.get("GET", "/api/run/"+sessionName(s), nil, 200, nil)
			c.get("GET", fmt.Sprintf("/api/run/%s/entries?from=%d&n=50", sessionName(s), max(written[s]-40, 0)), nil, 200, nil)
		}
		if n%20 == 0 { // ten go, and come back for what is next
			for i := range 10 {
				listening[(n+i)%many].again(c.served)
			}
		}
		if (n+1)%each == 0 {
			looks = append(looks, c.look())
		}
	}
	for _, h := range listening {
		h.end()
	}
	judge(t, n, max(warm/each, len(looks)/8), looks)
}

// judge wants the second half not to be above the first by more than a few per
// cent, from one look on.
func judge(t *testing.T, rounds, from int, looks []figures) {
	t.Helper()
	looks = looks[from:]
	half := len(looks) / 2
	mean := func(part []figures, of func(figures) uint64) uint64 {
		sum := uint64(0)
		for _, f := range part {
			sum += of(f)
		}
		return sum / uint64(len(part))
	}
	for name, of := range map[string]func(figures) uint64{
		"heap": func(f figures) uint64 { return f.Heap >> 10 },
		"RSS":  func(f figures) uint64 { return f.RSS >> 10 },
	} {
		first, second := mean(looks[:half], of), mean(looks[half:], of)
		t.Logf("%d rounds, %d looks: %s %d KiB in the first half, %d in the second", rounds, len(looks), name, first, second)
		if name == "RSS" && len(looks) < 20 {
			continue // the system's view needs longer to settle, with a race detector most of all
		}
		if second > first+first/20+1<<10 {
			t.Errorf("%s grows from %d to %d KiB", name, first, second)
		}
	}
	goroutines := func(f figures) int { return f.Goroutines }
	most := slices.MaxFunc(looks[half:], func(a, b figures) int { return goroutines(a) - goroutines(b) }).Goroutines
	least := slices.MaxFunc(looks[:half], func(a, b figures) int { return goroutines(a) - goroutines(b) }).Goroutines
	t.Logf("goroutines: at most %d in the first half, %d in the second", least, most)
	if most > least+20 {
		t.Errorf("goroutines grow from %d to %d", least, most)
	}
}

// round is one line that everybody is to hear of.
type round struct {
	number int
	run    string
	want   int // entries
	left   sync.WaitGroup
}

// hearer reads a stream for as long as it is open.
type hearer struct {
	l    *listener
	now  *atomic.Pointer[round]
	done chan struct{}
	last int // the round that it has heard
}

func (h *hearer) begin() {
	h.done = make(chan struct{})
	go func() {
		defer close(h.done)
		for {
			e, ok := h.l.next()
			if !ok {
				return
			}
			r := h.now.Load()
			if e.Kind == "run" && r != nil && r.number > h.last && e.Run == r.run && e.Entries >= r.want {
				h.last = r.number
				r.left.Done()
			}
		}
	}()
}

func (h *hearer) end() {
	h.l.res.Body.Close()
	<-h.done
}

func (h *hearer) again(p *served) {
	h.end()
	h.l = p.listen(h.l.last)
	h.begin()
}

// within waits for something, and says whether it came.
func within(limit time.Duration, wait func()) bool {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

func sessionName(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }

func appendText(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// childRoot names the workspace of a process that is this test's own, and serves it.
const childRoot = "CONCLAVE_WEB_CHILD"

// childProcess is a page that another process serves.
type childProcess struct {
	*served
	home string
	in   io.Writer
	out  *bufio.Scanner
}

func startChild(t *testing.T) *childProcess {
	t.Helper()
	base := t.TempDir()
	root, home := filepath.Join(base, "project"), filepath.Join(base, "home")
	for _, dir := range []string{root, filepath.Join(home, ".claude", "projects", "-p")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{childRoot + "=" + root, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process that serves ended with %v", err)
		}
	})
	c := &childProcess{home: home, in: in, out: bufio.NewScanner(out)}
	var at struct{ Base, Token string }
	c.read(t, &at)
	c.served = &served{t: t, root: root, base: at.Base, token: at.Token}
	return c
}

func (c *childProcess) read(t *testing.T, to any) {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("the process that serves says no more: %v", c.out.Err())
	}
	if err := json.Unmarshal(c.out.Bytes(), to); err != nil {
		t.Fatal(err)
	}
}

func (c *childProcess) look() (f figures) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, "look\n"); err != nil {
		c.t.Fatal(err)
	}
	c.read(c.t, &f)
	return f
}

// sessions are where session files lie, and their lines.
func (c *childProcess) sessions() (path func(n int) string, line func(n, i int) string) {
	path = func(n int) string { return filepath.Join(c.home, ".claude", "projects", "-p", sessionName(n)+".jsonl") }
	line = func(n, i int) string {
		at := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
		return fmt.Sprintf(`{"type":"user","uuid":"%d-%d","sessionId":%q,"cwd":"/p","timestamp":%q,`+
			`"message":{"role":"user","content":"line %[2]d %s"}}`+"\n", n, i, sessionName(n), at, strings.Repeat("word ", 40))
	}
	return path, line
}

// child serves a workspace until nobody is there, and says what it holds when it is
// asked.
func child(root string) int {
	a := &app.App{Dir: root, Root: root, Version: "test", Getenv: os.Getenv}
	s, err := New(a, Options{Addr: "127.0.0.1:0"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	full := event{"kind": "run", "run": sessionName(0), "entries": 0, "state": "working", "last": strings.Repeat("word ", 40)}
	for range maxKept { // what is kept for those who come back does not grow any more
		s.stream.publish(full)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	say := json.NewEncoder(os.Stdout)
	go func() {
		ended <- s.Serve(ctx, root, func(link string) {
			base, _, _ := strings.Cut(link, "/#enter=")
			_ = say.Encode(map[string]string{"Base": base, "Token": s.door.token}) // who does not hear it ends this
		})
	}()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		_ = say.Encode(figures{m.HeapAlloc, residentBytes(), runtime.NumGoroutine()})
	}
	cancel()
	if err := <-ended; err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// residentBytes is how much of this process is in memory; 0 where nobody says.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize())
}
