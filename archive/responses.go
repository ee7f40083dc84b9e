package archive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	"conclave/archive/source"
	"conclave/bundle"
	"conclave/record"
	"conclave/session"
	"conclave/transcript"
)

// Response is what one response of a model consumed, as one file tells it.
type Response struct {
	Key            string // the same in every file: see transcript.ResponseKey
	Model, Session string
	Role           string // of the agent that asked
	At             int64  // microseconds since 1970
	transcript.Usage
}

// Sum is what a program itself has counted for a session; see session.Accounts.
type Sum struct {
	At int64 // no response before it is younger
	session.Sum
}

// Told is what a file tells of itself beside its responses.
type Told struct {
	Project, Role string
	Began         int64 // see session.Beginning
	End           int64 // how far it was read
}

// Responses calls note for each response that a rollout or a record tells of, and
// sum for each of the program's own sums, in
// the way in which they are taken up, but without the lines that say nothing of
// them. Figures of rollouts are differences of totals, so a file is read from its
// beginning.
func Responses(kind, path string, f io.ReaderAt, note func(Response), sum func(Sum)) (Told, error) {
	switch kind {
	case source.Record:
		return recordResponses(path, f, note, sum)
	case source.Bundle:
		return bundleResponses(path, note, sum)
	}
	feed := newSessionFeed(session.Of(path, session.OfName(kind)), indexer{off: true})
	if err := feed.identify(io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return Told{}, err
	}
	told := Told{Project: feed.org.project, Role: feed.org.seat, Began: feed.began}
	var items []item
	var at int64
	var err error
	for line := range transcript.Lines(io.NewSectionReader(f, 0, math.MaxInt64), &err) {
		told.End += int64(len(line)) + 1
		if free := feed.file.Kind.Free; free != nil && free(line) {
			continue
		}
		items = feed.add(items[:0], line, 0)
		at = noteResponses(items, at, note, sum)
	}
	return told, err
}

// played has responses bear the role that the record itself states: the name of a
// prompt says only what was done (quest.checkpoint). "": it states none.
func played(role string, note func(Response)) func(Response) {
	if role == "" {
		return note
	}
	return func(r Response) {
		r.Role = role
		note(r)
	}
}

func recordResponses(path string, f io.ReaderAt, note func(Response), sum func(Sum)) (Told, error) {
	head := record.NewReader(f)
	if head.Next() {
		note = played(head.Header().Attributes["role"], note)
	}
	r := record.NewReader(f)
	told := logResponses(path, recordOf(f), note, sum, func(yield func([]byte) bool) {
		for r.Next() {
			if fr := r.Frame(); fr.Kind == record.KindLog && !fr.Withheld && !yield(fr.Payload) {
				return
			}
		}
	})
	told.End = r.Cursor().Offset
	return told, r.Err()
}

func bundleResponses(path string, note func(Response), sum func(Sum)) (Told, error) {
	b, err := bundle.Open(path)
	if err != nil {
		return Told{}, err
	}
	defer b.Close()
	name := logOf(b)
	if name == "" {
		return Told{}, nil
	}
	note = played(bundleAttributes(b)["role"], note)
	told := logResponses(path, bundleOf(b, name), note, sum, b.Lines(name, &err))
	return told, err
}

// logResponses reads the lines of a log that may have a part in what was used.
func logResponses(path string, of *collected, note func(Response), sum func(Sum), lines iter.Seq[[]byte]) Told {
	told := Told{Project: projectOf(path)}
	feed := logFeed{index: indexer{off: true}, of: of}
	marks := [][]byte{[]byte(`usage"`)}
	if of != nil {
		told.Project, told.Began = of.project(), of.begin.At
		marks = append(marks, []byte(`"model`)) // which may stand on another line
	}
	var items []item
	var at int64
	for line := range lines {
		if !containsAny(line, marks) {
			continue
		}
		items = feed.add(items[:0], line, 0)
		if len(items) > 0 && items[0].typ != "" && told.Role == "" {
			told.Role = items[0].origin.seat
		}
		at = noteResponses(items, at, note, sum)
	}
	return told
}

func containsAny(b []byte, marks [][]byte) bool {
	for _, m := range marks {
		if bytes.Contains(b, m) {
			return true
		}
	}
	return false
}

// noteResponses returns the time of the youngest response so far.
func noteResponses(items []item, at int64, note func(Response), sum func(Sum)) int64 {
	for i := range items {
		it := &items[i]
		if f := it.usage; f != nil {
			at = max(at, it.at)
			note(Response{Key: f.key, Model: f.model, Session: it.origin.session, Role: it.origin.seat,
				At: it.at, Usage: f.Usage})
		}
		if it.sum != nil {
			sum(Sum{max(at, it.at), *it.sum})
		}
	}
	return at
}

// Gone is a source whose file is there no more, or was replaced.
type Gone struct {
	ID         int64
	Path, Kind string
	Told
}

// GoneResponses calls note for each response that the sources below roots tell
// of whose files are there no more, and sum for each of their sums: those that are,
// are in here.
func (a *Archive) GoneResponses(
	ctx context.Context, roots []string, here map[string]bool, note func(Gone, Response), sum func(Gone, Sum),
) error {
	gone, err := a.goneSources(ctx, roots, here)
	if err != nil {
		return err
	}
	for _, g := range gone {
		err := a.storedResponses(ctx, &g, note)
		if err == nil {
			err = eachSum(ctx, a.reader, "source = ?", g.ID, func(s storedSum) { sum(g, s.Sum) })
		}
		if err != nil {
			return fmt.Errorf("count what %s held: %w", g.Path, err)
		}
	}
	return nil
}

func (a *Archive) goneSources(ctx context.Context, roots []string, here map[string]bool) (list []Gone, err error) {
	rows, err := a.reader.QueryContext(ctx, "SELECT id, path, kind, state FROM sources WHERE kind NOT IN (?, ?)",
		source.Log, source.Bundle)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var g Gone
		var state string
		if err := rows.Scan(&g.ID, &g.Path, &g.Kind, &state); err != nil {
			return nil, err
		}
		if (!here[g.Path] || state == "replaced") && below(g.Path, roots) {
			list = append(list, g)
		}
	}
	return list, rows.Err()
}

func (a *Archive) storedResponses(ctx context.Context, g *Gone, note func(Gone, Response)) error {
	rows, err := a.reader.QueryContext(ctx, `SELECT u.key, u.model, coalesce(u.at, 0), u.input, u.output, u.cache_read,
		u.cache_write, u.cache_write_1h, u.web_searches, coalesce(o.session_id, ''),
		coalesce((SELECT CASE WHEN json_valid(s.header) THEN s.header ->> '$.attributes.role' END FROM sources s
			WHERE s.id = u.source), o.seat, ''), coalesce(o.project, ''), coalesce(h.began, 0)
		FROM usage_rows u JOIN items i ON i.id = u.item LEFT JOIN origins o ON o.id = i.origin
		LEFT JOIN holdings h ON h.whose = o.whose AND h.source = u.source WHERE u.source = ?`, g.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r Response
		if err := rows.Scan(&r.Key, &r.Model, &r.At, &r.Input, &r.Output, &r.CacheRead, &r.CacheWrite,
			&r.CacheWrite1h, &r.Searches, &r.Session, &r.Role, &g.Project, &g.Began); err != nil {
			return err
		}
		g.Role = r.Role
		note(*g, r)
	}
	return rows.Err()
}
