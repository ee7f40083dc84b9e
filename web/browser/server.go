package browser

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// World is a home of its own with a workspace in it, as the program finds them.
type World struct {
	Home, Workspace string
}

// NewWorld makes an empty world below a directory.
func NewWorld(dir string) (World, error) {
	w := World{Home: filepath.Join(dir, "home"), Workspace: filepath.Join(dir, "home", "work", "proj")}
	return w, os.MkdirAll(w.Workspace, 0o700)
}

// environment is what the program is started with: nothing of the person whose
// machine it is.
func (w World) environment() []string {
	env := []string{"HOME=" + w.Home, "USER=ada", "LANG=C.UTF-8", "TZ=UTC", "PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
		env = append(env, "XDG_"+name+"_HOME="+filepath.Join(w.Home, ".xdg", strings.ToLower(name)))
	}
	return env
}

// Command is a run of the program in the world.
func (w World) Command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = w.Workspace, w.environment()
	return cmd
}

// Server is a running `conclave web`.
type Server struct {
	World   World
	Origin  string // http://127.0.0.1:PORT
	program string
	cmd     *exec.Cmd
	printed sync.WaitGroup
	lines   chan string
	all     strings.Builder
	mu      sync.Mutex
	first   string
}

var link = regexp.MustCompile(`https?://\S+#enter=\S+`)

// Serve starts `conclave web` in a world and waits for its link.
func (w World) Serve(program string, args ...string) (*Server, error) {
	s := &Server{World: w, program: program, lines: make(chan string, 1)}
	s.cmd = w.Command(program, append([]string{"web", "--no-open"}, args...)...)
	out, in := io.Pipe()
	s.cmd.Stdout, s.cmd.Stderr = in, in
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.printed.Go(func() { s.read(out) })
	go func() { s.cmd.Wait(); in.Close() }()
	select {
	case l, ok := <-s.lines:
		if !ok {
			return nil, fmt.Errorf("conclave web ended without a link:\n%s", s.Output())
		}
		u, err := url.Parse(l)
		if err != nil {
			return nil, err
		}
		s.first, s.Origin = l, u.Scheme+"://"+u.Host
		return s, nil
	case <-time.After(Patience):
		s.Stop()
		return nil, fmt.Errorf("conclave web printed no link:\n%s", s.Output())
	}
}

func (s *Server) read(out io.Reader) {
	defer close(s.lines)
	told := false
	for scan := bufio.NewScanner(out); scan.Scan(); {
		s.mu.Lock()
		s.all.WriteString(scan.Text() + "\n")
		s.mu.Unlock()
		if l := link.FindString(scan.Text()); l != "" && !told {
			told = true
			s.lines <- l
		}
	}
}

// Output is what it has printed.
func (s *Server) Output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// Link gives a link that was not used: the first one that it printed, then those
// that a second `conclave web` in the same workspace gets.
func (s *Server) Link() (string, error) {
	s.mu.Lock()
	l := s.first
	s.first = ""
	s.mu.Unlock()
	if l != "" {
		return l, nil
	}
	return askLink(s.World.Command(s.program, "web", "--no-open"))
}

// AskLink asks the server of a workspace for a link, as a second `conclave web` there
// does.
func AskLink(program, workspace string) (string, error) {
	cmd := exec.Command(program, "web", "--no-open")
	cmd.Dir = workspace
	return askLink(cmd)
}

func askLink(second *exec.Cmd) (string, error) {
	out, err := second.CombinedOutput()
	if err == nil {
		if l := link.FindString(string(out)); l != "" {
			return l, nil
		}
		err = errors.New("it printed none")
	}
	return "", fmt.Errorf("ask a second conclave web for a link: %w\n%s", err, out)
}

// Enter opens the page in a tab by a link, and waits until it stands.
func (s *Server) Enter(t *Tab) error {
	l, err := s.Link()
	if err != nil {
		return err
	}
	if err := t.Go(l); err != nil {
		return err
	}
	return t.Ready()
}

// Stop ends the server as a person does, and waits for it.
func (s *Server) Stop() error {
	s.cmd.Process.Signal(syscall.SIGINT)
	done := make(chan struct{})
	go func() { s.printed.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(Patience):
		s.cmd.Process.Kill()
		return errors.New("conclave web did not end when it was asked to")
	}
}

// PID is the server's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Ready waits until the page that was asked for is rendered.
func (t *Tab) Ready() error {
	return t.Wait(`document.readyState === 'complete' &&
		document.querySelector('main')?.getAttribute('aria-busy') === 'false'`)
}
