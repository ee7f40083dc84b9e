package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/clients"
	"conclave/internal/modelstub"
	"conclave/receipt"
)

// judgedFor has a work judged, and returns the receipt and the arguments that name
// every record of it.
func (w *real) judgedFor(criteria, file string) (got *receipt.Receipt, records []string) {
	w.t.Helper()
	w.run(0, "gate", "--criteria", criteria, "--work", "plan.md", "--receipt", file)
	data, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if got, err = receipt.Read(data); err != nil {
		w.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, ".conclave", "records", "*.record"))
	if err != nil || len(files) != 1+len(got.Body.Judges) {
		w.t.Fatalf("%d records: %v", len(files), err)
	}
	for _, f := range files {
		records = append(records, "--record", f)
	}
	return got, records
}

// TestReceiptOfARealJudge: Claude Code judges in a sealed room. Its receipt has
// the probes of that room, and holds against its record.
func TestReceiptOfARealJudge(t *testing.T) {
	path := reachable(t, realClaude(t, clients.ClaudeNew))
	m := &model{}
	stub := modelstub.New(m.answer)
	defer stub.Close()
	w := newReal(t, fmt.Sprintf("agents:\n  default: {agent: claude, model: stub-model, provider: stub}\n"+
		"providers:\n  stub: {kind: anthropic, base_url: %q, key_env: STUB_KEY}\n", stub.URL()))
	w.own(fmt.Sprintf("programs:\n  claude: %q\n", path))
	w.run(0, "trust", "--yes")
	file := filepath.Join(t.TempDir(), "receipt.json")
	got, records := w.judgedFor("1. A bridge stands", file)
	j := got.Body.Judges[0]
	if j.Enforced.Level != "sealed" || len(j.Enforced.Probes) == 0 || len(j.Sent) == 0 || j.InProcess {
		t.Fatalf("level %q, %d probes, %d requests", j.Enforced.Level, len(j.Enforced.Probes), len(j.Sent))
	}
	w.run(0, append([]string{"audit", "receipt", file, "--head", got.Record.Head, "--work", "."}, records...)...)
	for _, want := range []string{
		"holds: the verdict is met\n", "stated judge 1: its room was sealed: ",
		fmt.Sprintf("%d things were possible outside and impossible inside", len(j.Enforced.Probes)),
	} {
		if !strings.Contains(w.out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, w.out.String())
		}
	}
	if n := strings.Count(w.out.String(), "shown records: "); n != 2 {
		t.Errorf("%d records are shown:\n%s", n, w.out.String())
	}
}
