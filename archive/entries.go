package archive

import (
	"context"
	"fmt"
	"iter"
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
// the sequence.
func (a *Archive) Entries(ctx context.Context, runs ...string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		where, args := "WHERE i.type IS NOT NULL AND i.copy IS NULL", []any{}
		if len(runs) > 0 {
			in := " IN (?" + strings.Repeat(",?", len(runs)-1) + ")"
			where = "WHERE i.type IS NOT NULL AND (s.run" + in + " OR s.path" + in + `) AND (i.copy IS NULL OR i.copy NOT IN (
				SELECT c.id FROM sources c WHERE c.run` + in + " OR c.path" + in + "))"
			for range 4 {
				for _, r := range runs {
					args = append(args, r)
				}
			}
		}
		var rooms []stretch
		var told map[int64]*Response
		source := int64(-1)
		for r, err := range a.Rows(ctx, where+" ORDER BY s.path, s.generation, i.id", args...) {
			if err == nil && r.Source != source {
				source = r.Source
				if rooms, err = a.rooms(ctx, source); err == nil {
					told, err = a.responses(ctx, source)
				}
			}
			e := Entry{Run: r.Run, Path: r.Path, Role: r.Seat, Project: r.Project,
				Tool: r.Tool, ToolID: r.ToolID, Failed: r.Failed}
			if err == nil {
				e.Room, e.Response = roomAt(rooms, r.ID), told[r.ID]
				var s *Shown
				if s, err = a.Show(r.Ref); err == nil {
					e.Entry, e.Text = r.entry(s), string(s.Text())
					if e.Type == transcript.ToolUse {
						e.Input = s.Input()
					}
				} else {
					err = fmt.Errorf("%s entry %d: %w", r.Run, r.Sequence, err)
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
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
