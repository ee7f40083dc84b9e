package unfold

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"conclave/internal/sqlite"
	"conclave/session/kind"
)

// shop is a program whose store is a list of rows.
type shop struct {
	rows []kind.Row
	err  error
}

func (s *shop) kind() *kind.Kind {
	return &kind.Kind{Name: "shop", Store: func(path string) bool { return filepath.Base(path) == "shop.db" },
		Rows: func(_ context.Context, _ string, yield func(kind.Row) error) error {
			for _, r := range s.rows {
				if err := yield(r); err != nil {
					return err
				}
			}
			return s.err
		}}
}

func row(session, key, members string) kind.Row {
	return kind.Row{Session: session, Table: "t", Key: key, Members: []byte(members)}
}

// Lines are appended and nothing else: a row that is new or has changed, and that
// one is gone. What has not changed is not written again; a store that is half
// written, or cannot be read, changes nothing.
func TestUpdate(t *testing.T) {
	t.Parallel()
	dir, spool := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "shop.db")
	s := new(shop)
	stores := func() Store {
		t.Helper()
		found, err := Find(dir, []*kind.Kind{s.kind()})
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		return found[0]
	}
	clock := time.Now()
	update := func(want error) {
		t.Helper()
		clock = clock.Add(time.Second)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, clock, clock); err != nil {
			t.Fatal(err)
		}
		if err := stores().Update(t.Context(), spool); (err == nil) != (want == nil) {
			t.Fatal(err)
		}
	}
	check := func(session string, want ...string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(stores().Dir(spool), session+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(text); got != strings.Join(want, "\n")+"\n" {
			t.Errorf("%s:\n%s\nwant\n%s", session, got, strings.Join(want, "\n"))
		}
	}
	line := func(key, row string) string {
		return `{"from":"shop","table":"t","key":"` + key + `","session":"a","row":` + row + `}`
	}
	s.rows = []kind.Row{row("a", "1", `{"n":1}`), row("b", "1", `{"n":9}`), row("a", "2", `{"n":2}`)}
	update(nil)
	first := []string{line("1", `{"n":1}`), line("2", `{"n":2}`)}
	check("a", first...)
	update(nil)
	check("a", first...)

	s.rows = []kind.Row{row("a", "2", `{"n":3}`)}
	s.err = ErrNotYet
	update(nil)
	check("a", first...)
	s.err = os.ErrPermission
	update(s.err)
	check("a", first...)

	s.err = nil
	update(nil)
	all := append(first, line("2", `{"n":3}`), line("1", "null"))
	check("a", all...)
	check("b", `{"from":"shop","table":"t","key":"1","session":"b","row":{"n":9}}`,
		`{"from":"shop","table":"t","key":"1","session":"b","row":null}`)
	update(nil)
	check("a", all...)

	// Whoever died while writing left half a line.
	f, err := os.OpenFile(filepath.Join(stores().Dir(spool), "a.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"from":"sh`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.rows = append(s.rows, row("a", "1", `{"n":1}`), row("../../x", "1", `{}`))
	update(nil)
	all = append(all, `{"from":"sh`, line("1", `{"n":1}`))
	check("a", all...)
	names, err := filepath.Glob(filepath.Join(spool, "*", "session-*.jsonl"))
	if err != nil || len(names) != 1 {
		t.Errorf("the session of an impossible name is in %q, %v", names, err)
	}
}

// A database is read with what stands in its journal only, while its program has
// it open, and nothing is made beside it.
func TestDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "p.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := sqlite.Open(path, sqlite.Options{Write: true, Pragmas: []string{"journal_mode(WAL)", "wal_autocheckpoint(0)"}})
	db.SetMaxOpenConns(1)
	defer db.Close()
	for _, q := range []string{"CREATE TABLE part(id TEXT, n INTEGER, f REAL, data TEXT, raw BLOB)",
		`INSERT INTO part VALUES ('a', 1, 0.5, '{"text":"hi"}', x'0102'), ('b', NULL, 9e999, 'plain "text"', NULL)`,
		"CREATE VIEW sly AS SELECT * FROM part"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = Database(t.Context(), path, func(db *sql.DB) error {
		tables, err := Columns(t.Context(), db)
		if err != nil || len(tables) != 1 || len(tables["part"]) != 5 {
			t.Errorf("tables %v, %v", tables, err)
		}
		return Table(t.Context(), db, "part", "ORDER BY id", nil, func(members []byte, value func(string) string) error {
			got = append(got, value("id")+value("n")+" "+string(members))
			return nil
		})
	})
	want := []string{`a1 {"id":"a","n":1,"f":0.5,"data":{"text":"hi"},"raw":{"base64":"AQI="}}`,
		`b {"id":"b","n":null,"f":"+Inf","data":"plain \"text\"","raw":null}`}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s", err, strings.Join(got, "\n"))
	}
	after, err := os.ReadDir(dir)
	if err != nil || len(after) != len(before) {
		t.Errorf("%v beside the database, before %v, %v", after, before, err)
	}
}

func TestMessages(t *testing.T) {
	for document, want := range map[string]string{
		`{"a":1,"messages":[{"id":"x"},{"b":2}],"c":3}`: `head s {"a":1,"c":3}, message x {"id":"x"}, message 2 {"b":2}`,
		`{"a":1}`:                  `head s {"a":1}`,
		`{"messages":"none"}`:      `head s {}`,
		`{"messages":[{"id":"x"},`: "not yet",
		`[]`:                       "not yet",
		``:                         "not yet",
	} {
		var got []string
		err := Messages([]byte(document), "s", "head", func(r kind.Row) error {
			got = append(got, r.Table+" "+r.Key+" "+string(r.Members))
			return nil
		})
		if errors.Is(err, ErrNotYet) {
			got, err = append(got, "not yet"), nil
		}
		if list := strings.Join(got, ", "); err != nil || list != want {
			t.Errorf("%s: %s, %v, not %s", document, list, err, want)
		}
	}
	full := errors.New("the disk is full")
	n := 0
	err := Messages([]byte(`{"messages":[{},{},{}]}`), "s", "head", func(kind.Row) error {
		if n++; n == 3 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || n != 3 {
		t.Errorf("after an error it went on: %d, %v", n, err)
	}
}

// TestLargeStore: of a store much is written before all of it is read, so that
// memory does not grow with it; and who stops in the middle goes on there.
func TestLargeStore(t *testing.T) {
	const sessions, each = 40, 80
	stop := errors.New("the power is gone")
	most, fails := uint64(0), true
	row := bytes.Repeat([]byte("x"), 20<<10)
	k := &kind.Kind{Name: "shop", Rows: func(_ context.Context, _ string, yield func(kind.Row) error) error {
		for n := range each { // sessions alternate, as in a table by time
			if fails && n == each*3/4 {
				return stop
			}
			for s := range sessions {
				members := fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, n, row)
				err := yield(kind.Row{Session: fmt.Sprint("s", s), Table: "sale", Key: fmt.Sprint(n), Members: members})
				if err != nil {
					return err
				}
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		return nil
	}}
	path, spool := filepath.Join(t.TempDir(), "shop.db"), t.TempDir()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store := Store{path, k}
	if err := store.Update(t.Context(), spool); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	fails = false
	if err := store.Update(t.Context(), spool); err != nil {
		t.Fatal(err)
	}
	for s := range sessions {
		text, err := os.ReadFile(filepath.Join(store.Dir(spool), fmt.Sprint("s", s, ".jsonl")))
		if lines := bytes.Count(text, []byte("\n")); err != nil || lines != each {
			t.Fatalf("session %d has %d lines of %d: %v", s, lines, each, err)
		}
	}
	if most > 48<<20 { // the store has 64 MB
		t.Errorf("%d MB were held", most>>20)
	}
}
