package tracer

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/internal/sqlite"
)

// The tracer sees what a program changes below the directory and nothing else,
// and the program does not come to its next change.
func TestTheTracer(t *testing.T) {
	want := []change{{"open", "in/a"}, {"write", "in/a"}, {"write", "in/a"}, {"open", "in/b"}}
	content := []string{"", "one\n", "one\ntwo\n", "one\ntwo\n"}
	for n := range len(want) + 1 {
		dir := t.TempDir()
		watched, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := os.Mkdir(watched, 0o700); err != nil {
			t.Fatal(err)
		}
		got, err := trace(command{program: "/bin/sh", dir: watched, output: out, deadline: time.Minute,
			args: []string{"-c", "echo no > ../beside; echo one > a; cat=$(:); echo two >> a; : > b; exit 7"}},
			watch{dir, []string{"in"}}, after(n))
		if err != nil {
			t.Fatal(err)
		}
		seen := len(want)
		if n > 0 {
			seen = n
		}
		if fmt.Sprint(got.changes) != fmt.Sprint(want[:seen]) || got.killed != (n > 0) || (got.code == 7) != (n == 0) {
			t.Errorf("killed after %d: %+v", n, got)
		}
		if text, err := os.ReadFile(filepath.Join(watched, "a")); err != nil || string(text) != content[seen-1] {
			t.Errorf("killed after %d: %q, %v", n, text, err)
		}
		if _, err := os.Stat(filepath.Join(watched, "b")); (err == nil) != (seen == len(want)) {
			t.Errorf("killed after %d: %v", n, err)
		}
	}
}

// What a database holds is told by its commits alone: neither what is being written
// nor what is moved from the log into the database makes another case of it.
func TestStatesOfADatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in", "x.db"), "")
	db := sqlite.Open(filepath.Join(dir, "in", "x.db"), sqlite.Options{Write: true,
		Pragmas: []string{"journal_mode(WAL)", "cache_size(2)", "wal_autocheckpoint(0)"}})
	db.SetMaxOpenConns(1)
	defer db.Close()
	do := func(line string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	shelf := &shelf{kept: map[[sha256.Size]byte]piece{}}
	p := photographer{watch{dir, []string{"in"}}, shelf, map[string]kept{}}
	r := reader{shelf, map[string]*log{}}
	size := int64(0)
	state := func(file string) state {
		t.Helper()
		s, err := p.take("")
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "in", file))
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() == size {
			t.Errorf("nothing was written to %s", file)
		}
		size = info.Size()
		return r.state(s)
	}
	do("create table x (y)")
	first := state("x.db-wal")
	do("begin")
	do("insert into x with recursive n(i) as (values(1) union all select i+1 from n where i<200) select zeroblob(3000) from n")
	if state("x.db-wal") != first {
		t.Error("what was not committed counts")
	}
	do("commit")
	second := state("x.db-wal")
	if second == first {
		t.Error("what was committed does not count")
	}
	size = 0
	do("pragma wal_checkpoint(full)")
	if state("x.db") != second {
		t.Error("what was moved into the database counts")
	}
	do("delete from x")
	if size = 0; state("x.db-wal") == second {
		t.Error("what was committed to the log that was begun again does not count")
	}
}
