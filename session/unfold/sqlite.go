package unfold

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"conclave/internal/jsontext"
	"conclave/internal/sqlite"
	"conclave/workspace"
)

// journal is what a journal of SQLite has behind the name of its database.
const journal = "-wal"

// Database calls read with a handle on a copy of the SQLite file at path.
func Database(ctx context.Context, path string, read func(*sql.DB) error) (err error) {
	dir, err := os.MkdirTemp("", "conclave-unfold-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	to := filepath.Join(dir, "store.db")
	if err := snapshot(ctx, path, to); err != nil {
		return err
	}
	guard := &sqlite.Guard{
		Read: func(_, _, view string) bool { return view == "" },
		Call: func(string) bool { return false },
	}
	db := sqlite.Open(to, sqlite.Options{Pragmas: []string{"trusted_schema(0)"}, Guard: guard})
	return errors.Join(read(db), db.Close())
}

// snapshot copies a database and its journal as they were at one moment. What is
// appended to the journal meanwhile does no harm; when the database itself
// changes, which happens when the journal is taken into it, it is done again.
func snapshot(ctx context.Context, path, to string) error {
	for range 5 {
		if err := ctx.Err(); err != nil {
			return err
		}
		before, err := os.Stat(path)
		if err != nil {
			return err
		}
		if err := copyFile(path, to); err != nil {
			return err
		}
		if err := copyFile(path+journal, to+journal); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		after, err := os.Stat(path)
		if err != nil {
			return err
		}
		if before.Size() == after.Size() && before.ModTime().Equal(after.ModTime()) {
			return nil
		}
	}
	return errors.New("it does not stand still long enough to be read")
}

func copyFile(from, to string) (err error) {
	src, err := workspace.OpenNamed(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// Columns lists the tables of a database and the columns of each.
func Columns(ctx context.Context, db *sql.DB) (map[string][]string, error) {
	tables, err := stringsOf(ctx, db, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, t := range tables {
		rows, err := db.QueryContext(ctx, "SELECT * FROM "+quoteName(t)+" LIMIT 0")
		if err != nil {
			continue // a table that is none: a virtual one
		}
		all[t], err = rows.Columns()
		if err = errors.Join(err, rows.Close()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func stringsOf(ctx context.Context, db *sql.DB, query string) (list []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Table calls yield for each row of a table, or of that part of it, with its
// members as a JSON object and a function that looks one up. Text that is JSON
// stands as it is.
func Table(
	ctx context.Context, db *sql.DB, table, part string, args []any,
	yield func(members []byte, value func(string) string) error,
) error {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+quoteName(table)+" "+part, args...)
	if err != nil {
		return fmt.Errorf("table %s: %w", table, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values, at := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		at[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return err
		}
		members := []byte{'{'}
		for i, name := range names {
			if i > 0 {
				members = append(members, ',')
			}
			members, _ = jsontext.AppendString(members, []byte(name))
			members = appendValue(append(members, ':'), values[i])
		}
		value := func(name string) string {
			for i := range names {
				if names[i] == name && values[i] != nil {
					return fmt.Sprint(values[i])
				}
			}
			return ""
		}
		if err := yield(append(members, '}'), value); err != nil {
			return err
		}
	}
	return rows.Err()
}

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return append(dst, jsontext.Quote(fmt.Sprint(v))...)
		}
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	case string:
		if strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[") {
			return append(dst, Compact([]byte(v))...)
		}
		dst, _ = jsontext.AppendString(dst, []byte(v))
		return dst
	case []byte:
		dst = append(dst, `{"base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, v)
		return append(dst, `"}`...)
	}
	return append(dst, jsontext.Quote(fmt.Sprint(v))...)
}
