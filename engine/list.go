package engine

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"conclave/internal/lockfile"
)

// Interaction is one that was cut.
type Interaction struct {
	ID      string
	Flow    string // name/vN
	Started time.Time
	Input   json.RawMessage
	// Parent is set for a background child: the interaction that spawned it.
	// Resuming the parent resumes the child too.
	Parent string
}

// Status is what can be seen of a scope from outside.
type Status struct {
	// Open are the interactions that have not ended, oldest first. When there
	// is a Holder, they may be running.
	Open []Interaction
	// Holder is who holds the scope, nil for nobody.
	Holder *lockfile.Holder
}

// Peek looks at a scope without opening it: it runs nothing, changes nothing
// and keeps nobody out. A scope that was never opened has nothing open.
func Peek(ctx context.Context, o Options) (Status, error) {
	if err := o.check(); err != nil {
		return Status{}, err
	}
	holder, lock, err := glance(ctx, o)
	if err != nil {
		return Status{}, err
	}
	st := Status{Holder: holder}
	s := &session{}
	if lock != nil {
		defer lock.Unlock()
	}
	if o.DatabaseURL == "" {
		if _, err := os.Stat(o.database()); errors.Is(err, fs.ErrNotExist) {
			return st, nil
		}
		s.db, err = openSQLite(o.database(), peekMode(o, holder))
	} else {
		s.table = `"` + o.schema() + `".`
		s.db, err = sql.Open("pgx", o.DatabaseURL)
	}
	if err != nil {
		return Status{}, err
	}
	defer s.db.Close()
	if there, err := s.exists(ctx, o); err != nil || !there {
		return st, err
	}
	rows, err := s.open(ctx)
	if err != nil {
		return Status{}, fmt.Errorf("look at %s: %w", o.Scope, err)
	}
	st.Open = interactions(rows)
	return st, nil
}

// looking is the purpose of a lock that is held for a glance. Open waits for
// such a one.
const looking = "looking"

// glance asks for the lock to learn whether its file tells the truth, which
// outlives a killed holder. It returns the holder, or the lock.
func glance(ctx context.Context, o Options) (*lockfile.Holder, *lockfile.Lock, error) {
	if _, err := os.Stat(o.lock()); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(o.database()); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil // never opened: leave no file behind
		}
	}
	lock, err := lockBriefly(ctx, o.lock(), looking)
	var held *lockfile.HeldError
	if errors.As(err, &held) {
		return &held.Holder, nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil, nil // a copy, or somebody else's workspace: nobody runs here as us
	}
	return nil, lock, err
}

// lockBriefly takes a lock, and waits only for those who are looking.
func lockBriefly(ctx context.Context, path, purpose string) (*lockfile.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		l, err := lockfile.TryLock(path, purpose)
		var held *lockfile.HeldError
		// One who has not said who it is has only just come.
		if err == nil || !errors.As(err, &held) || held.Holder.Purpose != looking && held.Holder.PID != 0 {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Millisecond):
		}
	}
}

// peekMode is how to read the database and leave no file beside it: one that
// is settled, and kept so by the lock, is opened as if it could not change.
func peekMode(o Options, holder *lockfile.Holder) string {
	if holder != nil {
		return "ro"
	}
	info, err := os.Stat(o.database() + "-wal")
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return "immutable"
	}
	return "ro"
}

// Pending lists the interactions that were cut and do not run now, oldest
// first.
func (e *Engine) Pending(ctx context.Context) ([]Interaction, error) {
	s, err := e.current()
	if err != nil {
		return nil, err
	}
	rows, err := s.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("list interactions: %w", err)
	}
	var cut []row
	for _, row := range rows {
		if l := e.find(row.ID); l == nil || l.parked() {
			cut = append(cut, row)
		}
	}
	return interactions(cut), nil
}

func interactions(rows []row) []Interaction {
	var list []Interaction
	for _, row := range rows {
		if !row.branch() {
			list = append(list, row.Interaction)
		}
	}
	return list
}

// row is what the library's table says of an interaction or a branch.
type row struct {
	Interaction
	status string
	within string // the parent of a branch
}

func (r row) branch() bool { return r.within != "" }
func (r row) ended() bool  { return r.status == "SUCCESS" || r.status == "ERROR" }

// columns of the library's table, which the pinned version fixes; the tests
// read a database of each version that was ever released.
var columns = []string{"workflow_uuid", "status", "name", "created_at", "inputs", "attributes", "parent_workflow_id"}

func (s *session) query(ctx context.Context, where string, args ...any) ([]row, error) {
	found, err := s.db.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %sworkflow_status ", strings.Join(columns, ", "), s.table)+where, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var list []row
	for found.Next() {
		r, err := scan(found)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, found.Err()
}

func scan(rows *sql.Rows) (row, error) {
	var r row
	var created int64
	var input, attributes, within sql.NullString
	if err := rows.Scan(&r.ID, &r.status, &r.Flow, &created, &input, &attributes, &within); err != nil {
		return r, err
	}
	r.Started, r.within = time.UnixMilli(created).UTC(), within.String
	if data, err := base64.StdEncoding.DecodeString(input.String); err == nil && json.Valid(data) {
		r.Input = data
	}
	if attributes.Valid {
		var a struct{ Parent string }
		if err := json.Unmarshal([]byte(attributes.String), &a); err != nil {
			return r, fmt.Errorf("attributes of %s: %w", r.ID, err)
		}
		r.Parent = a.Parent
	}
	return r, nil
}

const notEnded = `status NOT IN ('SUCCESS', 'ERROR')`

func (s *session) open(ctx context.Context) ([]row, error) {
	return s.query(ctx, `WHERE `+notEnded+` ORDER BY created_at, workflow_uuid`)
}

func (s *session) row(ctx context.Context, id string) (row, error) {
	list, err := s.query(ctx, `WHERE workflow_uuid = $1`, id)
	if err != nil {
		return row{}, err
	}
	if len(list) == 0 {
		return row{}, ErrUnknown
	}
	return list[0], nil
}

// openTree is top and everything open below it, branches included, top first.
func (s *session) openTree(ctx context.Context, top row) ([]row, error) {
	all, err := s.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("list interactions: %w", err)
	}
	tree, in := []row{top}, map[string]bool{top.ID: true}
	for grown := true; grown; {
		grown = false
		for _, row := range all {
			if !in[row.ID] && (in[row.within] || in[row.Parent]) {
				tree, in[row.ID], grown = append(tree, row), true, true
			}
		}
	}
	return tree, nil
}

// exists says whether the library's tables are there, and whole: the library
// makes them in many steps, and nothing begins before the last of them. Whoever
// was killed there has left nothing open.
func (s *session) exists(ctx context.Context, o Options) (bool, error) {
	q, args := `SELECT count(*) FROM pragma_table_info('workflow_status') WHERE name IN (%s)`, []any{}
	if o.DatabaseURL != "" {
		q = `SELECT count(*) FROM information_schema.columns
			WHERE table_name = 'workflow_status' AND table_schema = $1 AND column_name IN (%s)`
		args = append(args, o.schema())
	}
	var n int
	q = fmt.Sprintf(q, "'"+strings.Join(columns, "', '")+"'")
	if err := s.db.QueryRowContext(ctx, q, args...).Scan(&n); err != nil {
		return false, fmt.Errorf("look at %s: %w", o.Scope, err)
	}
	return n == len(columns), nil
}
