package redteam

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"conclave/room"
)

const canaryPrefix = "CANARY-"

// world is everything around a room: a project with secrets in many places,
// and things that listen, wait and run.
type world struct {
	t       *testing.T
	dir     string
	project string
	person  string
	rooms   string
	canary  string
	marker  string // part of names that must not be seen; scripts may hold it
	vars    map[string]string

	decoy   *exec.Cmd
	signals chan string
	mu      sync.Mutex
	typed   strings.Builder // what arrived on the terminal
}

func newWorld(t *testing.T, attackBinary string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "conclave-redteam-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{t: t, dir: dir, project: filepath.Join(dir, "project"), person: filepath.Join(dir, "person"), rooms: filepath.Join(dir, "rooms"), signals: make(chan string, 16)}
	var b [16]byte
	rand.Read(b[:])
	w.canary = canaryPrefix + hex.EncodeToString(b[:])
	w.marker = "MARK-" + hex.EncodeToString(b[:4])
	must(t, os.Chmod(dir, 0o755)) // rooms have users of their own
	w.vars = map[string]string{"PROJECT": w.project, "PERSON": w.person, "ROOMS": w.rooms, "ATTACK": attackBinary,
		"SECRET": filepath.Join(w.project, ".campaign", "quest.md")}
	w.files()
	w.places()
	w.listeners()
	w.ipc()
	w.bus()
	w.terminal()
	w.startDecoy(attackBinary)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(w.t, os.WriteFile(path, []byte(text), 0o600))
}

// files plants the secret wherever a project and a person keep things.
func (w *world) files() {
	text := "secret: " + w.canary + "\n"
	for _, name := range []string{
		".campaign/quest.md", ".campaign/quest.md~", ".campaign/conversations/2026-02-18-14-32-cat.md", "CLAUDE.md", "AGENTS.md",
		".claude/settings.json", ".mcp.json", ".git/worktrees-canary", ".conclave/records/earlier.record", ".conclave/log.jsonl",
		".conclave/engine/quest.db-wal", "conclave.yaml", "core", "campaigns/ashfall/story-state.md", "campaigns/ashfall/party/other.md",
	} {
		w.write(filepath.Join(w.project, filepath.FromSlash(name)), text)
	}
	for _, name := range []string{
		".claude/projects/p/s.jsonl", ".claude/CLAUDE.md", ".codex/sessions/s.jsonl", ".ssh/id_canary", ".netrc",
		".local/share/conclave/archive.db-wal", ".config/conclave/config.yaml", "bundle.zip",
	} {
		w.write(filepath.Join(w.person, filepath.FromSlash(name)), text)
	}
	for _, name := range []string{"touch-write", "touch-chmod", "touch-time", "touch-xattr"} {
		w.write(filepath.Join(w.project, name), "")
	}
	for _, name := range withheldFiles {
		if path := filepath.Join(w.project, filepath.FromSlash(name)); !exists(path) {
			w.write(path, w.secretFile(name))
		}
	}
	w.vars["SLEEP"] = fmt.Sprintf("4711.%d", os.Getpid())
	w.write(filepath.Join(w.project, "named-"+w.marker), "")
	w.write(filepath.Join(w.project, "work", "report.md"), "The report.\n")
	w.write(filepath.Join(w.project, "clean", "report.md"), "The report.\n")
	must(w.t, os.Mkdir(filepath.Join(w.project, "scratch"), 0o700))
	must(w.t, os.Symlink(w.vars["SECRET"], filepath.Join(w.project, "work", "planted-link")))
	must(w.t, os.Link(w.vars["SECRET"], filepath.Join(w.project, "work", "planted-hard")))
	var object bytes.Buffer
	z := zlib.NewWriter(&object)
	fmt.Fprintf(z, "blob %d\x00%s", len(text), text)
	z.Close()
	w.write(filepath.Join(w.project, ".git", "objects", "aa", strings.Repeat("b", 38)), object.String())
}

// places are outside the project.
func (w *world) places() {
	for name, dir := range map[string]string{"TMPFILE": os.TempDir(), "VARTMP": "/var/tmp", "DEVSHM": "/dev/shm"} {
		f, err := os.CreateTemp(dir, "redteam-")
		must(w.t, err)
		fmt.Fprintln(f, w.canary)
		must(w.t, f.Close())
		w.t.Cleanup(func() { os.Remove(f.Name()) })
		w.vars[name] = f.Name()
	}
	w.t.Setenv("REDTEAM_SECRET", w.canary)
	r, err := room.Open(context.Background(), room.Plan{Role: "neighbour", Level: room.Advisory, Base: w.rooms,
		Grants: []room.Grant{{Kind: "own-sheet", Name: "neighbour.md", Bytes: []byte(w.canary + "\n")}}})
	must(w.t, err)
	w.t.Cleanup(func() { r.Close() })
}

// listeners answer everybody who calls with the canary.
func (w *world) listeners() {
	serve := func(l net.Listener) {
		w.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				fmt.Fprintln(c, w.canary)
				c.Close()
			}
		}()
	}
	sockets := filepath.Join(w.dir, "s")
	must(w.t, os.MkdirAll(sockets, 0o755))
	for name, file := range map[string]string{"SOCKET": "a-" + w.marker, "DOCKER": "docker.sock", "SSH_AGENT": "agent.1"} {
		path := filepath.Join(sockets, file)
		l, err := net.Listen("unix", path)
		must(w.t, err)
		must(w.t, os.Chmod(path, 0o777))
		w.vars[name] = path
		serve(l)
	}
	w.vars["ABSTRACT"] = "redteam-" + filepath.Base(w.dir)
	l, err := net.Listen("unix", "@"+w.vars["ABSTRACT"])
	must(w.t, err)
	serve(l)
	for name, address := range map[string]string{"PORT": "127.0.0.1:0", "OTHERADDR": "127.0.0.2:0", "ADDR6": "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil && name == "ADDR6" {
			l, err = net.Listen("tcp", "127.0.0.3:0") // a machine without IPv6
		}
		must(w.t, err)
		w.vars[name] = l.Addr().String()
		serve(l)
	}
	_, w.vars["PORT"], _ = net.SplitHostPort(w.vars["PORT"])
	for _, name := range []string{"UDPPORT", "DNSPORT"} {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		must(w.t, err)
		w.t.Cleanup(func() { c.Close() })
		_, w.vars[name], _ = net.SplitHostPort(c.LocalAddr().String())
		go func() {
			var b [512]byte
			for {
				_, from, err := c.ReadFrom(b[:])
				if err != nil {
					return
				}
				_, _ = c.WriteTo([]byte(w.canary), from)
			}
		}()
	}
}

// ipc plants the secret in shared memory, a message queue and a keyring.
func (w *world) ipc() {
	shm, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	must(w.t, err)
	b, err := unix.SysvShmAttach(shm, 0, 0)
	must(w.t, err)
	copy(b, w.canary)
	must(w.t, unix.SysvShmDetach(b))
	msg, err := newMsgQueue(w.canary)
	must(w.t, err)
	w.t.Cleanup(func() { removeIPC(shm, msg) })
	w.vars["SHMID"], w.vars["MSGID"] = fmt.Sprint(shm), fmt.Sprint(msg)
	w.vars["KEYNAME"] = "key-" + w.marker
	id, err := unix.AddKey("user", w.vars["KEYNAME"], []byte(w.canary), unix.KEY_SPEC_USER_KEYRING)
	must(w.t, err)
	w.t.Cleanup(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0) })
}

// bus starts a session bus of the person's own.
func (w *world) bus() {
	path := filepath.Join(w.dir, "s", "bus")
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address", "--address=unix:path="+path)
	out, err := cmd.StdoutPipe()
	must(w.t, err)
	if err := cmd.Start(); err != nil {
		w.t.Fatalf("no session bus: %v (Debian: apt-get install dbus-daemon)", err)
	}
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		w.t.Fatalf("the session bus does not come up: %v", err)
	}
	w.vars["BUS"] = path
}

// terminal opens a terminal that somebody else is using.
func (w *world) terminal() {
	outer, inner, err := room.NewTerminal()
	must(w.t, err)
	w.vars["PTS"] = inner.Name()
	w.t.Cleanup(func() { inner.Close(); outer.Close() })
	go func() {
		var b [256]byte
		for {
			n, err := outer.Read(b[:])
			if err != nil {
				return
			}
			w.mu.Lock()
			w.typed.Write(b[:n])
			w.mu.Unlock()
		}
	}()
}

// startDecoy starts a process that holds the secret in its command line, its
// environment, its memory and an open file.
func (w *world) startDecoy(binary string) {
	w.decoy = exec.Command(binary, "decoy", w.canary)
	w.decoy.Env = []string{"REDTEAM_ATTACK=1", "SECRET=" + w.canary}
	w.decoy.Dir = filepath.Join(w.project, ".campaign")
	f, err := os.Open(w.vars["SECRET"])
	must(w.t, err)
	defer f.Close()
	w.decoy.ExtraFiles = []*os.File{f}
	out, err := w.decoy.StdoutPipe()
	must(w.t, err)
	must(w.t, w.decoy.Start())
	w.t.Cleanup(func() { _ = w.decoy.Process.Kill(); _ = w.decoy.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		w.t.Fatal("the decoy does not come up")
	}
	w.vars["DECOYADDR"], w.vars["DECOY"] = lines.Text(), fmt.Sprint(w.decoy.Process.Pid)
	go func() {
		for lines.Scan() {
			w.signals <- lines.Text()
		}
	}()
}

// decoy is the other end of startDecoy.
func decoy(canary string) error {
	_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // the control must be able to look
	secret := []byte(canary)
	got := make(chan os.Signal, 4)
	signal.Notify(got, unix.SIGUSR1)
	fmt.Printf("%#x\n", uintptr(unsafe.Pointer(&secret[0])))
	for s := range got {
		fmt.Println(s)
	}
	return nil
}

// prelude names all places to a script.
func (w *world) prelude() string {
	var names []string
	for name := range w.vars {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s='%s'\n", name, w.vars[name])
	}
	b.WriteString("export REDTEAM_ATTACK=1\n")
	return b.String()
}

// leaked says whether an attempt got something, by what it printed or by what
// it changed, and puts the change right.
func (w *world) leaked(a attempt, output string) bool {
	if strings.Contains(output, w.canary) {
		return true
	}
	if a.effect {
		return strings.Contains(output, effectWord)
	}
	if strings.HasPrefix(a.name, "a survivor") {
		return w.survived()
	}
	file := func(name string) string { return filepath.Join(w.project, name) }
	info := func(name string) os.FileInfo {
		i, err := os.Stat(file(name))
		must(w.t, err)
		return i
	}
	switch a.name {
	case "socket names in /proc/net/unix", "key names in /proc/keys", "listing the project":
		return strings.Contains(output, w.marker)
	case "session bus":
		return strings.Contains(output, "OK ")
	case "stat of a guessable name":
		return strings.Contains(output, fmt.Sprintf("size %d", info(".campaign/quest.md").Size()))
	case "writing to the project":
		defer func() { must(w.t, os.Truncate(file("touch-write"), 0)) }()
		return info("touch-write").Size() > 0
	case "creating in the project":
		return os.Remove(file("touch-create")) == nil
	case "chmod of a project file":
		defer func() { must(w.t, os.Chmod(file("touch-chmod"), 0o600)) }()
		return info("touch-chmod").Mode().Perm() != 0o600
	case "re-timing a project file":
		defer func() { must(w.t, os.Chtimes(file("touch-time"), time.Now(), time.Now())) }()
		return info("touch-time").ModTime().Year() == 2001
	case "attributes of a project file":
		return unix.Removexattr(file("touch-xattr"), "user.touched") == nil
	case "writing to a terminal":
		return w.wasTyped()
	case "a signal to another process":
		return w.signalled()
	}
	return false
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// secretFile is the canary in a file that is known by what is in it.
func (w *world) secretFile(name string) string {
	switch filepath.Base(name) {
	case ".npmrc":
		return "//registry.npmjs.org/:_authToken=" + w.canary + "\n"
	case "server.key":
		return "-----BEGIN PRIVATE KEY-----\n" + w.canary + "\n-----END PRIVATE KEY-----\n"
	}
	if name == ".docker/config.json" {
		return `{"auths":{"registry.example":{"auth":"` + w.canary + `"}}}` + "\n"
	}
	return "secret: " + w.canary + "\n"
}

// survived says whether somebody sleeps on, and wakes them for good. Whoever
// was started in the background may still be on the way to sleep.
func (w *world) survived() bool {
	for range 20 {
		if w.sleepers() {
			return true
		}
		<-time.After(10 * time.Millisecond)
	}
	return false
}

func (w *world) sleepers() bool {
	found := false
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		if b, err := os.ReadFile(f); err == nil && string(b) == "sleep\x00"+w.vars["SLEEP"]+"\x00" {
			found = true
			var pid int
			_, _ = fmt.Sscanf(f, "/proc/%d/cmdline", &pid)
			_ = unix.Kill(pid, unix.SIGKILL)
			for len(b) > 0 && err == nil { // or it is found again by the next
				b, err = os.ReadFile(f)
			}
		}
	}
	return found
}

// wasTyped and signalled wait a moment for what is on its way.
func (w *world) wasTyped() bool {
	for range 20 {
		w.mu.Lock()
		typed := w.typed.String()
		w.typed.Reset()
		w.mu.Unlock()
		if strings.Contains(typed, "typed") {
			return true
		}
		<-time.After(10 * time.Millisecond)
	}
	return false
}

func (w *world) signalled() bool {
	select {
	case <-w.signals:
		return true
	case <-time.After(200 * time.Millisecond):
		return false
	}
}
