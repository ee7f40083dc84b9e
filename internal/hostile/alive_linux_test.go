package hostile

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"conclave/internal/sample"
	"conclave/internal/screen"
)

// TestAlive: every hostile workspace does harm to a careless program, and its
// twin does none. There are as many as were promised, each with a name of its
// own.
func TestAlive(t *testing.T) {
	k := newStock(t, []int{os.Getuid()})
	s := k.at("alive", os.Getuid())
	all, seen := All(), map[string]bool{}
	for _, w := range all {
		if seen[w.Name] || len(w.Touches) == 0 || w.Careless == "" {
			t.Errorf("%q is there twice, or says too little", w.Name)
		}
		seen[w.Name] = true
	}
	for _, i := range sample.Pick(t, len(all), 5, len(all)/6) {
		w := all[i]
		if w.Root && os.Getuid() != 0 {
			continue
		}
		must(t, s.make(w, true))
		if out, harm := s.careless(w); harm {
			t.Errorf("the twin of %q does harm: %s", w.Name, out)
		}
		must(t, s.make(w, false))
		if out, harm := s.careless(w); !harm {
			t.Errorf("%q does no harm to a careless program, and proves nothing: %s", w.Name, out)
		}
	}
	if len(seen) < 40 {
		t.Errorf("there are only %d hostile workspaces", len(seen))
	}
	t.Logf("%d hostile workspaces", len(seen))
}

// careless does what a careless program would, and says whether that did harm.
func (s *stage) careless(w Workspace) (string, bool) {
	script := strings.ReplaceAll(s.place().fill(w.Careless), "$STRANGER", "54322")
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = filepath.Join(s.ws, w.Dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "LANG=C.UTF-8", "GIT_TERMINAL_PROMPT=0"}
	out, _ := cmd.CombinedOutput()
	marks, _ := os.ReadDir(s.marks)
	text := string(tail(out))
	return text, len(marks) > 0 || strings.Contains(string(out), canaryWord) || strings.Contains(string(out),
		"ALIVE") || len(screen.Foreign(out)) > 0
}

// hostileDatabase has a schema that acts when it is read or written.
func hostileDatabase(path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range []string{
		`CREATE TABLE bomb (x)`, `INSERT INTO bomb VALUES (zeroblob(1000))`,
		`CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x AS id, hex(zeroblob(x)) AS name FROM n`,
		`CREATE VIEW workflow_status AS SELECT * FROM endless`, `CREATE VIEW sources AS SELECT * FROM endless`,
		`CREATE VIEW entries AS SELECT * FROM endless`, `CREATE VIEW meta AS SELECT * FROM endless`,
		`CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT, name TEXT)`,
		`CREATE TRIGGER t INSTEAD OF INSERT ON workflow_status BEGIN INSERT INTO bomb SELECT hex(zeroblob(100000000)); END`,
		`PRAGMA user_version = 999999`,
	} {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}
