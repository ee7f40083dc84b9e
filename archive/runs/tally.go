package runs

import (
	"context"
	"encoding/json"
	"maps"

	"conclave/transcript"
)

// tally is a few figures of the entries of a lane, or of a part of it.
type tally struct {
	entries     int
	least       int64         // id
	copies      map[int64]int // of them another source shows, by that source
	first, last int64         // microseconds since 1970; 0: none bears a time
	prompt      int64         // the id of the first prompt; 0: there is none
	said        int64         // the id of what was said or done last, and its type
	saidType    transcript.Type
}

// saidTypes are what was said and done, in the order of their codes in tallySQL.
var saidTypes = []transcript.Type{transcript.UserMessage, transcript.AssistantMessage, transcript.ToolUse,
	transcript.ToolResult, transcript.Thinking, transcript.Error}

const tallySQL = `SELECT source, coalesce(origin, 0), coalesce(copy, 0), count(*),
	coalesce(min(at), 0), coalesce(max(at), 0), coalesce(min(CASE type WHEN 'user_message' THEN id END), 0),
	coalesce(max(CASE type WHEN 'user_message' THEN id * 8 WHEN 'assistant_message' THEN id * 8 + 1
		WHEN 'tool_use' THEN id * 8 + 2 WHEN 'tool_result' THEN id * 8 + 3 WHEN 'thinking' THEN id * 8 + 4
		WHEN 'error' THEN id * 8 + 5 END), -1), min(id)
	FROM items `

// tallies calls take for each lane that a condition chooses.
func (s *Shelf) tallies(
	ctx context.Context, where string, take func(source, origin int64, t *tally), args ...any,
) error {
	return s.tally(ctx, tallySQL+"WHERE type IS NOT NULL "+where+" GROUP BY source, origin, copy", take, args...)
}

func (s *Shelf) tally(ctx context.Context, query string, take func(source, origin int64, t *tally), args ...any) error {
	rows, err := s.a.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var src, org, other, said int64
		t := new(tally)
		if err := rows.Scan(&src, &org, &other, &t.entries, &t.first, &t.last, &t.prompt, &said, &t.least); err != nil {
			return err
		}
		if other != 0 {
			t.copies = map[int64]int{other: t.entries}
		}
		if said >= 0 {
			t.said, t.saidType = said/8, saidTypes[said%8]
		}
		take(src, org, t)
	}
	return rows.Err()
}

// lastBlocks are the last block of every source.
const lastBlocks = "SELECT source, max(pos) AS last, first FROM source_blocks GROUP BY source"

// tallyAll counts every source, its last block apart: the first line that comes then
// costs no more than the next.
func (s *Shelf) tallyAll(ctx context.Context) error {
	rows, err := s.a.Reader().QueryContext(ctx, lastBlocks)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, pos, first int64
		if err := rows.Scan(&id, &pos, &first); err != nil {
			return err
		}
		if src := s.sources[id]; src != nil {
			src.at, src.first = pos, first
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	const query = "WITH b AS MATERIALIZED (" + lastBlocks + ") " + tallySQL + `LEFT JOIN b USING (source)
		WHERE type IS NOT NULL GROUP BY source, origin, copy, coalesce(id >= b.first, 0)`
	return s.tally(ctx, query, func(id, org int64, t *tally) {
		src := s.sources[id]
		if src == nil {
			return
		}
		part := &src.before
		if src.at >= 0 && t.least >= src.first {
			part = &src.after
		}
		if *part == nil {
			*part = map[int64]*tally{}
		}
		(*part)[org] = t.join((*part)[org])
	})
}

// recount counts a source from its last block on: that one is read again when its
// file grows, and those before it never.
func (s *Shelf) recount(ctx context.Context, src *source) error {
	pos, first, err := s.lastBlock(ctx, src.id)
	if err != nil {
		return err
	}
	into := func(m *map[int64]*tally) func(_, org int64, t *tally) {
		return func(_, org int64, t *tally) {
			if *m == nil {
				*m = map[int64]*tally{}
			}
			(*m)[org] = t.join((*m)[org])
		}
	}
	from := src.first
	if src.at < 0 || src.at > pos { // not looked at yet, or replaced
		from, src.before = 0, nil
	}
	src.after = nil
	if from < first {
		err = s.tallies(ctx, "AND +source = ? AND id >= ? AND id < ?", into(&src.before), src.id, from, first)
		if from == 0 {
			src.before = nil
			err = s.tallies(ctx, "AND source = ? AND id < ?", into(&src.before), src.id, first)
		}
	}
	if err == nil {
		err = s.tallies(ctx, "AND +source = ? AND id >= ?", into(&src.after), src.id, first)
	}
	src.at, src.first = pos, first
	return err
}

// lastBlock is where the last block of a source begins, and the id of its first
// entry; 0 and 0 where it has none.
func (s *Shelf) lastBlock(ctx context.Context, id int64) (pos, first int64, err error) {
	err = s.a.Reader().QueryRowContext(ctx,
		"SELECT pos, first FROM source_blocks WHERE source = ? ORDER BY pos DESC LIMIT 1", id).Scan(&pos, &first)
	if isNone(err) {
		return 0, 0, nil
	}
	return pos, first, err
}

// join is a tally of two parts; o may be none.
func (t *tally) join(o *tally) *tally {
	if o == nil {
		return t
	}
	sum := *t
	sum.entries, sum.last = t.entries+o.entries, max(t.last, o.last)
	sum.first, sum.prompt = least(t.first, o.first), least(t.prompt, o.prompt)
	if o.said > t.said {
		sum.said, sum.saidType = o.said, o.saidType
	}
	if len(o.copies) > 0 {
		sum.copies = maps.Clone(o.copies)
		for src, n := range t.copies {
			sum.copies[src] += n
		}
	}
	return &sum
}

// least is the lesser of two numbers of which 0 is none.
func least(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// lanes are the tallies of a source by origin.
func (src *source) lanes() map[int64]*tally {
	if src.after == nil {
		return src.before
	}
	all := maps.Clone(src.before)
	if all == nil {
		return src.after
	}
	for org, t := range src.after {
		all[org] = t.join(all[org])
	}
	return all
}

func attributesOf(header string) map[string]string {
	var h struct {
		Attributes map[string]string `json:"attributes"`
	}
	if header == "" || json.Unmarshal([]byte(header), &h) != nil {
		return nil // what a record's head should say an audit finds out
	}
	return h.Attributes
}
