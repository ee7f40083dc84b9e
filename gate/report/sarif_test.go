package report

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"pgregory.net/rapid"

	"conclave/gate"
)

// officialSchema is that of OASIS, which the module of another reader carries in
// its source and does not hand out. It is written for draft 4; of what it uses,
// draft 7 has all but the name of its own address.
var officialSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(strings.TrimSpace(string(dir)), "pkg", "report", "v210", "sarif", "schema.go")
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, err
	}
	text := ""
	ast.Inspect(tree, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && text == "" {
			text, err = strconv.Unquote(lit.Value)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	text = strings.NewReplacer("draft-04", "draft-07", `"id": "https:`, `"$id": "https:`).Replace(text)
	schema := &jsonschema.Schema{}
	if err := json.Unmarshal([]byte(text), schema); err != nil {
		return nil, err
	}
	return schema.Resolve(nil)
})

// fault is what the official schema has against a log.
func fault(t rapid.TB, log []byte) error {
	t.Helper()
	schema, err := officialSchema()
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(log, &value); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

func TestSARIF(t *testing.T) {
	log, err := SARIF(someGate())
	if err != nil {
		t.Fatal(err)
	}
	if err := fault(t, log); err != nil {
		t.Fatalf("the official schema: %v", err)
	}
	// The test can fail: a word that the schema does not have.
	for was, is := range map[string]string{`"kind": "fail"`: `"kind": "bad"`, `"ruleIndex": `: `"ruleIndex": -5`, `"driver"`: `"rider"`} {
		if fault(t, []byte(strings.Replace(string(log), was, is, 1))) == nil {
			t.Errorf("the schema takes %s", is)
		}
	}
	read, err := sarif.FromBytes(log)
	if err != nil {
		t.Fatal(err)
	}
	run := read.Runs[0]
	if *run.Tool.Driver.Version != "1.2.3" || len(run.Tool.Driver.Rules) != 3 || len(run.Results) != 2 {
		t.Fatalf("%s", log)
	}
	fail, open := run.Results[0], run.Results[1]
	if fail.Kind != "fail" || fail.Level != "error" || open.Kind != "open" || open.Level != "none" || len(open.Locations) != 0 {
		t.Errorf("%s", log)
	}
	at := fail.Locations[0].PhysicalLocation
	if len(fail.Locations) != 1 || *at.ArtifactLocation.URI != "src/a%20b.go" || *at.Region.StartLine != 7 {
		t.Errorf("the place is %+v", fail.Locations)
	}
	if len(fail.RelatedLocations) != 1 || *fail.RelatedLocations[0].PhysicalLocation.ArtifactLocation.URI != "src/c.go" {
		t.Errorf("what was not checked, is in no file of the work or speaks for it is a place: %+v", fail.RelatedLocations)
	}
	if !strings.Contains(*fail.Message.Text, "src/c.go:900 is not in the work") {
		t.Errorf("a citation that was not found is not marked: %s", *fail.Message.Text)
	}
}

// A result is the same one as long as the criterion is: evidence and lines change
// with every judge.
func TestFingerprintsAreStable(t *testing.T) {
	prints := func(g Gate) []string {
		log, err := SARIF(g)
		if err != nil {
			t.Fatal(err)
		}
		var read sarifLog
		if err := json.Unmarshal(log, &read); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range read.Runs[0].Results {
			out = append(out, r.Fingerprints[fingerprint])
		}
		return out
	}
	before, g := prints(someGate()), someGate()
	g.Judges[0].Findings[0].Evidence, g.Judges[0].Findings[0].Citations[1].Line = "otherwise", 8
	if after := prints(g); !slices.Equal(before, after) {
		t.Errorf("%q became %q", before, after)
	}
	g.Case.Criteria.List[1].Text = "Errors reach nobody"
	if after := prints(g); before[0] == after[0] || before[1] != after[1] {
		t.Errorf("%q became %q", before, after)
	}
}

func TestHostileWordsInSARIF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := hostileGate().Draw(t, "gate")
		log, err := SARIF(g)
		if err != nil {
			t.Fatal(err)
		}
		if err := fault(t, log); err != nil {
			t.Fatalf("the official schema: %v", err)
		}
		var read sarifLog
		if err := json.Unmarshal(log, &read); err != nil {
			t.Fatal(err)
		}
		run, unmet := read.Runs[0], 0
		for _, c := range g.Decision.Criteria {
			if c.Status != gate.Met {
				unmet++
			}
		}
		if len(run.Results) != unmet || len(run.Tool.Driver.Rules) != len(g.Decision.Criteria) {
			t.Fatalf("%d results, %d not met", len(run.Results), unmet)
		}
		seen := map[string]bool{}
		for _, r := range run.Results {
			if seen[r.RuleID] || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
				t.Fatalf("rule %s", r.RuleID)
			}
			seen[r.RuleID] = true
			text := strings.ReplaceAll(r.Message.Text, `\\`, "")
			text = strings.NewReplacer(`\[`, "", `\]`, "").Replace(text)
			if strings.ContainsAny(text, "[]\x1b\x00\u202e") {
				t.Fatalf("a link, or a control character: %q", r.Message.Text)
			}
			for _, l := range append(r.Locations, r.Related...) {
				if strings.ContainsAny(l.Physical.Artifact.URI, ": \n?#\\") || l.Physical.Region.Start < 1 {
					t.Fatalf("place %+v", l)
				}
			}
		}
	})
}
