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
	transcript.Entry
}

// Entries yields the entries of runs in the order of their files, all of them
// when none is named. An error ends the sequence.
func (a *Archive) Entries(ctx context.Context, runs ...string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		where, args := "WHERE i.type IS NOT NULL", []any{}
		if len(runs) > 0 {
			where += " AND (s.run IN (?" + strings.Repeat(",?", len(runs)-1) + ") OR s.path IN (?" + strings.Repeat(",?", len(runs)-1) + "))"
			for range 2 {
				for _, r := range runs {
					args = append(args, r)
				}
			}
		}
		rows, err := a.reader.QueryContext(ctx, `SELECT i.type, coalesce(i.seq, 0), coalesce(i.at, 0), i.block, i.off, i.size, i.part, coalesce(i.tool, ''), coalesce(i.tool_id, ''), coalesce(i.failed, 0),
			s.kind, s.run, s.path, coalesce(o.prompt_name, ''), coalesce(o.adapter, ''), coalesce(o.source, ''), coalesce(o.session_id, ''), coalesce(o.seat, ''), coalesce(o.project, '')
			FROM items i JOIN sources s ON s.id = i.source LEFT JOIN origins o ON o.id = i.origin `+where+` ORDER BY s.path, s.generation, i.id`, args...)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var e Entry
			var r Ref
			var at int64
			if err := rows.Scan(&r.Type, &e.Sequence, &at, &r.Block, &r.Off, &r.Size, &r.Part, &e.Tool, &e.ToolID, &e.Failed,
				&r.Kind, &e.Run, &e.Path, &e.PromptName, &e.Adapter, &e.Source, &e.SessionID, &e.Role, &e.Project); err != nil {
				yield(e, err)
				return
			}
			r.Adapter = e.Adapter
			s, err := a.Show(r)
			if err != nil {
				yield(e, fmt.Errorf("%s entry %d: %w", e.Run, e.Sequence, err))
				return
			}
			e.Type, e.Timestamp = r.Type, time.UnixMicro(at).UTC()
			e.Detail, e.Raw, e.Text = s.Detail, s.Raw, string(s.Text())
			if !yield(e, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Entry{}, err)
		}
	}
}

// LogLines yields the log records, redacted, as JSON without a newline: those
// of records and bundles as they stand there, the entries of session files as
// they would.
func (a *Archive) LogLines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		rows, err := a.reader.QueryContext(ctx, `SELECT coalesce(i.type, ''), coalesce(i.seq, 0), coalesce(i.at, 0), i.block, i.off, i.size, i.part, s.kind,
			coalesce(o.prompt_name, ''), coalesce(o.adapter, ''), coalesce(o.source, ''), coalesce(o.session_id, '')
			FROM items i JOIN sources s ON s.id = i.source LEFT JOIN origins o ON o.id = i.origin ORDER BY i.id`)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var e transcript.Entry
			var r Ref
			var at int64
			if err := rows.Scan(&r.Type, &e.Sequence, &at, &r.Block, &r.Off, &r.Size, &r.Part, &r.Kind,
				&e.PromptName, &e.Adapter, &e.Source, &e.SessionID); err != nil {
				yield(nil, err)
				return
			}
			r.Adapter = e.Adapter
			s, err := a.Show(r)
			if err != nil {
				yield(nil, err)
				return
			}
			line := s.Line
			if !s.Log {
				e.Type, e.Timestamp, e.Detail, e.Raw = r.Type, time.UnixMicro(at).UTC(), s.Detail, s.Raw
				line = transcript.AppendEntry(nil, &e)
			}
			if !yield(line, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
