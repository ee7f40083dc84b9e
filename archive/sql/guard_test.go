package sql

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
)

// notForQueries are the functions of this SQLite that queries do not have:
// they tell of the library or the connection, or belong to modules that no
// table uses.
const notForQueries = `bm25 changes fts5 fts5_get_locale fts5_insttoken fts5_locale fts5_source_id geopoly_area geopoly_bbox geopoly_blob
	geopoly_ccw geopoly_contains_point geopoly_debug geopoly_group_bbox geopoly_json geopoly_overlap geopoly_regular geopoly_svg
	geopoly_within geopoly_xform highlight last_insert_rowid load_extension match rtreecheck rtreedepth rtreenode snippet
	sqlite_compileoption_get sqlite_compileoption_used sqlite_log sqlite_offset sqlite_source_id subtype total_changes`

// TestEveryFunctionIsDecided: a function that a later SQLite brings is denied
// until somebody decides.
func TestEveryFunctionIsDecided(t *testing.T) {
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT DISTINCT name FROM pragma_function_list")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if allowedFunction(name) == slices.Contains(strings.Fields(notForQueries), name) {
			t.Errorf("%s is both or neither", name)
		}
	}
	if rows.Err() != nil || n < 100 {
		t.Errorf("%d functions, %v", n, rows.Err())
	}
}
