package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	builder "conclave/internal/program"
	"conclave/internal/sample"
	"conclave/quest/flow"
)

// most is how many findings an advisor may give.
const most = 3

// TestCorpus holds a council of the embedded party on each tree, as it came and
// with the defects planted, and holds what the six say against the list.
// CONCLAVE_CORPUS_KEEP=DIR lays the trees there and leaves them, for the judge.
func TestCorpus(t *testing.T) {
	sample.Long(t)
	all := projects(t)
	if !sample.All() { // the largest takes minutes with the race detector: make matrix has it
		all = slices.DeleteFunc(all, func(p project) bool { return p.name == "typescript" })
	}
	for _, i := range sample.Pick(t, len(all), 1, 3) {
		p := all[i]
		t.Run(p.name, func(t *testing.T) {
			t.Run("as it came", func(t *testing.T) { replay(t, p, nil) })
			t.Run("planted", func(t *testing.T) { replay(t, p, of(defects(t), p)) })
		})
	}
}

// replay compares what is said of a tree with what was said when it was judged.
// What had found a defect is among it, so a defect that is lost is noticed too.
func replay(t *testing.T, p project, planted []defect) {
	name := p.name
	if planted != nil {
		name += "+planted"
	}
	said := hold(t, p, name, planted)
	judged := map[finding]verdict{}
	for _, v := range verdicts(t) {
		if v.Tree == name {
			judged[v.finding] = v
		}
	}
	counts := map[string]int{}
	for _, f := range said {
		if counts[f.Advisor]++; counts[f.Advisor] > most {
			t.Errorf("%s gives more than %d findings", f.Advisor, most)
		}
		if _, ok := judged[f]; !ok {
			t.Errorf("not judged yet: %s, %s:\n%s", name, f.Advisor, f.Text)
		}
		delete(judged, f)
	}
	for f := range judged {
		t.Errorf("judged, and not said any more: %s, %s:\n%s", name, f.Advisor, f.Text)
	}
}

// hold lays a tree, holds the council there, and returns what was found.
func hold(t *testing.T, p project, name string, planted []defect) []finding {
	t.Helper()
	dir := os.Getenv("CONCLAVE_CORPUS_KEEP")
	if dir == "" {
		dir = t.TempDir()
	}
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		p.lay(t, dir, planted)
	}
	cmd := exec.CommandContext(t.Context(), program(t), "council", "--json")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	var said, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("council on %s: %v\n%s", name, err, complaints.Bytes())
	}
	var res flow.Result
	if err := json.Unmarshal(said.Bytes(), &res); err != nil || res.Council == nil {
		t.Fatalf("council on %s: %v\n%s", name, err, said.Bytes())
	}
	for _, u := range res.Unverified {
		t.Errorf("%s: a citation does not check out: %s", name, u)
	}
	var list []finding
	for _, p := range res.Council.Perspectives {
		for _, f := range p.Findings {
			list = append(list, finding{Tree: name, Advisor: string(p.Who), Text: strings.Join(strings.Fields(f.Text), " ")})
		}
	}
	return list
}

// program is the program, built once.
func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) { return builder.Build(scratch) })

var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "conclave-corpus-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// A finding is one numbered observation of an advisor, with its step, in one
// line: what the reader judged.
type finding struct {
	Tree    string `json:"tree"`
	Advisor string `json:"advisor"`
	Text    string `json:"finding"`
}
