package corpus

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A project is a tree that advisors are asked about: a pinned one from the
// cache, or one of testdata.
type project struct {
	name, hash string // without a hash, it is in testdata
}

// ours are the workspaces without code.
var ours = []project{{name: "family"}, {name: "manuscript"}}

// projects are the pinned ones and ours, in the order of the list.
func projects(t *testing.T) []project {
	t.Helper()
	data, err := os.ReadFile("testdata/projects.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []project
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		switch fields := strings.Fields(line); len(fields) {
		case 0:
		case 4:
			list = append(list, project{name: fields[0], hash: fields[3]})
		default:
			t.Fatalf("projects.txt: %q has not four parts: name, kind, source, hash", line)
		}
	}
	if len(list) != 12 {
		t.Fatalf("%d projects are pinned", len(list))
	}
	return append(list, ours...)
}

// source is where the project's files are. One that is not in the cache is
// fetched.
func (p project) source(t *testing.T) string {
	t.Helper()
	if p.hash == "" {
		return filepath.Join("testdata", p.name)
	}
	dir := filepath.Join(cache(t), p.name+"-"+p.hash[:12])
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	out, err := exec.CommandContext(t.Context(), "../../script/corpus.sh", p.name).CombinedOutput()
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		t.Fatalf("fetch %s: %v; `make corpus` fetches them all\n%s", p.name, err, out)
	}
	return dir
}

// cache is the directory of script/corpus.sh.
func cache(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("CONCLAVE_CORPUS"); dir != "" {
		return dir
	}
	dir := os.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatalf("find the corpus: %v; set CONCLAVE_CORPUS", err)
		}
		dir = filepath.Join(home, ".cache")
	}
	return filepath.Join(dir, "conclave", "corpus")
}

// lay copies the project to a directory that is not there yet, plants the
// defects in it, and gives it its history.
func (p project) lay(t *testing.T, to string, planted []defect) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	// cp keeps symbolic links as they are, and links out of a tree are kept too:
	// the program has to live with them.
	if out, err := exec.Command("cp", "-a", p.source(t), to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v\n%s", p.name, err, out)
	}
	h := history{project: p.name}
	for _, d := range planted {
		d.plant(t, to, &h)
	}
	h.write(t, to)
}
