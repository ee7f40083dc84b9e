package archive

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"conclave/bundle/redact"
	"conclave/internal/newer"
	"conclave/internal/price"
	"conclave/internal/sqlite"
)

//go:embed schema.sql
var schemaSQL string

//go:embed derived.sql
var derivedSQL string

//go:embed indexes.sql
var indexesSQL string

//go:embed views.sql
var viewsSQL string

//go:embed words.sql
var wordsSQL string

// schemaVersion is that of the raw store. There is no other yet: version 1 was
// never released. What is derived has no version: its text tells what it is, and
// when that changes it is made anew.
const schemaVersion = 2

// Options configure an Archive. The zero value works.
type Options struct {
	// Redactor takes secrets out of what is indexed and shown; nil means one
	// that knows all shapes.
	Redactor *redact.Redactor
	// NoRedact shows texts as they are. The index never holds secrets.
	NoRedact bool
	// Judge looks for leaks in a record; nil: nobody does.
	Judge func(record io.ReaderAt) ([]Finding, error)
	// Progress is told how many of how many bytes were taken up.
	Progress func(done, total int64)
	// MaxBytes is how large a file may become that OpenFiles makes; 0: any size.
	MaxBytes int64
	// Prices are the person's own, for costs in queries.
	Prices price.List
}

// Finding is something that an audit found in a record.
type Finding struct {
	Rule  string `json:"rule"`
	Turn  string `json:"turn,omitempty"`
	Frame uint64 `json:"frame,omitempty"`
	What  string `json:"what"`
}

// Archive is an open archive. Its methods are safe for concurrent use.
type Archive struct {
	path    string
	opts    Options
	db      *sql.DB // reading and writing
	reader  *sql.DB // reading
	packer  *packer
	cache   *blockCache
	plain   *redact.Redactor // what is shown; nil: nothing is taken out
	isCache bool             // made of files for queries: without an index of words
	read    *sql.Stmt        // of a block
	pool    sync.Pool        // of *[]byte, for blocks on their way in

	once    sync.Once
	version *sql.DB // that Version asks

	elsewhere elsewhere // what a cache refers to
	unpieced  bool      // bundles are read whole, however they are packed

	commitBytes int64 // in tests less than the constant
}

// Open opens the archive at path and makes it if it is not there, with
// directories (0700) and readable for its owner only.
func Open(path string, o Options) (_ *Archive, err error) {
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	a := newArchive(path, o, false)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open archive %s: %w", path, err), a.Close())
		}
	}()
	pragmas := append([]string{"journal_mode(WAL)", "synchronous(NORMAL)"}, writePragmas...)
	a.db = sqlite.Open(path, sqlite.Options{Write: true, Pragmas: pragmas})
	a.db.SetMaxOpenConns(2)
	if err := a.makeSchema(context.Background()); err != nil {
		return nil, err
	}
	if err := a.openReader(); err != nil {
		return nil, err
	}
	return a, a.renew(context.Background())
}

// writePragmas are those of whoever writes an archive or a cache.
var writePragmas = []string{"cache_size(-16384)", "wal_autocheckpoint(8000)", "journal_size_limit(67108864)"}

func newArchive(path string, o Options, cache bool) *Archive {
	if o.Redactor == nil {
		o.Redactor = redact.New(redact.Options{})
	}
	a := &Archive{path: path, opts: o, packer: &packer{quick: cache}, cache: newBlockCache(32 << 20),
		isCache: cache, commitBytes: commitBytes}
	if !o.NoRedact {
		a.plain = o.Redactor
	}
	return a
}

func (a *Archive) openReader() (err error) {
	a.reader = sqlite.Open(a.path, sqlite.Options{Pragmas: []string{"cache_size(-32768)"}})
	a.reader.SetMaxOpenConns(2)
	a.read, err = a.reader.Prepare("SELECT size, packed, sum FROM blocks WHERE id = ?")
	return err
}

func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the archive's directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("open archive: %w", err)
	}
	if err != nil {
		return fmt.Errorf("make archive: %w", err)
	}
	return f.Close()
}

// Close closes the archive. Further calls do nothing.
func (a *Archive) Close() error {
	var errs []error
	if a.read != nil {
		errs = append(errs, a.read.Close())
	}
	for _, db := range []*sql.DB{a.version, a.reader, a.db} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	a.read, a.reader, a.db, a.version = nil, nil, nil, nil
	return errors.Join(append(errs, a.elsewhere.close())...)
}

// Path is where the archive is.
func (a *Archive) Path() string { return a.path }

// Prices are the person's own.
func (a *Archive) Prices() price.List { return a.opts.Prices }

// OfFiles says whether it was made by OpenFiles: nobody writes it any more, and
// it has no index of words.
func (a *Archive) OfFiles() bool { return a.isCache }

// Reader is a read-only handle on the tables of schema.sql, for the rooms that
// answer from them (archive/search). Texts are not in them: see Show.
func (a *Archive) Reader() *sql.DB { return a.reader }

// Each calls take for each row that a query finds, until it says no. It goes past
// database/sql, whose locks and conversions take longer than a short row.
func (a *Archive) Each(ctx context.Context, query string, args []any, take func([]driver.Value) bool) (err error) {
	conn, err := a.reader.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(c any) (err error) {
		stmt, err := c.(driver.ConnPrepareContext).PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		named := make([]driver.NamedValue, len(args))
		for i, arg := range args {
			named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
		}
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, named)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		values := make([]driver.Value, len(rows.Columns()))
		for {
			if err := rows.Next(values); err != nil {
				if err == io.EOF {
					return nil
				}
				return err
			}
			if !take(values) {
				return nil
			}
		}
	})
}

func (a *Archive) makeSchema(ctx context.Context) error {
	var version int
	if err := a.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case version > schemaVersion:
		return newer.Check(version, schemaVersion)
	case version > 0 && version < schemaVersion:
		return fmt.Errorf("it is of version %d, from before the first release: move it away, and a refresh makes a new one", version)
	}
	if version == schemaVersion {
		return nil
	}
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version == schemaVersion {
		return err // somebody else has just made it
	}
	script := schemaSQL + a.tables() + viewsSQL
	if _, err := tx.ExecContext(ctx, script+fmt.Sprintf(";PRAGMA user_version = %d", schemaVersion)); err != nil {
		return err
	}
	if err := stateMade(ctx, tx, a.made()); err != nil {
		return err
	}
	return tx.Commit()
}

// block returns the bytes of a block.
func (a *Archive) block(id int64) ([]byte, error) {
	if raw := a.cache.get(id); raw != nil {
		return raw, nil
	}
	raw, _, err := a.loadBlock(id)
	if err == nil {
		a.cache.put(id, raw)
	}
	return raw, err
}

func (a *Archive) loadBlock(id int64) (raw, sum []byte, err error) {
	var size int
	var packed []byte
	if err := a.read.QueryRow(id).Scan(&size, &packed, &sum); err != nil {
		return nil, nil, fmt.Errorf("read block %d: %w", id, err)
	}
	if form := sum[len(sum)-1]; a.isCache && form != blockHere {
		raw, err = a.elsewhere.read(form, packed, size)
	} else {
		raw, err = a.packer.unpack(packed, size)
	}
	return raw, sum, err
}

// line returns a line of a block.
func (a *Archive) line(block int64, off, size int) ([]byte, error) {
	raw, err := a.block(block)
	if err != nil {
		return nil, err
	}
	if off < 0 || size < 0 || off+size > len(raw) {
		return nil, errDamaged
	}
	return raw[off : off+size], nil
}

func sumMatches(raw, sum []byte) bool {
	have := sha256.Sum256(raw)
	return string(have[:]) == string(sum)
}
