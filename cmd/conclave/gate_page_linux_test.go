package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"conclave/internal/sample"
)

// ofOneRun are the words on the page that every run has others of.
var ofOneRun = regexp.MustCompile(`\b[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{12}\b|\b[0-9a-f]{64}\b|\b[0-9]+ [A-Z][a-z]+ 20[0-9]{2} [0-9]{2}:[0-9]{2}\b`)

// TestGatePage: the page for people in a hurry shows what its script prints, line by
// line; commits are the same each time.
func TestGatePage(t *testing.T) {
	sample.Long(t)
	page, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- example -->\n```console\n")
	want, _, ok := strings.Cut(rest, "\n```\n<!-- /example -->")
	if !ok {
		t.Fatal("the page has no example")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "../../script/gate-example.sh")
	cmd.Env = append(os.Environ(), "CONCLAVE="+filepath.Join(plainProgram(t), "conclave"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := strings.Split(strings.Trim(ofOneRun.ReplaceAllString(string(out), "…"), "\n"), "\n")
	shown := strings.Split(ofOneRun.ReplaceAllString(want, "…"), "\n")
	for i := range max(len(printed), len(shown)) {
		if i >= len(printed) || i >= len(shown) || printed[i] != shown[i] {
			t.Fatalf("docs/gate.md differs from what script/gate-example.sh prints at line %d of the example; it prints:\n%s", i+1, out)
		}
	}
	for _, want := range []string{"NOT MET – criteria: committed at", "(exit 1)", "holds: the verdict is met", "does not hold", "judged before"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the script does not come to %q", want)
		}
	}
}
