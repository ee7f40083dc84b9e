package archive

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"conclave/transcript"
)

// Entry is an entry as it is shown: texts are redacted.
type Entry struct {
	Run     string
	Path    string // of its source
	Role    string
	Project string
	Tool    string
	ToolID  string
	Failed  bool
	Text    string
	Input   []byte // what a tool was called with, as JSON; of calls only
	// Room is what was allowed to be seen; nil where no record says so.
	Room *Room
	// Response is what the entry tells of one of a model, with its price if that
	// is known; nil where it tells of none.
	Response *Response
	transcript.Entry
}

// Row is a row of the table of entries and log records: where its line is, and
// whose it is.
type Row struct {
	Ref
	ID, Source, Origin                               int64 // of the row, its file and its agent
	Sequence, At, Doc, Chars                         int64 // Doc is its number in the index of words
	Tool, ToolID                                     string
	Failed                                           bool
	Run, Path, Prompt, Agent, Session, Seat, Project string // Agent is transcript.Main or that of a subagent
}

const rowColumns = `SELECT i.id, i.source, coalesce(i.origin, 0), coalesce(i.seq, 0), coalesce(i.at, 0),
	coalesce(i.doc, 0), i.chars, coalesce(i.type, ''), i.block, i.off, i.size, i.part,
	coalesce(i.tool, ''), coalesce(i.tool_id, ''), coalesce(i.failed, 0), s.kind, s.run, s.path,
	coalesce(o.prompt_name, ''), coalesce(o.adapter, ''), coalesce(o.source, ''), coalesce(o.session_id, ''),
	coalesce(o.seat, ''), coalesce(o.project, '')
	FROM items i JOIN sources s ON s.id = i.source LEFT JOIN origins o ON o.id = i.origin `

// Rows yields the rows that a condition in SQL chooses; in it i is the row, s its
// source and o its origin. An error ends the sequence.
func (a *Archive) Rows(ctx context.Context, where string, args ...any) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		rows, err := a.reader.QueryContext(ctx, rowColumns+where, args...)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var r Row
			err := rows.Scan(&r.ID, &r.Source, &r.Origin, &r.Sequence, &r.At, &r.Doc, &r.Chars, &r.Type,
				&r.Block, &r.Off, &r.Size, &r.Part, &r.Tool, &r.ToolID, &r.Failed, &r.Kind, &r.Run, &r.Path,
				&r.Prompt, &r.Adapter, &r.Agent, &r.Session, &r.Seat, &r.Project)
			if !yield(r, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Row{}, err)
		}
	}
}

// entry is the entry of a row, as it is shown.
func (r *Row) entry(s *Shown) transcript.Entry {
	return transcript.Entry{PromptName: r.Prompt, Adapter: r.Adapter, Type: r.Type, Sequence: r.Sequence,
		Source: r.Agent, Timestamp: time.UnixMicro(r.At).UTC(), SessionID: r.Session, Detail: s.Detail, Raw: s.Raw}
}

// Entries yields the entries of runs in the order of their files, all of them
// when none is named. One that several sources have comes once. An error ends
// the sequence. While one is looked at, no connection is held: whoever takes them
// may take their time, and others read meanwhile.
func (a *Archive) Entries(ctx context.Context, runs ...string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		which, args := "", []any{}
		if len(runs) > 0 {
			in := " IN (?" + strings.Repeat(",?", len(runs)-1) + ")"
			which = " WHERE run" + in + " OR path" + in
			for range 2 {
				for _, r := range runs {
					args = append(args, r)
				}
			}
		}
		sources, err := a.numbers(ctx, "SELECT id FROM sources"+which+" ORDER BY path, generation", args...)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		shown := "copy IS NULL"
		if len(runs) > 0 {
			shown = "(copy IS NULL OR copy NOT IN (SELECT id FROM sources" + which + "))"
		}
		for _, source := range sources {
			ids, err := a.numbers(ctx, "SELECT id FROM items WHERE source = ? AND type IS NOT NULL AND "+shown+" ORDER BY id",
				append([]any{source}, args...)...)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !a.entriesOf(ctx, source, ids, yield) {
				return
			}
		}
	}
}

// rowsAtOnce is how many rows are read before the first of them is shown.
const rowsAtOnce = 500

// entriesOf yields entries of one source; it says whether more are wanted.
func (a *Archive) entriesOf(ctx context.Context, source int64, ids []int64, yield func(Entry, error) bool) bool {
	if len(ids) == 0 {
		return true
	}
	rooms, err := a.rooms(ctx, source)
	var told map[int64]*Response
	if err == nil {
		told, err = a.responses(ctx, source)
	}
	for part := range slices.Chunk(ids, rowsAtOnce) {
		var rows []Row
		if err == nil {
			rows, err = a.rowsOf(ctx, part)
		}
		if err != nil {
			yield(Entry{}, err)
			return false
		}
		for _, r := range rows {
			e, err := a.entryOf(&r)
			e.Room, e.Response = roomAt(rooms, r.ID), told[r.ID]
			if !yield(e, err) || err != nil {
				return false
			}
		}
	}
	return true
}

// entryOf is the entry of a row, without what others tell of it.
func (a *Archive) entryOf(r *Row) (Entry, error) {
	e := Entry{Run: r.Run, Path: r.Path, Role: r.Seat, Project: r.Project, Tool: r.Tool, ToolID: r.ToolID,
		Failed: r.Failed}
	s, err := a.Show(r.Ref)
	if err != nil {
		return e, fmt.Errorf("%s entry %d: %w", r.Run, r.Sequence, err)
	}
	e.Entry, e.Text = r.entry(s), string(s.Text())
	if e.Type == transcript.ToolUse {
		e.Input = s.Input()
	}
	return e, nil
}

// rowsOf are the rows of these numbers, in their order, to the last.
func (a *Archive) rowsOf(ctx context.Context, ids []int64) (list []Row, err error) {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	for r, err := range a.Rows(ctx, "WHERE i.id IN (?"+strings.Repeat(",?", len(ids)-1)+") ORDER BY i.id", args...) {
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// numbers are what a statement gives whose rows are a number each.
func (a *Archive) numbers(ctx context.Context, statement string, args ...any) (list []int64, err error) {
	rows, err := a.reader.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
}

// LogLines yields the log records, redacted, as JSON without a newline: those
// of records and bundles as they stand there, the entries of session files as
// they would.
func (a *Archive) LogLines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for r, err := range a.Rows(ctx, "ORDER BY i.id") {
			var line []byte
			if err == nil {
				line, err = a.logLine(&r)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

func (a *Archive) logLine(r *Row) ([]byte, error) {
	s, err := a.Show(r.Ref)
	if err != nil {
		return nil, err
	}
	if s.Log {
		return s.Line, nil
	}
	e := r.entry(s)
	return transcript.AppendEntry(nil, &e), nil
}
