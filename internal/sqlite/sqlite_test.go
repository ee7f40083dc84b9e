package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"testing"
)

// file makes a database whose name holds what a URI must escape.
func file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "50% of #1.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, path, Options{Write: true})
	if _, err := db.Exec("CREATE TABLE said (text); INSERT INTO said VALUES ('hello'); CREATE TABLE kept (text)"); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string, o Options) *sql.DB {
	t.Helper()
	db := Open(path, o)
	t.Cleanup(func() { db.Close() })
	return db
}

// TestReads: without Write a file is read and nothing else, and a function is of
// its own handle alone.
func TestReads(t *testing.T) {
	path := file(t)
	shout := Function{Name: "shout", Args: 1, Pure: true, Call: func(args []driver.Value) (driver.Value, error) {
		return args[0].(string) + "!", nil
	}}
	db := open(t, path, Options{Functions: []Function{shout}})
	var text string
	if err := db.QueryRow("SELECT shout(text) FROM said").Scan(&text); err != nil || text != "hello!" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := db.Exec("DELETE FROM said"); err == nil {
		t.Error("it was written to")
	}
	if err := open(t, path, Options{}).QueryRow("SELECT shout('x')").Scan(&text); err == nil {
		t.Error("another handle has the function, too")
	}
	if err := open(t, path+".none", Options{}).Ping(); err == nil {
		t.Error("a file was opened that is not there")
	}
}

// TestGuard: what is not listed is denied, reading or not, even where the file may
// be written to.
func TestGuard(t *testing.T) {
	guard := &Guard{
		Read: func(table, _, _ string) bool { return table == "said" },
		Call: func(function string) bool { return function == "upper" },
	}
	db := open(t, file(t), Options{Write: true, Guard: guard})
	var text string
	if err := db.QueryRow("SELECT UPPER(text) FROM said").Scan(&text); err != nil || text != "HELLO" {
		t.Errorf("%q, %v", text, err)
	}
	for _, query := range []string{"SELECT lower(text) FROM said", "SELECT text FROM kept", "SELECT name FROM sqlite_schema",
		"INSERT INTO said VALUES ('x')", "CREATE TABLE x (a)", "PRAGMA user_version", "ATTACH ':memory:' AS m"} {
		if rows, err := db.Query(query); err == nil {
			for rows.Next() {
			}
			if rows.Err() == nil {
				t.Errorf("%s was done", query)
			}
			rows.Close()
		}
	}
}

// TestLimits: each limit has an error of its own.
func TestLimits(t *testing.T) {
	db := open(t, file(t), Options{Pragmas: []string{"hard_heap_limit(33554432)"}})
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var n int
	ask := func(query string) error { return conn.QueryRowContext(context.Background(), query).Scan(&n) }
	if err := ask("SELECT length(CAST(zeroblob(100000000) AS TEXT))"); !NoMemory(err) || TooBig(err) {
		t.Errorf("beyond the heap: %v", err)
	}
	if err := LimitValues(conn, 1000); err != nil {
		t.Fatal(err)
	}
	if err := ask("SELECT length(zeroblob(2000))"); !TooBig(err) || NoMemory(err) {
		t.Errorf("a long value: %v", err)
	}
	if err := ask("SELECT length(zeroblob(900))"); err != nil || n != 900 {
		t.Errorf("a short one: %d, %v", n, err)
	}
}
