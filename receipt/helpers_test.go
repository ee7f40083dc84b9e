package receipt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/audit"
	"conclave/gate"
	"conclave/policy"
	"conclave/record"
)

var theWork = map[string]string{
	"src/main.go":  "package main\n\nfunc main() { println(\"minutes\") }\n",
	"REHEARSAL.md": "The rollback was run on a copy. It took 14 minutes.\n",
}

func someFile(path string) File {
	return File{Path: path, Size: int64(len(theWork[path])), SHA256: gate.SHA256([]byte(theWork[path]))}
}

// someBody is the body of a gate of three judges in sealed rooms, as gate/flow
// makes it.
func someBody() Body {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	text := "1. The rollback has been run on a copy (check: `grep -q minutes REHEARSAL.md`).\n2. The program says so.\n"
	b := Body{Program: "conclave 0.9.0", Made: made, Case: Case{
		Role: "dragon", Rule: gate.All, N: 3,
		Criteria: Criteria{Origin: gate.Committed, File: "criteria.md", Commit: strings.Repeat("1a2b3c4d", 5),
			SHA256: gate.SHA256([]byte(text)), Text: text, List: []Criterion{
				{Number: 1, Text: "The rollback has been run on a copy (check: `grep -q minutes REHEARSAL.md`).",
					Check: "grep -q minutes REHEARSAL.md"},
				{Number: 2, Text: "The program says so."},
			}},
		Work: Work{Names: []string{"."}, Files: []File{someFile("REHEARSAL.md"), someFile("src/main.go")}},
	}, Checks: []Check{{Number: 1, Command: "grep -q minutes REHEARSAL.md", State: "passed", Level: "sealed"}}}
	for n := range 3 {
		b.Judges = append(b.Judges, someJudge(n+1, b.Case, made.Add(-time.Minute)))
	}
	settle(&b)
	return b
}

func someJudge(n int, c Case, started time.Time) Judge {
	j := Judge{
		Number: n, Run: fmt.Sprintf("20260301T115%d00.000Z-0123456789ab", n), Head: strings.Repeat(fmt.Sprint(n), 64), Frames: 40,
		Adapter: "claude_agent_sdk", Program: "claude", Version: "2.1.0", Provider: "anthropic", Model: "claude-sonnet-4-5",
		Instructions: strings.Repeat("e", 64), ModelInput: audit.InputObserved,
		Sent:    []Sent{{SHA256: strings.Repeat("a", 64), Bytes: 1234}},
		Denied:  []Denied{{Kind: "conversation-animals", Count: 4}},
		Started: started, Ended: started.Add(30 * time.Second), Verdict: "Dragon Slain", Summary: "Both are met.",
		Usage: audit.Usage{Input: 1200, Output: 300, CostUSD: 0.0123},
		Enforced: audit.Enforcement{Level: "sealed", Required: "sealed", Mechanism: "namespaces, landlock 7, seccomp", Kernel: "6.1.0",
			UID: 1000, ShownAt: started, Probes: []audit.Probe{
				{Name: "read the workspace", Control: "ok", Restricted: "no such file", Where: "room"},
				{Name: "reach the network", Control: "ok", Restricted: "refused", Where: "room"},
			}},
		Findings: []Finding{
			{Number: 1, Status: "met", Evidence: "REHEARSAL.md:1 says how long.",
				Citations: []Citation{{Text: "REHEARSAL.md:1", Path: "REHEARSAL.md", Line: 1, OK: true}}},
			{Number: 2, Status: "met", Evidence: "src/main.go:3 prints it.",
				Citations: []Citation{{Text: "src/main.go:3", Path: "src/main.go", Line: 3, OK: true}}},
		},
	}
	j.Family = gate.Family(j.Provider, j.Model)
	j.Given = []audit.Item{{Kind: string(policy.SuccessCriteria), Path: "work/quest/criteria.md", Size: 9, SHA256: strings.Repeat("c", 64)}}
	for _, f := range c.Work.Files {
		j.Given = append(j.Given, audit.Item{Kind: string(policy.FinalWork), Path: "work/work/" + f.Path, Size: f.Size, SHA256: f.SHA256})
	}
	return j
}

// settle makes digests and decision follow from the rest, as an honest gate does.
func settle(b *Body) {
	b.Case.Work.Digest = b.Case.Work.Sum()
	b.Case.Digest = b.Case.Sum()
	if d, err := b.Decide(); err == nil {
		b.Decision = d
	}
}

// receiptOf puts a body on a record, and makes its receipt.
func receiptOf(t testing.TB, b Body) *Receipt {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gate.record")
	w, err := record.Create(path, record.Header{Run: "20260301T120000.000Z-ba9876543210", Attributes: map[string]string{"role": "gate"}})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := b.Bind("20260301T120000.000Z-ba9876543210")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []any{
		map[string]any{"event": "gate.case", "context": b.Case.Digest}, map[string]any{"event": Event, "context": bound},
	} {
		data, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AppendLog(data); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Seal("decided"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Of(b, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func someReceipt(t testing.TB) *Receipt {
	t.Helper()
	return receiptOf(t, someBody())
}
