package corpus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A defect is something wrong that was put into a copy of a project.
type defect struct {
	ID      string `json:"id"`
	Project string `json:"project"`
	Field   string `json:"field"` // whose affair it is, by the advisors' fields
	Wrong   string `json:"wrong"` // what is wrong, for a person
	Edits   []edit `json:"edits,omitempty"`
	// Owners and Churn are wrong in the history: who alone made all changes in
	// a directory, and how often a file was changed.
	Owners map[string]string `json:"owners,omitempty"`
	Churn  map[string]int    `json:"churn,omitempty"`
	// Found are regular expressions: a finding that matches all of them, letter
	// case aside, has found the defect.
	Found []string `json:"found"`
}

// An edit changes one file. With Old, its first occurrence becomes New;
// with Copy, the file is a copy of that one; with Remove, it is gone; otherwise
// New is added at the end of the file, which may be a new one.
type edit struct {
	Path   string `json:"path"`
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
	Copy   string `json:"copy,omitempty"`
	Remove bool   `json:"remove,omitempty"`
}

func defects(t *testing.T) []defect {
	t.Helper()
	data, err := os.ReadFile("testdata/defects.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []defect
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatalf("defects.json: %v", err)
	}
	return list
}

// of are the defects of a project.
func of(list []defect, p project) (its []defect) {
	for _, d := range list {
		if d.Project == p.name {
			its = append(its, d)
		}
	}
	return its
}

func (d *defect) plant(t *testing.T, dir string, h *history) {
	t.Helper()
	for _, e := range d.Edits {
		if err := e.apply(dir); err != nil {
			t.Fatalf("%s: %v", d.ID, err)
		}
	}
	for at, who := range d.Owners {
		h.own(at, who)
	}
	for path, times := range d.Churn {
		h.change(path, times)
	}
}

func (e edit) apply(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(e.Path))
	switch {
	case e.Remove:
		return os.Remove(path)
	case e.Copy != "":
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.Copy)))
		if err != nil {
			return err
		}
		return write(path, data)
	}
	data, err := os.ReadFile(path)
	if err != nil && (e.Old != "" || !os.IsNotExist(err)) {
		return err
	}
	text := string(data)
	if e.Old == "" {
		return write(path, []byte(text+e.New))
	}
	if !strings.Contains(text, e.Old) {
		return &os.PathError{Op: "edit", Path: e.Path, Err: os.ErrNotExist}
	}
	return write(path, []byte(strings.Replace(text, e.Old, e.New, 1)))
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// finds says whether a finding has found the defect.
func (d *defect) finds(t *testing.T, finding string) bool {
	t.Helper()
	for _, expr := range d.Found {
		re, err := regexp.Compile("(?is)" + expr)
		if err != nil {
			t.Fatalf("%s: %v", d.ID, err)
		}
		if !re.MatchString(finding) {
			return false
		}
	}
	return len(d.Found) > 0
}

// TestDefects holds the list together: forty, each somebody's affair and in a
// project that there is.
func TestDefects(t *testing.T) {
	fields := map[string]int{"direction": 0, "risk": 0, "process": 0, "opportunities": 0, "resources": 0, "cohesion": 0}
	known := map[string]bool{}
	for _, p := range projects(t) {
		known[p.name] = true
	}
	ids := map[string]bool{}
	list := defects(t)
	for _, d := range list {
		if _, ok := fields[d.Field]; !ok || !known[d.Project] || ids[d.ID] || d.Wrong == "" || len(d.Found) == 0 {
			t.Errorf("%s: field %q, project %q, %d marks; or the name is taken", d.ID, d.Field, d.Project, len(d.Found))
		}
		ids[d.ID] = true
		fields[d.Field]++
		d.finds(t, "") // its expressions compile
	}
	if len(list) < 40 {
		t.Errorf("%d defects: 40 are wanted", len(list))
	}
	for field, n := range fields {
		if n == 0 {
			t.Errorf("none is about %s", field)
		}
	}
}
