// Package sqlite opens SQLite files. It is the one place that knows the driver:
// what others hold is a *sql.DB.
//
// A file is opened for reading unless Write says otherwise, waits half a minute
// for whoever holds it, and keeps what it sorts in memory unless a pragma says
// otherwise. Functions belong to one handle and are nobody else's. A handle with
// a Guard can do nothing but SELECT what its Guard lists: everything else is
// denied, whatever later versions of SQLite learn.
//
// It makes no file and no schema.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite counts what it allocates, and so can hold a hard_heap_limit, only if it
// was told to before its first use; the driver is compiled with counting off.
func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	on := libc.NewVaList(int32(1))
	defer libc.Xfree(tls, on)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, on); rc != sqlite3.SQLITE_OK {
		panic(fmt.Sprintf("SQLite does not count its memory (%d)", rc))
	}
}

// Options say how to open a file. The zero value reads.
type Options struct {
	Write     bool
	Pragmas   []string // journal_mode(WAL): set on every connection, the last one counts
	Functions []Function
	Guard     *Guard // nil: what a file allows that is opened so
}

// Function is a function that statements can call.
type Function struct {
	Name string
	Args int  // AnyArgs: the function counts them itself
	Pure bool // the same arguments give the same
	Call func(args []driver.Value) (driver.Value, error)
}

// AnyArgs says that a function takes more than one number of arguments.
const AnyArgs = -1

// Guard says what statements may read and call.
type Guard struct {
	// Read: view is that which reads the table, if it is one. column is empty
	// where none of the table's is needed, and then no view is named either.
	Read func(table, column, view string) bool
	Call func(function string) bool
}

// Open returns a handle on the file at path, which must exist. It connects when
// it is used.
func Open(path string, o Options) *sql.DB {
	q := url.Values{"mode": {"ro"}, "_pragma": append([]string{"busy_timeout(30000)", "temp_store(MEMORY)"}, o.Pragmas...)}
	if o.Write {
		q.Set("mode", "rw")
		q.Set("_txlock", "immediate")
	} else {
		q.Add("_pragma", "query_only(1)")
	}
	c := &connector{driver: new(sqlite.Driver), dsn: fileURI(path) + "?" + q.Encode(), guard: o.Guard}
	for _, f := range o.Functions {
		register := c.driver.MustRegisterScalarFunction
		if f.Pure {
			register = c.driver.MustRegisterDeterministicScalarFunction
		}
		register(f.Name, int32(f.Args), func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			return f.Call(args)
		})
	}
	return sql.OpenDB(c)
}

// fileURI is path as SQLite wants it: a name may hold what a URI must escape.
func fileURI(path string) string {
	p := filepath.ToSlash(path)
	if len(p) > 1 && p[1] == ':' {
		p = "/" + p // a drive
	}
	return "file:" + strings.ReplaceAll((&url.URL{Path: p}).EscapedPath(), "?", "%3F")
}

// connector opens connections of one handle, each with its guard.
type connector struct {
	driver *sqlite.Driver
	dsn    string
	guard  *Guard
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.dsn)
	if err != nil || c.guard == nil {
		return conn, err
	}
	r, ok := conn.(sqlite.AuthorizerRegisterer)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver has no authoriser"), conn.Close())
	}
	if err := r.RegisterAuthorizer(c.guard.authorize); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (g *Guard) authorize(action sqlite.AuthorizerActionCode, arg1, arg2, _, view string) sqlite.AuthorizerReturnCode {
	ok := false
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRecursive:
		ok = true
	case sqlite.AuthRead:
		ok = g.Read(strings.ToLower(arg1), arg2, view)
	case sqlite.AuthFunction:
		ok = g.Call(strings.ToLower(arg2))
	}
	if ok {
		return sqlite.AuthorizerOK
	}
	return sqlite.AuthorizerDeny
}

// LimitValues bounds the length of every value on a connection.
func LimitValues(conn *sql.Conn, bytes int) error {
	_, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, bytes)
	return err
}

// NoMemory reports whether a statement ended at its hard_heap_limit.
func NoMemory(err error) bool { return code(err) == sqlite3.SQLITE_NOMEM }

// TooBig reports whether a statement ended at the limit of its values.
func TooBig(err error) bool { return code(err) == sqlite3.SQLITE_TOOBIG }

func code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return sqlite3.SQLITE_OK
}
