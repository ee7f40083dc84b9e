package archive

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// Limits bound a query. The zero value is 10,000 rows and 30 seconds.
type Limits struct {
	Rows int
	Time time.Duration
}

// Rows is the answer to a query.
type Rows struct {
	Columns []string
	Rows    [][]any // nil, int64, float64, string
	// Truncated says that there were more rows than the limit.
	Truncated bool
}

// SQL answers one SELECT over the tables of Schema. It can read nothing else
// and change nothing: the connection is read-only, and what a statement may do
// is decided before it runs.
func (a *Archive) SQL(ctx context.Context, query string, lim Limits) (*Rows, error) {
	if lim.Rows <= 0 {
		lim.Rows = 10_000
	}
	if lim.Time <= 0 {
		lim.Time = 30 * time.Second
	}
	if err := plainQuery(query); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lim.Time)
	defer cancel()
	db := sql.OpenDB(a.guarded())
	defer db.Close()
	db.SetMaxOpenConns(1)
	names, err := columnNames(ctx, db, query)
	if err != nil {
		return nil, queryError(ctx, err, lim)
	}
	rows, err := readRows(ctx, db, spell(query), lim)
	if err != nil {
		return nil, queryError(ctx, err, lim)
	}
	if len(names) == len(rows.Columns) {
		rows.Columns = names
	}
	return rows, nil
}

// ErrLimit is returned for a query that took too long.
var ErrLimit = errors.New("the query took too long")

func queryError(ctx context.Context, err error, lim Limits) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: it was stopped after %v; narrow it down, or allow more (--timeout)", ErrLimit, lim.Time)
	}
	if strings.Contains(err.Error(), "not authorized") || strings.Contains(err.Error(), "prohibited") || strings.Contains(err.Error(), "readonly") {
		return fmt.Errorf("a query only reads, and only what --schema lists: %w", err)
	}
	return err
}

// plainQuery refuses what no reader needs: more than one statement, and the
// functions that the views are made of, with which a text could be cut so that
// a secret in it is not recognised.
func plainQuery(query string) error {
	end := false
	for _, t := range tokens(query) {
		switch {
		case t.kind == tokSpace:
		case end:
			return errors.New("one statement at a time: there is something behind the semicolon")
		case t.text == ";":
			end = true
		case t.kind == tokName && strings.HasPrefix(strings.ToLower(t.name()), "conclave_"):
			return fmt.Errorf("%s is not for queries", t.text)
		}
	}
	return nil
}

// columnNames are those of the query as it was written.
func columnNames(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	query = strings.TrimRight(strings.TrimSpace(query), "; \t\n")
	rows, err := db.QueryContext(ctx, "SELECT * FROM (\n"+query+"\n) LIMIT 0")
	if err != nil {
		return nil, nil // the statement itself will say what is wrong
	}
	defer rows.Close()
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err())
}

func readRows(ctx context.Context, db *sql.DB, query string, lim Limits) (*Rows, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := &Rows{Rows: [][]any{}}
	if out.Columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	if len(out.Columns) == 0 {
		return nil, errors.New("the statement returns no rows: a query is a SELECT")
	}
	for rows.Next() {
		if len(out.Rows) == lim.Rows {
			out.Truncated = true
			break
		}
		row := make([]any, len(out.Columns))
		to := make([]any, len(row))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i, v := range row {
			row[i] = plainValue(v)
		}
		out.Rows = append(out.Rows, row)
	}
	if out.Truncated {
		return out, nil
	}
	return out, rows.Err()
}

func plainValue(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return v
}

// guarded opens connections that can do nothing but read what is described.
type guarded struct{ *connector }

// guarded reads a cache, which nobody writes any more, from where the system
// has it in memory: most queries read every row, and copying them took as long
// as looking at them.
func (a *Archive) guarded() *guarded {
	if a.isCache {
		return &guarded{a.connector(a.path, "ro", "mmap_size(1073741824)")}
	}
	return &guarded{a.connector(a.path, "ro")}
}

func (g *guarded) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := g.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	r, ok := c.(sqlite.AuthorizerRegisterer)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver has no authoriser"), c.Close())
	}
	if err := r.RegisterAuthorizer(allow); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// hidden are the tables that a query cannot read: the raw store holds secrets,
// and the index is of no use by itself.
func hidden(table string) bool {
	t := strings.ToLower(table)
	return t == "blocks" || t == "source_blocks" || strings.HasPrefix(t, "words") ||
		strings.HasPrefix(t, "pragma_") || t == "sqlite_dbpage" || t == "dbstat"
}

func allow(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthRead:
		if !hidden(arg1) {
			return sqlite.AuthorizerOK
		}
	case sqlite.AuthFunction:
		switch strings.ToLower(arg2) {
		case "load_extension", "readfile", "writefile", "edit", "fts5":
		default:
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}
