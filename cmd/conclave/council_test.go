package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/sample"
	"conclave/quest/flow"
)

// TestCouncilOnRealProjects lets the embedded party look at the sources of
// three modules that this one is built with. Every citation checks out, and
// each project gets an answer of its own.
func TestCouncilOnRealProjects(t *testing.T) {
	reports := map[string]string{}
	modules := []string{"github.com/spf13/cobra", "github.com/google/jsonschema-go", "github.com/jackc/pgx/v5"}
	for _, i := range sample.Pick(t, len(modules), 2, 2) {
		module := modules[i]
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			t.Fatalf("find %s: %v", module, err)
		}
		w := newReal(t, "")
		if err := os.CopyFS(filepath.Join(w.dir, "src"), os.DirFS(strings.TrimSpace(string(out)))); err != nil {
			t.Fatal(err)
		}
		makeWritable(t, w.dir)
		os.Remove(filepath.Join(w.dir, "conclave.yaml"))
		os.Remove(filepath.Join(w.dir, "plan.md"))
		w.run(0, "council", "--json")
		var res flow.Result
		if err := json.Unmarshal(w.out.Bytes(), &res); err != nil {
			t.Fatal(err)
		}
		for _, u := range res.Unverified {
			t.Errorf("%s: %s", module, u)
		}
		report, err := os.ReadFile(filepath.Join(w.dir, ".campaign", "council-report.md"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(report), "there is no `...`") {
			t.Errorf("%s: Go's name for all packages is taken for a file", module)
		}
		for other, text := range reports {
			if same := sharedObservations(text, string(report)); len(same) > 0 {
				t.Errorf("%s and %s get the same: %q", other, module, same)
			}
		}
		reports[module] = string(report)
		w.run(0, "transcript", "verify")
		w.run(0, "audit")
	}
}

// makeWritable gives the copy of a read-only tree its rights back, so that the
// test can clean up.
func makeWritable(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sharedObservations are numbered lines that stand in both reports, but for the
// one that says that nothing was seen: it points at nothing.
func sharedObservations(a, b string) []string {
	var same []string
	for line := range strings.Lines(a) {
		if len(line) > 3 && line[0] >= '1' && line[0] <= '5' && line[1] == '.' && strings.Contains(line, "`") && strings.Contains(b, line) {
			same = append(same, line)
		}
	}
	return same
}
