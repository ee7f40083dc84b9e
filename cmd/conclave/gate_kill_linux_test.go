package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"conclave/internal/modelstub"
)

// A gate that is killed while its judges are asked leaves neither a receipt nor a
// verdict that the next one would take; the next one judges from the beginning,
// and the audit says which records were left open.
func TestKilledGate(t *testing.T) {
	program := filepath.Join(plainProgram(t), "conclave")
	const judges = 3
	var mu sync.Mutex
	var victim *os.Process
	calls, killAt := 0, 0
	stub := modelstub.New(func(modelstub.Request) modelstub.Reply {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls == killAt {
			_ = victim.Signal(syscall.SIGKILL)
			return modelstub.Fail(503, "nobody hears this")
		}
		return modelstub.Answer(modelstub.Say(`{"verdict":"Dragon Slain","summary":"it is","criteria":` +
			`[{"number":1,"status":"met","evidence":"report.txt:1"}]}`))
	})
	defer stub.Close()
	work, home := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(work, "report.txt"): "one\n",
		filepath.Join(work, "conclave.yaml"): "agents:\n  dragon: {agent: model, provider: mine, model: m}\nproviders:\n" +
			"  mine: {kind: chat, base_url: \"" + stub.URL() + "/v1\"}\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(kill int, args ...string) (string, int) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = work, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		mu.Lock()
		err := cmd.Start()
		victim, calls, killAt = cmd.Process, 0, kill
		mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // its state says it
		return out.String(), cmd.ProcessState.ExitCode()
	}
	if out, code := run(0, "trust", "--yes"); code != 0 {
		t.Fatal(out)
	}
	ask := []string{"gate", "--criteria", "The report is true.", "--work", "report.txt", "--judges", "3"}
	for at := 1; at <= 2*judges; at++ { // words first, and then the form
		out, code := run(at, ask...)
		if code != -1 {
			t.Fatalf("killed at call %d, it ended with %d:\n%s", at, code, out)
		}
		for _, kept := range []string{
			filepath.Join(work, ".conclave", "receipts", "*"), filepath.Join(home, ".cache", "conclave", "gate", "*"),
		} {
			if found, _ := filepath.Glob(kept); len(found) > 0 {
				t.Errorf("killed at call %d, it left %q", at, found)
			}
		}
		if strings.Contains(out, "MET") {
			t.Errorf("killed at call %d, it said\n%s", at, out)
		}
	}
	out, code := run(0, "audit")
	for _, says := range []string{"was cut short and never resumed", "not sealed: a run of Conclave's own"} {
		if code != 1 || !strings.Contains(out, says) || strings.Contains(out, "another program") {
			t.Errorf("audit: exit %d, and not %q\n%s", code, says, out)
		}
	}
	out, code = run(0, ask...)
	if code != 0 || !strings.HasPrefix(out, "MET") && !strings.Contains(out, "\nMET") || strings.Contains(out, "judged before") {
		t.Errorf("after it was killed: exit %d\n%s", code, out)
	}
}
