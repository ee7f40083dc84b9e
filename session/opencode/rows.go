package opencode

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/unfold"
)

// store says whether a file is the program's database.
func store(name string) func(path string) bool {
	return func(path string) bool {
		base := filepath.Base(path)
		return strings.HasPrefix(base, name) && strings.HasSuffix(base, ".db")
	}
}

// apart are tables with a column session_id that are no part of what happened in
// one: what a session was shared with, by a secret.
var apart = []string{"session_share"}

// rows gives the rows of the database: of each session its own, its messages,
// each with its parts, and what other tables say of the session.
func rows(ctx context.Context, path string, yield func(kind.Row) error) error {
	return unfold.Database(ctx, path, func(db *sql.DB) error {
		tables, err := unfold.Columns(ctx, db)
		if err != nil || tables["session"] == nil {
			return err
		}
		var sessions []kind.Row
		err = unfold.Table(ctx, db, "session", "ORDER BY time_created, id", nil,
			func(members []byte, value func(string) string) error {
				sessions = append(sessions, kind.Row{Session: value("id"), Table: "session", Key: value("id"),
					Directory: value("directory"), Members: members})
				return nil
			})
		if err != nil {
			return err
		}
		w := walk{ctx: ctx, db: db, yield: yield}
		for t, columns := range tables {
			if column := belongs(t, columns); column != "" {
				w.others = append(w.others, [2]string{t, column})
			}
		}
		slices.SortFunc(w.others, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		for _, s := range sessions {
			if err := w.session(s); err != nil {
				return err
			}
		}
		return nil
	})
}

// belongs names the column by which the rows of a table belong to a session; ""
// where they do not.
func belongs(table string, columns []string) string {
	switch {
	case slices.Contains(apart, table), table == "message", table == "part":
	case slices.Contains(columns, "session_id"):
		return "session_id"
	case table == "event":
		return "aggregate_id"
	}
	return ""
}

type walk struct {
	ctx    context.Context
	db     *sql.DB
	yield  func(kind.Row) error
	others [][2]string // tables, and by which column
}

func (w *walk) session(s kind.Row) error {
	if err := w.yield(s); err != nil {
		return err
	}
	var messages []kind.Row
	err := unfold.Table(w.ctx, w.db, "message", "WHERE session_id = ? ORDER BY time_created, id", []any{s.Session},
		func(members []byte, value func(string) string) error {
			messages = append(messages, kind.Row{Session: s.Session, Table: "message", Key: value("id"), Members: members})
			return nil
		})
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := w.message(m); err != nil {
			return err
		}
	}
	for _, t := range w.others {
		err := unfold.Table(w.ctx, w.db, t[0], "WHERE "+t[1]+" = ? ORDER BY rowid", []any{s.Session},
			func(members []byte, value func(string) string) error {
				key := value("id")
				if key == "" {
					key = value("position")
				}
				return w.yield(kind.Row{Session: s.Session, Table: t[0], Key: key, Members: members})
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// message gives a message and its parts, which tell by it whose they are.
func (w *walk) message(m kind.Row) error {
	if err := w.yield(m); err != nil {
		return err
	}
	d := jsontext.Members(jsontext.Get(m.Members, "data"), "role", "modelID", "providerID")
	about := []byte(`{"role":`)
	about = append(about, orNull(d[0])...)
	if d[1] != nil {
		about = append(append(about, `,"model":`...), d[1]...)
	}
	about = append(about, '}')
	return unfold.Table(w.ctx, w.db, "part", "WHERE message_id = ? ORDER BY id", []any{m.Key},
		func(members []byte, value func(string) string) error {
			return w.yield(kind.Row{Session: m.Session, Table: "part", Key: value("id"), About: about, Members: members})
		})
}

func orNull(v []byte) []byte {
	if v == nil {
		return []byte("null")
	}
	return v
}
