package room

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/agent"
	"conclave/internal/clients"
)

// The channels by which a program could get at what is outside. Each is shown
// to work when the room is opened.
func TestChannels(t *testing.T) {
	const secret = "the-dragon-sleeps-at-noon"
	dir := base(t)
	outside := filepath.Join(dir, "project")
	t.Cleanup(func() { os.RemoveAll(outside) })
	write(t, secret, outside, ".campaign", "quest.md")
	sock, err := net.Listen("unix", filepath.Join(outside, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer sock.Close()
	go answer(sock, secret)
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	go answer(tcp, secret)
	victim := exec.Command("/bin/sleep", nap(1008))
	victim.Env = []string{"KEY=" + secret}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	shm := filepath.Join("/dev/shm", filepath.Base(dir))
	if err := os.WriteFile(shm, []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(shm)
	temp := filepath.Join(dir, "shared-temp")
	if err := os.WriteFile(temp, []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(temp)

	port := tcp.Addr().(*net.TCPAddr).Port
	file := filepath.Join(outside, ".campaign", "quest.md")
	pid := victim.Process.Pid
	channels := []struct{ name, script, sign string }{
		{"absolute path", "cat " + file, secret},
		{"relative path", "cat ../../../../../../../../../.." + file, secret},
		{"symbolic link", "ln -s " + file + " ./l; cat ./l", secret},
		{"hard link", "ln " + file + " ./h; cat ./h", secret},
		{"listing", "ls -a " + filepath.Dir(file), "quest.md"},
		{"size and time", "stat -c 'size %s' " + file, fmt.Sprintf("size %d", len(secret))},
		{"another's root", fmt.Sprintf("cat /proc/%d/root%s /proc/1/root%s", pid, file, file), secret},
		{"another's cwd", fmt.Sprintf("ls /proc/%d/cwd/ && echo seen", pid), "seen"},
		{"another's environment", fmt.Sprintf("tr '\\0' '\\n' < /proc/%d/environ", pid), secret},
		{"another's command line", fmt.Sprintf("tr '\\0' ' ' < /proc/%d/cmdline", pid), "sleep " + nap(1008)},
		{"all processes", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '", "sleep " + nap(1008)},
		{"a TCP port", fmt.Sprintf("timeout 2 cat </dev/tcp/127.0.0.1/%d", port), secret},
		{"sockets in /proc", "cat /proc/net/unix", filepath.Join(outside, "bus")},
		{"shared temp", "cat " + temp, secret},
		{"shared memory", "cat " + shm, secret},
		{"writing", "echo x > " + filepath.Join(outside, "written") + " && echo wrote", "wrote"},
		{"mode", "chmod 0644 " + file + " && echo changed", "changed"},
		{"time", "touch " + file + " && echo changed", "changed"},
		{"signal", fmt.Sprintf("kill -0 %d && echo reached", pid), "reached"},
		{"machine name", "hostname || uname -n", hostname(t)},
		{"boot parameters", "cat /proc/cmdline | head -c 9; wc -c </proc/cmdline | grep -qv '^0$' && echo booted", "booted"},
		{"mounts", "cat /proc/self/mountinfo | grep -c ' / /sys ' && echo mounts", "mounts"},
	}
	// All in one program per room, each in a subshell of its own.
	var all strings.Builder
	for i, c := range channels {
		fmt.Fprintf(&all, "echo '=== %d'; ( cd $(mktemp -d -p $PWD); %s ) 2>&1\n", i, c.script)
	}
	opened := parts(t, sh(t, open(t, Plan{Lower: Advisory, Base: dir}), all.String()).out, len(channels))
	sealed := parts(t, sh(t, open(t, Plan{Role: "dragon", Base: dir}), all.String()).out, len(channels))
	var blocked int
	for i, c := range channels {
		if !strings.Contains(opened[i], c.sign) {
			t.Errorf("%s: does not work in an opened room, so it shows nothing: %q", c.name, opened[i])
		}
		if strings.Contains(sealed[i], c.sign) {
			t.Errorf("%s: LEAKED: %q", c.name, sealed[i])
		} else {
			blocked++
		}
	}
	t.Logf("%d attempts, %d blocked", len(channels), blocked)
}

// parts splits the output of many attempts.
func parts(t *testing.T, out string, n int) []string {
	t.Helper()
	var list []string
	for i := range n {
		_, rest, ok := strings.Cut(out, fmt.Sprintf("=== %d\n", i))
		if !ok {
			t.Fatalf("attempt %d was not made:\n%s", i, out)
		}
		part, _, _ := strings.Cut(rest, fmt.Sprintf("=== %d\n", i+1))
		list = append(list, part)
	}
	return list
}

func answer(l net.Listener, what string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, what)
		c.Close()
	}
}

func hostname(t *testing.T) string {
	t.Helper()
	h, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return h + "\n"
}

// The keeper is the only process in the room that is not the program's. It is
// of no use to it.
func TestKeeperIsOfNoUse(t *testing.T) {
	r := open(t, Plan{})
	res := sh(t, r, `for s in 9 15 2 1 19; do kill -$s 1 && echo "signalled $s"; done
		cat /proc/1/environ /proc/1/maps /proc/1/mem && echo read
		ls /proc/1/fd /proc/1/root && echo looked
		: > /proc/1/oom_score_adj && echo wrote
		cat /proc/1/exe >/dev/null && echo read its program
		exec 4<>/proc/1/exe && echo opened its program
		kill -9 -1; echo survived`)
	if res.out != "survived\n" {
		t.Errorf("%q\n%s", res.out, res.errs)
	}
}

func TestRoomsDoNotMeet(t *testing.T) {
	dir := base(t)
	a, b := open(t, Plan{Base: dir}), open(t, Plan{Base: dir})
	p, err := a.Launch(t.Context(), shell(`echo secret-of-a > /tmp/x; echo secret-of-a > /dev/shm/x; cp /tmp/x /room/home/x; echo up; sleep 1009`))
	if err != nil {
		t.Fatal(err)
	}
	defer stopNow(p)
	if _, err := p.Stdout().Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	host := a.Place().Host
	res := sh(t, b, `cat /tmp/* /dev/shm/* /room/home/* `+host+`/home/x; ls `+filepath.Dir(host)+` `+dir+`; kill -0 `+fmt.Sprint(p.PID())+` && echo reached; ls /proc | grep -c '^[0-9]'`)
	if strings.Contains(res.out, "secret-of-a") || strings.Contains(res.out, "reached") || strings.Contains(res.out, "place") {
		t.Errorf("%q", res.out)
	}
	if n := strings.TrimSpace(res.out); len(n) != 1 {
		t.Errorf("sees %q processes", n)
	}
	if os.Geteuid() == 0 && a.who.uid == b.who.uid {
		t.Error("two rooms share a user")
	}
}

func TestViewMounted(t *testing.T) {
	dir, visible := project(t)
	r := open(t, Plan{Role: "cat", Workspace: &View{Source: dir, Withheld: private}, Grants: []Grant{{Kind: "quest", Name: "quest.md", Bytes: []byte("hidden no")}}})
	if m := r.Manifest(); len(m.Items) != 2 || !m.Items[1].Mounted || m.Items[1].Files < len(visible) || len(m.LeftOut) < 15 {
		t.Errorf("%+v", m)
	}
	res := sh(t, r, `cd workspace && find . -type f -size +0 | sort; grep -r "^hidden" . ; cat src/abs/HEAD src/rel GEMINI.md; echo x > README.md; touch new; ls -A .git`)
	var want []string
	for _, v := range visible {
		want = append(want, "./"+v)
	}
	slices.Sort(want)
	if got := strings.Fields(res.out); !slices.Equal(got, want) {
		t.Errorf("sees %q", res.out)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "README.md")); string(b) != "visible README.md" {
		t.Errorf("the project was changed: %q", b)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("the project was written to")
	}
	os.Remove(r.Place().OnHost("work", "quest.md"))
}

// What must stay outside does so even in a system directory's clothes.
func TestOutsideWithinAProgram(t *testing.T) {
	dir := base(t)
	tools := filepath.Join(dir, "tools")
	t.Cleanup(func() { os.RemoveAll(tools) })
	write(t, "tool", tools, "lib", "tool.txt")
	write(t, "secret", tools, "project", ".campaign", "quest.md")
	if err := os.Symlink(filepath.Join(tools, "lib"), filepath.Join(tools, "link")); err != nil {
		t.Fatal(err)
	}
	p := Plan{Base: dir, Programs: []string{tools}, Outside: []string{filepath.Join(tools, "project")}}
	res := sh(t, open(t, p), "cat "+tools+"/lib/tool.txt "+tools+"/link/tool.txt; ls -A "+tools+"/project; cat "+tools+"/project/.campaign/quest.md; echo x >"+tools+"/lib/x && echo wrote")
	if res.out != "tooltool" {
		t.Errorf("%q %q", res.out, res.errs)
	}
	p.Lower = Fenced
	if err := open(t, p).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "sealed") {
		t.Error(err)
	}
	p = Plan{Base: dir, Programs: []string{filepath.Join(tools, "link"), filepath.Join(tools, "lib", "tool.txt")}}
	if res := sh(t, open(t, p), "cat "+tools+"/link/tool.txt; ls "+tools); res.out != "toollib\nlink\n" && res.out != "tool" {
		t.Errorf("%q %q", res.out, res.errs)
	}
}

// The gateway is the only way out, and the other end is in this process.
func TestGateway(t *testing.T) {
	for _, level := range []Level{Sealed, Fenced, Advisory} {
		t.Run(string(level), func(t *testing.T) {
			var mu sync.Mutex
			var seen []string
			handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				b, _ := io.ReadAll(req.Body)
				mu.Lock()
				seen = append(seen, string(b))
				mu.Unlock()
				fmt.Fprintf(w, "answer to %s", b)
			})
			srv := &http.Server{Handler: handler}
			r := open(t, Plan{Lower: level, Gateway: serveWith(srv)})
			req := `exec 3<>/dev/tcp/${GW#http://}; printf 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello' >&3; cat <&3`
			url := strings.Replace(r.GatewayURL(), ":", "/", 2)
			url = "http://" + strings.TrimPrefix(strings.Replace(url, "http/", "http:", 1), "http://")
			c := shell(req)
			c.Env = append(slices.Clone(shellEnv), "GW="+url)
			for range 2 { // each program has a door of its own
				if res := run(t, r, c); !strings.HasSuffix(res.out, "answer to hello") {
					t.Errorf("%q %q", res.out, res.errs)
				}
			}
			if len(seen) != 2 {
				t.Errorf("%q", seen)
			}
		})
	}
	r := open(t, Plan{})
	if r.GatewayURL() != "" {
		t.Error("a door without a gateway")
	}
	if res := sh(t, r, fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && echo in", insidePort)); res.out != "" {
		t.Error(res.out)
	}
}

// serveWith serves single connections with an HTTP server.
func serveWith(srv *http.Server) func(net.Conn) {
	return func(c net.Conn) {
		l := &oneConn{conn: make(chan net.Conn, 1), done: make(chan struct{})}
		l.conn <- &watched{Conn: c, l: l}
		_ = srv.Serve(l)
	}
}

type oneConn struct {
	conn chan net.Conn
	done chan struct{}
	once sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *oneConn) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

type watched struct {
	net.Conn
	l *oneConn
}

func (w *watched) Close() error { err := w.Conn.Close(); w.l.Close(); return err }

// Programs of all kinds run in a sealed room.
func TestPrograms(t *testing.T) {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/room/home", "TMPDIR=/room/tmp", "LANG=C.UTF-8"}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		path     string
		args     []string
		programs []string
		want     string
	}{
		{"shell", "/bin/bash", []string{"-c", `cat <(echo sub) <<<x; t=$(mktemp); echo $t; mkfifo p; (echo through > p &) ; cat p; seq 3 | xargs -n1 -P3 echo | wc -l`}, nil, "through"},
		{"dynamic", "/usr/bin/awk", []string{`BEGIN { print 6 * 7 }`}, nil, "42"},
		{"python", "/usr/bin/python3", []string{"-c", "import socket,subprocess,tempfile,threading;a,b=socket.socketpair();l=socket.socket();l.bind(('127.0.0.1',0));l.listen();c=socket.create_connection(l.getsockname());print(subprocess.check_output(['echo','py']).decode(),tempfile.mkdtemp())"}, nil, "py"},
		{"node", "/usr/bin/node", []string{"-e", `const cp=require("child_process"),os=require("os");os.networkInterfaces();os.cpus();new (require("worker_threads").Worker)("require('worker_threads').parentPort.postMessage(1)",{eval:true}).on("message",()=>console.log(cp.execSync("echo node"+os.homedir()).toString()))`}, nil, "node/room/home"},
		{"this test", self, []string{"-test.list", "TestPrograms"}, []string{self}, "TestPrograms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(c.path); err != nil && os.Geteuid() != 0 || err != nil && c.name == "python" || c.name == "this test" && os.Geteuid() != 0 {
				t.Logf("no %s for this user", c.path)
				return
			}
			r := open(t, Plan{Programs: c.programs})
			res := run(t, r, agent.Command{Path: c.path, Args: c.args, Env: env})
			if res.err != nil || !strings.Contains(res.out, c.want) {
				t.Errorf("%v %q %q", res.err, res.out, res.errs)
			}
		})
	}
}

// The real agents start in a sealed room, from a directory that only its owner
// can pass through.
func TestRealAgentsStart(t *testing.T) {
	if noAgents(t) {
		return
	}
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/room/home", "TMPDIR=/room/tmp", "CLAUDE_CODE_TMPDIR=/room/tmp", "LANG=C.UTF-8", "DISABLE_AUTOUPDATER=1"}
	find := map[string]func() (string, error){
		"2.1.325": func() (string, error) { return clients.Claude(clients.ClaudeNew) },
		"2.1.197": func() (string, error) { return clients.Claude(clients.ClaudeOld) },
		"0.166.0": clients.Codex,
	}
	for version, find := range find {
		path, err := find()
		if err != nil {
			t.Fatal(err)
		}
		installation := filepath.Dir(filepath.Dir(filepath.Dir(path)))
		r := open(t, Plan{Programs: []string{installation}})
		res := run(t, r, agent.Command{Path: path, Args: []string{"--version"}, Env: env})
		if res.err != nil || !strings.Contains(res.out, version) {
			t.Errorf("%s: %v %q %q", version, res.err, res.out, res.errs)
		}
	}
}

func TestRunAttached(t *testing.T) {
	r := open(t, Plan{})
	in, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rd, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	err = r.Run(t.Context(), shell("echo attached; exit 4"), Stdio{In: in, Out: wr, Err: wr})
	wr.Close()
	b, _ := io.ReadAll(rd)
	if string(b) != "attached\n" || !strings.Contains(fmt.Sprint(err), "exit status 4") {
		t.Errorf("%q %v", b, err)
	}
	if r.Enforcement().Level != Sealed {
		t.Error(r.Enforcement())
	}
}

// A terminal of its own lets a person look around, with job control.
func TestTerminal(t *testing.T) {
	outer, inner, err := NewTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	var mu sync.Mutex
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := outer.Read(b)
			mu.Lock()
			out.Write(b[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	if _, err := outer.WriteString("echo $((40+2)) on a $(test -t 0 && echo terminal); sleep " + nap(1010) + "\n"); err != nil {
		t.Fatal(err)
	}
	r := open(t, Plan{})
	ended := make(chan error, 1)
	go func() {
		ended <- r.Run(t.Context(), agent.Command{Path: "/bin/bash", Args: []string{"--norc", "-i"}, Env: shellEnv}, Stdio{In: inner, Out: inner, Err: inner, Terminal: true})
		inner.Close()
	}()
	said := func(s string) func() bool {
		return func() bool { mu.Lock(); defer mu.Unlock(); return strings.Contains(out.String(), s) }
	}
	eventually(t, "the shell answers", said("42 on a terminal"))
	eventually(t, "it sleeps", func() bool { return len(processesWith(nap(1010))) == 1 })
	if _, err := outer.WriteString("\x03"); err != nil { // interrupts the sleep, not the shell
		t.Fatal(err)
	}
	eventually(t, "the interrupt arrives", func() bool { return len(processesWith(nap(1010))) == 0 })
	if _, err := outer.WriteString("exit 0\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil && !strings.Contains(err.Error(), "130") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the shell does not end")
	}
	<-read
	if strings.Contains(out.String(), "no job control") {
		t.Errorf("%q", out.String())
	}
}
