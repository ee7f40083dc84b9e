package engine_test

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// These look into the database of a closed engine, past the engine.

func query(t *testing.T, dir, q string, args []any, dest ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, ".conclave", "engine", "test.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(q, args...).Scan(dest...); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, dir, table string) (n int) {
	t.Helper()
	query(t, dir, "SELECT count(*) FROM "+table, nil, &n)
	return n
}

func provenance(t *testing.T, dir, id string) (executor, version string) {
	t.Helper()
	query(t, dir, "SELECT executor_id, application_version FROM workflow_status WHERE workflow_uuid = ?", []any{id}, &executor, &version)
	return executor, version
}
