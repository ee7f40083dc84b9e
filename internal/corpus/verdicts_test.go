package corpus

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// A verdict is what a reader said of a finding who saw it and the tree and
// nothing else: a maintainer would act on it, or nod, or shrug; or some part of
// it is not true.
type verdict struct {
	finding
	Verdict string `json:"verdict"`
	Why     string `json:"why"`
	Defect  string `json:"defect,omitempty"` // which planted one it has found
}

func verdicts(t *testing.T) []verdict {
	t.Helper()
	data, err := os.ReadFile("testdata/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []verdict
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatalf("verdicts.json: %v", err)
	}
	return list
}

// foundBy are the defects that some judged finding has found.
func foundBy(t *testing.T) (ids []string) {
	t.Helper()
	for _, v := range verdicts(t) {
		if v.Defect != "" && !slices.Contains(ids, v.Defect) {
			ids = append(ids, v.Defect)
		}
	}
	return ids
}

// TestVerdicts counts: of what the embedded advisors say of these projects, at
// most one in a hundred is false, a maintainer would act on or nod at six in
// ten, and they find seven of ten planted defects.
func TestVerdicts(t *testing.T) {
	byID := map[string]defect{}
	for _, d := range defects(t) {
		byID[d.ID] = d
	}
	list := verdicts(t)
	counts := map[string]int{}
	for _, v := range list {
		if !slices.Contains([]string{"act", "nod", "shrug", "false"}, v.Verdict) || v.Why == "" {
			t.Errorf("%s, %s: verdict %q, because %q: %s", v.Tree, v.Advisor, v.Verdict, v.Why, v.Text)
		}
		counts[v.Verdict]++
		if v.Defect == "" {
			continue
		}
		if d, ok := byID[v.Defect]; !ok || !d.finds(t, v.Text) || v.Verdict == "false" {
			t.Errorf("%s, %s has not found %s: %s", v.Tree, v.Advisor, v.Defect, v.Text)
		}
	}
	found := len(foundBy(t))
	t.Logf("%d findings: %d act, %d nod, %d shrug, %d false; %d of %d defects found",
		len(list), counts["act"], counts["nod"], counts["shrug"], counts["false"], found, len(byID))
	if len(list) < 50 {
		t.Errorf("only %d findings were judged: advisors who say nothing are never wrong", len(list))
	}
	if 100*counts["false"] > len(list) {
		t.Errorf("%d of %d findings are false", counts["false"], len(list))
	}
	if 100*(counts["act"]+counts["nod"]) < 60*len(list) {
		t.Errorf("a maintainer would act on or nod at %d of %d", counts["act"]+counts["nod"], len(list))
	}
	if 100*found < 70*len(byID) {
		t.Errorf("%d of %d defects are found", found, len(byID))
	}
}
