package archive

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"conclave/internal/lockfile"
)

// tables is the script of the derived tables.
func (a *Archive) tables() string {
	if a.isCache {
		return derivedSQL + indexesSQL
	}
	return derivedSQL + indexesSQL + wordsTable()
}

// derivation is how rows are made of lines. It goes up when the same tables are
// to be filled otherwise.
const derivation = "2\n"

// made are the digests of the texts that tables and views are made by.
func (a *Archive) made() map[string]string {
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:12])
	}
	return map[string]string{"tables": digest(derivation + a.tables()), "views": digest(viewsSQL)}
}

func stateMade(ctx context.Context, tx *sql.Tx, made map[string]string) error {
	for what, sum := range made {
		if _, err := tx.ExecContext(ctx, `INSERT INTO made(what, sum) VALUES (?1, ?2)
			ON CONFLICT DO UPDATE SET sum = ?2`, what, sum); err != nil {
			return err
		}
	}
	return nil
}

// stale says what of an archive was made by other texts than today's.
func (a *Archive) stale(ctx context.Context, db *sql.DB) (tables, views bool, err error) {
	rows, err := db.QueryContext(ctx, "SELECT what, sum FROM made")
	if err != nil {
		var n int
		if db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'made'").Scan(&n) == nil && n == 0 {
			return true, true, nil // from before they were stated
		}
		return false, false, err
	}
	defer rows.Close()
	want := a.made()
	tables, views = true, true
	for rows.Next() {
		var what, sum string
		if err := rows.Scan(&what, &sum); err != nil {
			return false, false, err
		}
		switch {
		case want[what] != sum:
		case what == "tables":
			tables = false
		case what == "views":
			views = false
		}
	}
	return tables, views, rows.Err()
}

// renew makes anew what an earlier program derived otherwise: the raw store has
// all that it takes. It waits for whoever is at the archive.
func (a *Archive) renew(ctx context.Context) error {
	tables, views, err := a.stale(ctx, a.db)
	if err != nil || !tables && !views {
		return err
	}
	lock, err := lockfile.WaitLock(ctx, a.path+".lock", "renewing the archive")
	if err != nil {
		return fmt.Errorf("wait for the archive: %w", err)
	}
	defer lock.Unlock()
	if tables, views, err = a.stale(ctx, a.db); err != nil || !tables && !views {
		return err // somebody else has just done it
	}
	if err := a.dropDerived(ctx, tables); err != nil || !tables {
		return err
	}
	if _, err = a.rebuild(ctx); err != nil {
		return fmt.Errorf("make the index anew: %w", err)
	}
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := stateMade(ctx, tx, a.made()); err != nil {
		return err
	}
	return tx.Commit()
}

// dropDerived makes the views anew, and the tables, empty, if these are meant,
// too. Who is killed before they are filled begins with them again: they are
// stated last.
func (a *Archive) dropDerived(ctx context.Context, tables bool) error {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	kinds := "'view'"
	if tables {
		kinds = "'view', 'table'"
	}
	rows, err := tx.QueryContext(ctx, `SELECT type, name FROM sqlite_schema WHERE type IN (`+kinds+`)
		AND name NOT IN ('sources', 'blocks', 'source_blocks', 'made')
		AND name NOT LIKE 'words\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY type DESC`)
	if err != nil {
		return err
	}
	var drop []string
	for rows.Next() {
		var kind, name string
		if err := rows.Scan(&kind, &name); err != nil {
			return errors.Join(err, rows.Close())
		}
		drop = append(drop, "DROP "+kind+` "`+name+`"`)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	script := "CREATE TABLE IF NOT EXISTS made (what TEXT PRIMARY KEY, sum TEXT NOT NULL) STRICT;"
	made := a.made()
	if tables {
		script += a.tables()
		delete(made, "tables")
	}
	for _, d := range append(drop, script+viewsSQL) {
		if _, err := tx.ExecContext(ctx, d); err != nil {
			return err
		}
	}
	if err := stateMade(ctx, tx, made); err != nil {
		return err
	}
	return tx.Commit()
}
