package archive

import (
	"path/filepath"
	"testing"
)

const (
	fixtures = "../testdata/fixtures"
	bundles  = fixtures + "/bundles/"
)

// glob lists the fixtures that a pattern matches: at least one.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s matches %d files, %v", pattern, len(found), err)
	}
	return found
}
