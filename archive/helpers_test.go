package archive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"conclave/archive"
	"conclave/archive/archivetest"
	"conclave/archive/search"
	"conclave/transcript"
)

var (
	ctx            = context.Background()
	openAt         = archivetest.OpenAt
	newTestArchive = archivetest.Open
	refresh        = archivetest.Refresh
	table          = archivetest.Table
	same           = archivetest.Same
	openFiles      = archivetest.OpenFiles
	makeZip        = archivetest.Zip
	smallTree      = archivetest.Tree
	newRecord      = archivetest.NewRecord
	emit           = archivetest.Emit
	writeFile      = archivetest.WriteFile
	session        = archivetest.Session
	glob           = archivetest.Glob
	itoa           = strconv.Itoa
)

var searches = []search.Query{
	{Words: "dragon"}, {Words: "the party", Context: 1}, {Words: `"not know"`}, {Words: "sess* -dragon"},
	{Words: "grep", In: []transcript.Type{transcript.ToolUse}}, {Words: "cafe"}, {Words: "日本"}, {Words: "water", Role: "Explore"},
}

// answers is everything that an archive says: the whole transcript, the usage,
// and what some searches find. Archives of the same files say the same.
func answers(t *testing.T, a *archive.Archive) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(table(t, a, `SELECT t.bundle, s.path, s.generation, t.transcript_source, t.sequence_number, t.entry_type, t.subtype, t.tool_name, t.tool_use_id, t.is_error,
		t.timestamp, t.project, t.seat, t.session_id, t.content, t.raw_json, t.characters FROM transcript t JOIN sources s ON s.id = t.source_id ORDER BY s.path, s.generation, t.rowid`))
	b.WriteString(table(t, a, "SELECT * FROM usage ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"))
	for _, q := range searches {
		res, err := search.Find(ctx, a, q)
		if err != nil {
			t.Fatalf("search %+v: %v", q, err)
		}
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s\n", q.Words, text)
	}
	return b.String()
}
