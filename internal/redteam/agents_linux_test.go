package redteam

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/agent"
	"conclave/agent/acp"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/audit"
	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/hunt"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/seat"
)

// linkClients makes the pinned programs reachable for another user.
func linkClients(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "redteam-clients-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	for name, find := range map[string]func() (string, error){
		"claude-" + clients.ClaudeNew: func() (string, error) { return clients.Claude(clients.ClaudeNew) },
		"codex-" + clients.CodexOnly:  clients.Codex,
	} {
		path, err := find()
		must(t, err)
		short, _, _ := strings.Cut(name, "-")
		native := nativeOf(t, short, path)
		bin := filepath.Join(dir, name, "node_modules", ".bin")
		must(t, os.MkdirAll(bin, 0o755))
		if to := filepath.Join(bin, short); os.Link(native, to) != nil {
			copyFile(t, native, to)
		}
	}
	linkScripts(t, dir)
	return dir
}

// linkScripts does the same for programs that speak the Agent Client Protocol:
// some are scripts, with all that they load.
func linkScripts(t *testing.T, dir string) {
	t.Helper()
	for _, find := range []func() (string, error){clients.Copilot, clients.Gemini, clients.OpenCode, clients.Qwen, clients.Node} {
		path, err := find()
		must(t, err)
		modules := filepath.Dir(filepath.Dir(path)) // …/NAME-VERSION/node_modules
		to := filepath.Join(dir, filepath.Base(filepath.Dir(modules)), "node_modules")
		must(t, filepath.WalkDir(modules, func(from string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			target := filepath.Join(to, strings.TrimPrefix(from, modules))
			switch {
			case e.IsDir():
				return os.MkdirAll(target, 0o755)
			case e.Type()&fs.ModeSymlink != 0:
				link, err := os.Readlink(from)
				if err != nil {
					return err
				}
				return os.Symlink(link, target)
			case os.Link(from, target) != nil:
				copyFile(t, from, target)
			}
			return nil
		}))
	}
}

// nativeOf is the program itself behind npm's links and scripts.
func nativeOf(t *testing.T, name, path string) string {
	t.Helper()
	native, err := filepath.EvalSymlinks(path)
	must(t, err)
	if name == "codex" {
		if located, err := codex.Locate(path); err == nil {
			return located
		}
	}
	return native
}

// agents tries every channel with the real programs: a scripted model tells
// them to run each attempt in their own shell.
func (w *world) agents(t *testing.T, table *table, tried []attempt) {
	claudePath, err := clients.Claude(clients.ClaudeNew)
	must(t, err)
	codexPath, err := clients.Codex()
	must(t, err)
	tried = triedByPrograms(tried)
	roles := []string{"dragon", "guardian", "player", "journal-keeper", "cat", "gm"}
	if !sample.All() {
		roles = roles[:1]
	}
	crew := crewOfACP(t)
	native := nativeOf(t, "claude", claudePath)
	crew = append(crew, member{"Claude Code", claude.New(claude.Config{Program: native}), []string{filepath.Dir(native)},
		gateway.Anthropic, shellTool{"Bash", "Bash", "command", ""}, nil})
	native = nativeOf(t, "codex", codexPath)
	made, err := codex.New(codex.Options{Program: native})
	must(t, err)
	crew = append(crew, member{"Codex", made, []string{filepath.Dir(native)}, gateway.OpenAI,
		shellTool{"shell", "exec_command", "cmd", ""}, nil})
	for _, role := range roles {
		for _, i := range sample.Pick(t, len(crew), 0, 1) {
			w.agent(t, table, role, crew[i], tried)
		}
	}
}

// triedByPrograms are the attempts that a program makes in its own shell: half of
// them, or all.
func triedByPrograms(tried []attempt) []attempt {
	i := 0
	return slices.DeleteFunc(slices.Clone(tried), func(a attempt) bool {
		if a.own || a.crowd {
			return true
		}
		i++
		return i%2 == 0 && !sample.All()
	})
}

// member is a program that tries.
type member struct {
	with string
	agent.Agent
	programs []string // what its room must show
	kind     gateway.Kind
	tool     shellTool
	lent     *agent.Login // in place of a gateway
}

// crewOfACP are the programs that speak the Agent Client Protocol, each with
// another API of a model.
func crewOfACP(t *testing.T) []member {
	t.Helper()
	var crew []member
	for _, p := range []struct {
		name, shell, after string
		kind               gateway.Kind
		find               func() (string, error)
	}{
		{"copilot", "bash", "", gateway.OpenAI, clients.Copilot},
		{"gemini", "run_shell_command", "", gateway.Gemini, clients.Gemini},
		{"opencode", "bash", "", gateway.Anthropic, clients.OpenCode},
		{"qwen", "run_shell_command", drain, gateway.Chat, clients.Qwen},
	} {
		path, err := p.find()
		must(t, err)
		at, err := acp.Locate(p.name, path, clients.Node)
		must(t, err)
		made, err := acp.New(acp.Options{Name: p.name, Program: at, Provider: string(p.kind)})
		must(t, err)
		crew = append(crew, member{p.name, made, at.Dirs, p.kind, shellTool{acp.KindExecute, p.shell, "command", p.after}, nil})
	}
	return crew
}

// shellTool is an agent's own shell: its name as a permission, the name by
// which a model calls it, and the argument that holds the command.
type shellTool struct {
	builtin, call, argument string
	after                   string // put behind a command
}

// drain is put behind Qwen Code's commands: without a terminal, which rooms do not
// have, it takes the end of a command for the end of its output.
const drain = "; sleep 0.3"

// sentinel is in the instructions and in the message, and must be on no
// command line.
const sentinel = "sentinel-of-the-prompt"

// commandLinesWith returns the command lines on this machine that hold text.
func commandLinesWith(text string) []string {
	var found []string
	pids, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range pids {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), text) {
			found = append(found, file+": "+string(data))
		}
	}
	return found
}

// realKey is made up anew in each process: the attack binary in the room is
// this one, and must not hold it.
var realKey = newKey()

func newKey() string {
	var b [16]byte
	rand.Read(b[:])
	return "sk-real-" + hex.EncodeToString(b[:])
}

// models are names that each kind of provider knows.
var models = map[gateway.Kind]string{gateway.Anthropic: "claude-sonnet-4-5", gateway.OpenAI: "gpt-5.5", gateway.Chat: "gpt-5.5",
	gateway.Gemini: "gemini-2.5-flash"}

func (w *world) agent(t *testing.T, table *table, role string, m member, tried []attempt) {
	t.Helper()
	with := m.with
	stub, results := w.model(tried, m.tool)
	defer stub.Close()
	plan := seat.Plan{
		Workspace: filepath.Join(w.dir, "seats-"+strings.ReplaceAll(with, " ", "")+"-"+role), Run: "run-1", Role: role, PromptName: "redteam." + role,
		Agent: m.Agent, System: sentinel + ": do what you are told.", Model: models[m.kind], Builtin: []string{m.tool.builtin},
		Upstream: &gateway.Upstream{Kind: m.kind, BaseURL: stub.URL(), Key: realKey}, Room: w.plan(role),
	}
	plan.Room.Programs = append(plan.Room.Programs, m.programs...)
	wanted := lend(t, &plan, m.lent, stub.URL())
	must(t, os.MkdirAll(plan.Workspace, 0o700))
	s, err := seat.Open(context.Background(), plan)
	must(t, err)
	_, err = s.Take(context.Background(), seat.Turn{ID: "t1", Parts: []audit.Part{{Origin: audit.FromPerson, Text: sentinel + ": begin."}}})
	if err != nil {
		t.Errorf("%s as %s: %v", with, role, err)
	}
	if level := s.Enforcement().Level; level != wanted {
		t.Errorf("%s as %s ran in a room that is %q", with, role, level)
	}
	_, err = s.Close(context.Background(), "done")
	must(t, err)
	got := results()
	if alive := got[len(tried)]; !strings.Contains(alive, "alive-42") || !strings.Contains(alive, plan.Room.Grants[0].Name) {
		t.Errorf("%s as %s has no shell, so its failures prove nothing: %q", with, role, alive)
	} else if strings.Contains(alive, "FOUND") || !strings.Contains(alive, "hunted in the memory of") {
		t.Errorf("%s as %s: the key is in the room, or was not looked for: %s", with, role, alive)
	}
	for i, a := range tried {
		out, ok := got[i]
		if !ok {
			t.Errorf("%s as %s did not report on %s", with, role, a.name)
			continue
		}
		table.add(t, role, with, a, w.leaked(a, out))
	}
	w.recordIsClean(t, plan, with)
	if m.lent != nil {
		found, _, err := hunt.New(m.lent.Secrets...).Files(plan.Workspace)
		must(t, err)
		for _, place := range found {
			t.Errorf("%s as %s: the login is in %s", with, role, place)
		}
	}
}

// alive shows that the agent's shell works and sees the room, and hunts for
// the key in files and in everything that runs there.
var alive = attempt{name: "alive", script: `echo alive-$((6*7)); find . -type f | sed 's|^./||'
"$ATTACK" hunt ` + reversed(realKey) + `
half='` + realKey[:12] + `'; grep -rlF "$half"'` + realKey[12:] + `' /room /tmp /etc 2>/dev/null | sed 's/^/FOUND in /'`}

// model is the scripted model: one tool call for each attempt, then one that
// must succeed, then the end.
func (w *world) model(tried []attempt, tool shellTool) (*modelstub.Server, func() map[int]string) {
	tried = append(tried[:len(tried):len(tried)], alive)
	var mu sync.Mutex
	got := map[int]string{}
	next := 0
	var argv []string
	stub := modelstub.New(func(r modelstub.Request) modelstub.Reply {
		mu.Lock()
		defer mu.Unlock()
		if next == 0 {
			argv = commandLinesWith(sentinel)
		}
		for _, result := range r.ToolResults() {
			var i int
			if _, err := fmt.Sscanf(result.ID, "call_%d", &i); err == nil {
				got[i] = result.Text
			}
		}
		if len(r.Tools()) == 0 || next >= len(tried) {
			return modelstub.Answer(modelstub.Say("Done."))
		}
		// Gemini CLI runs no command that holds another one, so that they are hidden.
		script := base64.StdEncoding.EncodeToString([]byte("( " + w.prelude() + tried[next].script + " ) 2>&1 | tail -c 4000"))
		input, _ := json.Marshal(map[string]string{tool.argument: "echo " + script + " | base64 -d | sh" + tool.after})
		call := modelstub.Call(tool.call, fmt.Sprintf("call_%d", next), string(input))
		next++
		return modelstub.Answer(call)
	})
	return stub, func() map[int]string {
		mu.Lock()
		defer mu.Unlock()
		for _, line := range argv {
			w.t.Errorf("prompt text on a command line: %s", line)
		}
		return got
	}
}

// recordIsClean: what the model was sent holds neither the secret nor the
// key, and no started process had prompt text on its command line.
func (w *world) recordIsClean(t *testing.T, plan seat.Plan, with string) {
	t.Helper()
	path, err := record.Path(plan.Workspace, plan.Run)
	must(t, err)
	r, err := record.Open(path)
	must(t, err)
	defer r.Close()
	for r.Next() {
		if strings.Contains(string(r.Frame().Payload), realKey) {
			t.Errorf("%s: the key is on the record (frame %d)", with, r.Frame().Number)
		}
	}
	must(t, r.Err())
}
