package room

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/internal/clients"
	"conclave/internal/modelstub"
)

// noAgents reports that this is the second run of the tests, by a user who
// cannot reach the installation of the agents.
func noAgents(t *testing.T) bool {
	if os.Geteuid() == 0 || os.Getenv("HOME") != filepath.Join(filepath.Dir(os.TempDir()), "home") {
		return false
	}
	t.Log("the agents are not installed for this user")
	return true
}

// installation is the directory of an agent's program, and the program's path
// in it. A fenced room's own user cannot pass through somebody's home, so that
// it gets one elsewhere, of the same files.
func installation(t *testing.T, path string, level Level) (dir, program string) {
	t.Helper()
	dir = filepath.Dir(filepath.Dir(filepath.Dir(path)))
	if level == Sealed {
		return dir, path
	}
	public, err := os.MkdirTemp("", "clients-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(public) })
	to := filepath.Join(public, "agent")
	if exec.Command("cp", "-al", dir, to).Run() != nil { // on another file system
		if out, err := exec.Command("cp", "-a", dir, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.Chmod(public, 0o755); err != nil {
		t.Fatal(err)
	}
	return to, strings.Replace(path, dir, to, 1)
}

// relay joins a connection out of the room to a server on this system.
func relay(to string) func(net.Conn) {
	return func(c net.Conn) {
		out, err := net.Dial("tcp", strings.TrimPrefix(to, "http://"))
		if err != nil {
			return
		}
		defer out.Close()
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = io.Copy(out, c); _ = out.(*net.TCPConn).CloseWrite() })
		_, _ = io.Copy(c, out)
		c.Close()
		wg.Wait()
	}
}

// The real agents work in sealed and in fenced rooms, with the limits that
// rooms have by default, talk to their model through the door, and find nothing
// outside when the model tells them to look.
func TestRealAgentsWork(t *testing.T) {
	if noAgents(t) {
		return
	}
	for _, level := range []Level{Sealed, Fenced} {
		t.Run(string(level), func(t *testing.T) { realAgentsWork(t, level) })
	}
}

func realAgentsWork(t *testing.T, level Level) {
	secret := write(t, "swordfish", base(t), "secret")
	t.Cleanup(func() { os.Remove(secret) })
	// Tools run in the directory of the work.
	look := fmt.Sprintf("cat %s; cat given.md; echo made > ../outbox/made; node -e 'console.log(6*7)'", secret)
	quoted, err := json.Marshal(look)
	if err != nil {
		t.Fatal(err)
	}
	env := func(r *Room, more ...string) []string {
		return append(more, "PATH=/usr/local/bin:/usr/bin:/bin", "HOME="+r.Place().InGuest(agent.HomeDir), "TMPDIR="+r.Place().InGuest(agent.TempDir),
			"LANG=C.UTF-8", "SHELL=/bin/bash")
	}
	for _, a := range []struct {
		name  string
		find  func() (string, error)
		call  modelstub.Block
		start func(r *Room) agent.Command
	}{
		{"claude", func() (string, error) { return clients.Claude(clients.ClaudeNew) },
			modelstub.Call("Bash", "toolu_1", `{"command":`+string(quoted)+`}`),
			func(r *Room) agent.Command {
				return agent.Command{Args: []string{"-p", "--bare", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"},
					Env: env(r, "ANTHROPIC_API_KEY=sk-ant-dummy", "ANTHROPIC_BASE_URL="+r.GatewayURL(), "CLAUDE_CODE_TMPDIR="+r.Place().InGuest(agent.TempDir),
						"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=0")}
			}},
		{"codex", clients.Codex,
			modelstub.Call("exec_command", "call_1", `{"cmd":`+string(quoted)+`}`),
			func(r *Room) agent.Command {
				write(t, fmt.Sprintf(`model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "%s/v1"
env_key = "MOCK_API_KEY"
wire_api = "responses"
request_max_retries = 0
[analytics]
enabled = false
`, r.GatewayURL()), r.Place().OnHost(agent.HomeDir, ".codex"), "config.toml")
				return agent.Command{Args: []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-"},
					Env: env(r, "CODEX_HOME="+r.Place().InGuest(agent.HomeDir, ".codex"), "MOCK_API_KEY=sk-dummy")}
			}},
	} {
		t.Run(a.name, func(t *testing.T) {
			path, err := a.find()
			if err != nil {
				t.Fatal(err)
			}
			dir, path := installation(t, path, level)
			stub := modelstub.New(modelstub.Script(modelstub.Answer(a.call), modelstub.Answer(modelstub.Say("all done"))))
			defer stub.Close()
			r := open(t, Plan{Role: a.name, Lower: level, Programs: []string{dir}, Gateway: relay(stub.URL()),
				Grants: []Grant{{Kind: "work", Name: "given.md", Bytes: []byte("the given work")}}})
			c := a.start(r)
			c.Path = path
			p, err := r.Launch(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(p.Stdin(), "look around"); err != nil {
				t.Fatal(err)
			}
			res := finish(t, p)
			if res.err != nil || !strings.Contains(res.out, "all done") {
				t.Errorf("%v\n%s\n%s", res.err, res.out, res.errs)
			}
			var results string
			for _, req := range stub.Requests() {
				for _, tr := range req.ToolResults() {
					results += tr.Text
				}
				if strings.Contains(string(req.Body), "swordfish") {
					t.Errorf("LEAKED: %s", req.Body)
				}
			}
			refusal := map[Level]string{Sealed: "No such file", Fenced: "Permission denied"}
			for _, want := range []string{refusal[level], "the given work", "42"} {
				if !strings.Contains(results, want) {
					t.Errorf("no %q in what the tool gave back: %q", want, results)
				}
			}
			if files, _, err := r.TakeOutbox(); err != nil || len(files) != 1 || string(files[0].Data) != "made\n" {
				t.Errorf("outbox: %q %v", files, err)
			}
		})
	}
}
