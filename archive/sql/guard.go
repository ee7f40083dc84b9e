package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/archive"
	"conclave/internal/sqlite"
)

// What a query may use of this process. One value can be no longer than
// maxValue, all of SQLite no larger than maxHeap: an expression of forty
// characters asked for 2.7 GB before there was a limit.
const (
	maxValue = 64 << 20
	maxHeap  = 256 << 20
)

// open takes the one connection of a query, which can do nothing but read what
// is described; parts are what the query itself makes, named all that it names. An archive of files,
// which nobody writes any more, is read from where the system has it in memory:
// most queries read every row, and copying them took as long as looking at them.
// What a query sorts goes to a file when it is large.
func open(ctx context.Context, a *archive.Archive, parts, named []string) (*sql.Conn, func() error, error) {
	pragmas := []string{readCache, "temp_store(FILE)", fmt.Sprintf("hard_heap_limit(%d)", maxHeap)}
	if a.OfFiles() {
		pragmas = append(pragmas, "mmap_size(1073741824)")
	}
	db := sqlite.Open(a.Path(), sqlite.Options{Pragmas: pragmas, Functions: functions(a),
		Guard: &sqlite.Guard{Call: allowedFunction, Read: func(table, column, view string) bool {
			if column == "" && !slices.Contains(named, table) && slices.Contains(behindViews, table) {
				return true // a view has it in its making, and the query asks for nothing of it
			}
			return isOurs(table) || table == "json_each" || table == "json_tree" || slices.Contains(parts, table) ||
				(isOurs(view) || view == standing) && slices.Contains(behindViews, table)
		}}})
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	if err := sqlite.LimitValues(conn, maxValue); err != nil {
		return nil, nil, errors.Join(err, conn.Close(), db.Close())
	}
	return conn, func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}

// readCache is how much SQLite keeps of the file for a query.
const readCache = "cache_size(-32768)"

// behindViews are the tables that the views read, and a query does not: some
// hold references into the raw store.
var behindViews = []string{"items", standing, "origins", "holdings", "usage_rows", "unwritten",
	"findings", "documents", "slices",
	"bundle_files"}

// standing is the view that the views of entries read: items without copies.
const standing = "standing"

// viewPart is what a view calls a part of itself.
const viewPart = "starts"

// isOurs reports whether a name is that of a described table or of a part of a
// view. SQLite tells the authoriser no more than the name, and so no part of a
// query may be called like that.
func isOurs(name string) bool {
	n := strings.ToLower(name)
	return n == viewPart || strings.HasPrefix(n, archive.SlicePrefix) ||
		slices.ContainsFunc(described, func(d description) bool { return d.name == n })
}

// allowedFunction knows the functions of a query and, because SQLite asks for
// them in the same way, those of the views; plainQuery keeps the latter from
// queries.
func allowedFunction(name string) bool {
	return slices.Contains(strings.Fields(queryFunctions), name) || strings.HasPrefix(name, ownPrefix)
}

// queryFunctions calculate from their arguments and reach nothing else.
const queryFunctions = `
	-> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh cost_usd
	count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor
	format glob group_concat hex if ifnull iif instr json json_array json_array_insert json_array_length
	json_error_position json_extract json_group_array json_group_object json_insert json_object json_patch json_pretty
	json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract
	jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set
	julianday lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max min mod nth_value ntile
	nullif octet_length percent_rank pi pow power printf quote radians random randomblob rank replace round row_number
	rtrim sign sin sinh soundex sqlite_version sqrt strftime string_agg substr substring sum tan tanh time timediff total
	trim trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper zeroblob`

// ownPrefix begins the names of the functions that the views are made of.
const ownPrefix = "conclave_"

// plainQuery refuses what no reader needs: more than one statement, the
// functions that the views are made of, with which a text could be cut so that
// a secret in it is not recognised, and a part of the query that is named like
// a table. It returns the names of the query's parts, and all of its names.
func plainQuery(query string) (parts, named []string, err error) {
	list := slices.DeleteFunc(tokens(query), func(t token) bool { return t.kind == tokSpace })
	for i, t := range list {
		name := strings.ToLower(t.name())
		if t.kind != tokOther {
			named = append(named, name)
		}
		switch {
		case t.text == ";" && i < len(list)-1:
			return nil, nil, errors.New("one statement at a time: there is something behind the semicolon")
		case t.kind == tokName && strings.HasPrefix(name, ownPrefix):
			return nil, nil, fmt.Errorf("%s is not for queries", t.text)
		case t.kind == tokOther || !namesPart(list[i+1:]):
		case isOurs(name) || isOther(name):
			return nil, nil, fmt.Errorf("%s is the name of a table: call that part of the query something else", t.text)
		default:
			parts = append(parts, name)
		}
	}
	return parts, named, nil
}

// isOther reports whether a name is that of a table that no query reads.
func isOther(name string) bool {
	return slices.Contains(behindViews, name) || slices.Contains(rawTables, name) ||
		strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "pragma_")
}

// rawTables hold what was recorded, secrets and all, and its index.
var rawTables = []string{"blocks", "made", "source_blocks", "words", "words_data", "words_idx", "words_docsize",
	"words_config", "words_content", "dbstat"}

// namesPart reports whether what follows a name makes it that of a common
// table expression: AS (…), perhaps behind the names of its columns.
func namesPart(list []token) bool {
	if len(list) > 0 && list[0].text == "(" {
		open := 0
		end := slices.IndexFunc(list, func(t token) bool {
			switch t.text {
			case "(":
				open++
			case ")":
				open--
			}
			return open == 0
		})
		list = list[end+1:]
	}
	if len(list) == 0 || !strings.EqualFold(list[0].text, "AS") {
		return false
	}
	for _, t := range list[1:] {
		if !strings.EqualFold(t.text, "NOT") && !strings.EqualFold(t.text, "MATERIALIZED") {
			return t.text == "("
		}
	}
	return false
}
