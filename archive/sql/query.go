package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"conclave/archive"
	"conclave/internal/sqlite"
)

// Limits bound a query. The zero value is 10,000 rows, 30 seconds and 128 MiB
// of answer.
type Limits struct {
	Rows  int
	Time  time.Duration
	Bytes int
}

// Rows is the answer to a query.
type Rows struct {
	Columns []string
	Rows    [][]any // nil, int64, float64, string
	// Truncated says that there were more rows than the limit.
	Truncated bool
}

// Query answers one SELECT over the tables of Describe. It can read nothing else
// and change nothing: the connection is read-only, and what a statement may do
// is decided before it runs.
func Query(ctx context.Context, a *archive.Archive, query string, lim Limits) (*Rows, error) {
	if lim.Rows <= 0 {
		lim.Rows = 10_000
	}
	if lim.Time <= 0 {
		lim.Time = 30 * time.Second
	}
	if lim.Bytes <= 0 {
		lim.Bytes = 128 << 20
	}
	parts, named, err := plainQuery(query)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lim.Time)
	defer cancel()
	conn, done, err := open(ctx, a, parts, named)
	if err != nil {
		return nil, err
	}
	defer done()
	names, err := columnNames(ctx, conn, query)
	if err != nil {
		return nil, queryError(ctx, err, lim)
	}
	rows, err := readRows(ctx, conn, spell(query), lim)
	if err != nil {
		return nil, queryError(ctx, err, lim)
	}
	if len(names) == len(rows.Columns) {
		rows.Columns = names
	}
	return rows, nil
}

// ErrLimit is returned for a query that took too long, or too much.
var ErrLimit = errors.New("the query asks for too much")

func queryError(ctx context.Context, err error, lim Limits) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: it was stopped after %v; narrow it down, or allow more (--timeout)", ErrLimit, lim.Time)
	}
	if sqlite.NoMemory(err) {
		return fmt.Errorf("%w: it needs more than %d MiB of memory; narrow it down", ErrLimit, maxHeap>>20)
	}
	if sqlite.TooBig(err) {
		return fmt.Errorf("%w: one of its values is longer than %d MiB; cut it with substr", ErrLimit, maxValue>>20)
	}
	for _, denied := range []string{"not authorized", "prohibited", "readonly"} {
		if strings.Contains(err.Error(), denied) {
			return fmt.Errorf("a query only reads, and only what --schema lists: %w", err)
		}
	}
	return err
}

// columnNames are those of the query as it was written.
func columnNames(ctx context.Context, conn *sql.Conn, query string) ([]string, error) {
	query = strings.TrimRight(strings.TrimSpace(query), "; \t\n")
	rows, err := conn.QueryContext(ctx, "SELECT * FROM (\n"+query+"\n) LIMIT 0")
	if err != nil {
		return nil, nil // the statement itself will say what is wrong
	}
	defer rows.Close()
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err())
}

func readRows(ctx context.Context, conn *sql.Conn, query string, lim Limits) (*Rows, error) {
	rows, err := conn.QueryContext(ctx, query)
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
	for size := 0; rows.Next(); {
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
			if text, ok := row[i].(string); ok {
				size += len(text)
			}
		}
		if size > lim.Bytes {
			return nil, fmt.Errorf("%w: the answer is larger than %d MiB; name fewer columns, or narrow it down",
				ErrLimit, lim.Bytes>>20)
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
