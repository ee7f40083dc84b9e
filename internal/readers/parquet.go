// Package readers reads what we write for other programs with readers that are
// not ours, at the versions that script/clients.sh installs: Parquet with
// hyparquet, a library for Node. It is for tests, and fails one when Node or the
// library is missing.
package readers

import (
	_ "embed"
	"encoding/json"
	"os/exec"
	"testing"

	"conclave/internal/clients"
)

//go:embed parquet.mjs
var parquetScript string

// Table is a file as the reader understands it. Whole numbers and instants are
// texts, the latter in microseconds.
type Table struct {
	Columns map[string]string // what the file says they are
	Groups  int
	Rows    []map[string]any
}

// Parquet reads a file.
func Parquet(t *testing.T, path string) Table {
	t.Helper()
	library, err := clients.ParquetReader()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", parquetScript, "--", library, path)
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			t.Fatalf("another reader does not take %s: %s", path, exit.Stderr)
		}
		t.Fatalf("start node: %v", err)
	}
	var f Table
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatalf("%v in %.200s", err, out)
	}
	return f
}
