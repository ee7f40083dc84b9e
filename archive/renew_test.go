package archive_test

import (
	"path/filepath"
	"testing"

	"conclave/archive/archivetest"
)

// TestRenew: an archive whose tables or views an earlier program made otherwise
// makes them anew when it is opened, from the bytes that it keeps.
func TestRenew(t *testing.T) {
	t.Parallel()
	tree := smallTree(t, 21, 200_000)
	path := filepath.Join(t.TempDir(), "archive.db")
	a := archivetest.OpenAt(t, path)
	refresh(t, a, tree.Dir)
	want := answers(t, a)
	for name, script := range map[string]string{
		"views":        "DROP VIEW turns; UPDATE made SET sum = 'other' WHERE what = 'views'",
		"tables":       "DELETE FROM items; DROP TABLE holdings; UPDATE made SET sum = 'other' WHERE what = 'tables'",
		"never stated": "DROP TABLE made; DROP VIEW usage; DROP INDEX holdings_source; DROP TABLE holdings",
		"killed":       "DELETE FROM made WHERE what = 'tables'; DELETE FROM usage_rows",
	} {
		if _, err := a.Writer().Exec(script); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a.Close()
		a = archivetest.OpenAt(t, path)
		same(t, name, answers(t, a), want)
		rep := refresh(t, a, tree.Dir)
		if rep.Changed != 0 {
			t.Errorf("%s: %d files were read again", name, rep.Changed)
		}
	}
}
