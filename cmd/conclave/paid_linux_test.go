package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"conclave/internal/modelstub"
	"conclave/internal/sample"
)

// payments counts what a model's server was asked, and ends whoever asks when it is
// told to.
type payments struct {
	mu     sync.Mutex
	asked  map[[32]byte]int // by the bytes of a request
	calls  int
	killAt int // the call at which who asks is killed
	victim *os.Process
}

// answer lists the files again and again, and then has something to say.
func (p *payments) answer(r modelstub.Request) modelstub.Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.calls == p.killAt && p.victim != nil {
		_ = p.victim.Signal(syscall.SIGKILL)
		p.victim = nil
		return modelstub.Fail(503, "nobody hears this")
	}
	p.asked[sha256.Sum256(r.Body)]++
	if n := bytes.Count(r.Body, []byte(`"tool_call_id"`)); n < callsPerTurn {
		return modelstub.Answer(modelstub.Call("list_files", fmt.Sprintf("call_%d", n), `{"path":"."}`))
	}
	return modelstub.Answer(modelstub.Say("Nothing could break."))
}

const callsPerTurn = 4

// Over fifty kills, at every call of turns with several, no request whose answer
// had come is sent a second time: what was paid for is taken from the record.
func TestNothingIsPaidTwice(t *testing.T) {
	program := filepath.Join(plainProgram(t), "conclave")
	const rounds = 10 // each killed once at each of its calls
	drawn := sample.Pick(t, rounds, 1, 2)
	for _, round := range drawn {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			for at := 1; at <= callsPerTurn+1; at++ {
				payOnce(t, program, round, at)
			}
		})
	}
}

// payOnce has one conversation that is killed at a call and goes on.
func payOnce(t *testing.T, program string, round, at int) {
	p := &payments{asked: map[[32]byte]int{}, killAt: at}
	stub := modelstub.New(p.answer)
	defer stub.Close()
	work := t.TempDir()
	for name, text := range map[string]string{
		"README.md": strings.Repeat("# Counter\n", round+1),
		"conclave.yaml": "agents:\n  cat: {agent: model, provider: mine, model: m}\nproviders:\n" +
			"  mine: {kind: chat, base_url: \"" + stub.URL() + "/v1\"}\nbudget: {tokens: 1000000}\n",
	} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(kill bool, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = work, []string{"HOME=" + work, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		p.mu.Lock()
		if err := cmd.Start(); err != nil {
			p.mu.Unlock()
			t.Fatal(err)
		}
		if kill {
			p.victim = cmd.Process
		}
		p.mu.Unlock()
		err := cmd.Wait()
		return out.String(), err
	}
	for _, args := range [][]string{{"init", "--yes"}, {"trust", "--yes"}} {
		if out, err := run(false, args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if out, err := run(true, "consult", "cat", "--message", "Where could it break?"); err == nil {
		t.Fatalf("killed at call %d, it ended in order:\n%s", at, out)
	}
	out, err := run(false, "quest", "continue")
	if err != nil || !strings.Contains(out, "Nothing could break.") {
		t.Fatalf("killed at call %d, it did not go on: %v\n%s", at, err, out)
	}
	for digest, n := range p.asked {
		if n > 1 {
			t.Errorf("killed at call %d: the request %x was paid for %d times", at, digest[:4], n)
		}
	}
	if len(p.asked) != callsPerTurn+1 {
		t.Errorf("killed at call %d: %d different requests, want %d", at, len(p.asked), callsPerTurn+1)
	}
	if out, err := run(false, "audit"); err != nil {
		t.Errorf("killed at call %d: %v\n%s", at, err, out)
	}
}

// A council under a budget of a cent, with a model whose every answer costs a third
// of that, stops within one answer of it, says why, and can be continued.
func TestCouncilUnderACent(t *testing.T) {
	program := filepath.Join(plainProgram(t), "conclave")
	var mu sync.Mutex
	answered := 0
	stub := modelstub.New(func(modelstub.Request) modelstub.Reply {
		mu.Lock()
		defer mu.Unlock()
		answered++
		r := modelstub.Answer(modelstub.Say("I see nothing that could break."))
		r.Usage = modelstub.Usage{Input: 5000, Output: 1000}
		return r
	})
	defer stub.Close()
	work := t.TempDir()
	for name, text := range map[string]string{
		"README.md": "# Counter\n",
		".config/conclave/config.yaml": "agents:\n  default: {agent: model, provider: mine, model: m}\nproviders:\n" +
			"  mine: {kind: chat, base_url: \"" + stub.URL() + "/v1\"}\nbudget: {usd: 0.01}\n" +
			"prices:\n  m: {input: 0.5, output: 0.5}\n",
	} {
		file := filepath.Join(work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = work, []string{"HOME=" + work, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for range 2 { // a second command has no more to spend
		out, err := run("council", "--message", "What could break?")
		if err == nil || !strings.Contains(out, "the budget of 0.01 USD") {
			t.Errorf("%v\n%s", err, out)
		}
		const each = (5000 + 1000) * 0.5 / 1e6
		if spent := float64(answered) * each; answered == 0 || spent > 0.01+each {
			t.Errorf("%d answers of %.3f were paid for", answered, each)
		}
	}
}
