package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"conclave/archive"
	"conclave/archive/index"
	"conclave/transcript"
)

// Query asks for entries.
type Query struct {
	// Words all have to be there. "Several words" in quotes stand together,
	// word* begins so, -word is not there.
	Words   string
	In      []transcript.Type // empty: all that are searchable
	Role    string
	Project string // a part of the project's directory
	Since   time.Time
	Until   time.Time
	Limit   int // zero means 20
	Context int // entries before and after
}

// Hit is an entry that was found. Its texts are redacted.
type Hit struct {
	ID      string          `json:"id"` // run/source/number
	Run     string          `json:"run"`
	Source  string          `json:"source"`
	Seq     int64           `json:"sequence_number"`
	Type    transcript.Type `json:"entry_type"`
	Tool    string          `json:"tool_name,omitempty"`
	Time    time.Time       `json:"timestamp,omitzero"`
	Project string          `json:"project,omitempty"`
	Role    string          `json:"role,omitempty"`
	Path    string          `json:"path"`
	Kind    string          `json:"kind"` // of its source: record, log, or the name of a program
	Score   float64         `json:"score"`
	Snippet string          `json:"snippet"`
	Marks   [][2]int        `json:"marks"`            // where the words stand in it
	Copies  int             `json:"copies,omitempty"` // the same entry in other files
	Before  []Line          `json:"before,omitempty"`
	After   []Line          `json:"after,omitempty"`
}

// Line is an entry beside a hit.
type Line struct {
	Seq  int64           `json:"sequence_number"`
	Type transcript.Type `json:"entry_type"`
	Tool string          `json:"tool_name,omitempty"`
	Text string          `json:"text"`
}

// Result is what a search found. More says that further entries match.
type Result struct {
	Hits []Hit `json:"hits"`
	More bool  `json:"more"`
}

// ErrNoWords is returned for a query that asks for nothing.
var ErrNoWords = errors.New("name at least one word to look for")

const (
	batchDocs = 300   // candidates that are weighed at a time
	maxDocs   = 20000 // candidates that are looked at in all
	readTexts = 40    // texts that are read at least before the best are picked
)

// Find finds entries, the best first. Of words that are everywhere the latest
// entries are weighed.
func Find(ctx context.Context, a *archive.Archive, q Query) (Result, error) {
	terms, err := parseTerms(q.Words)
	if err != nil {
		return Result{}, err
	}
	if q.Limit <= 0 {
		q.Limit = 20
	}
	match, err := matchExpression(ctx, a.Reader(), terms, q)
	if err != nil || match == "" {
		return Result{Hits: []Hit{}}, err
	}
	s := &search{a: a, q: q, terms: terms, match: match, high: math.MaxInt64, copies: map[string]int{}}
	if !q.Since.IsZero() {
		s.low = index.First(q.Since.UnixMicro())
	}
	if !q.Until.IsZero() {
		s.high = index.First(q.Until.UnixMicro())
	}
	return s.run(ctx)
}

// search is one search on its way.
type search struct {
	a         *archive.Archive
	q         Query
	terms     []term
	match     string
	low, high int64
	seen      int
	found     []scored
	copies    map[string]int // index in found by what makes two entries the same
	newest    int64
}

type scored struct {
	hit  candidate
	text []byte
	fit  fit
	n    float64
	more int
}

// candidate is a row that the index named.
type candidate struct {
	*archive.Row
	weight float64
}

func (s *search) run(ctx context.Context) (Result, error) {
	more := false
	for s.seen < maxDocs {
		docs, err := s.next(ctx)
		if err != nil {
			return Result{}, err
		}
		if len(docs) == 0 {
			break
		}
		rows, err := s.load(ctx, docs)
		if err != nil {
			return Result{}, err
		}
		left, err := s.weigh(ctx, rows)
		if err != nil {
			return Result{}, err
		}
		if len(s.found) >= s.q.Limit {
			more = left || len(docs) == batchDocs || len(s.found) > s.q.Limit
			break
		}
	}
	return s.result(ctx, more)
}

// next is the next batch of documents, from the latest on.
func (s *search) next(ctx context.Context) ([]int64, error) {
	rows, err := s.a.Reader().QueryContext(ctx, `SELECT rowid FROM words
		WHERE words MATCH ? AND rowid >= ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?`, s.match, s.low, s.high, batchDocs)
	if err != nil {
		return nil, fmt.Errorf("search the archive: %w", err)
	}
	defer rows.Close()
	var docs []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		docs = append(docs, n)
	}
	if len(docs) > 0 {
		s.high = docs[len(docs)-1] - 1
		s.newest = max(s.newest, docs[0])
	}
	s.seen += len(docs)
	return docs, rows.Err()
}

// load reads the rows of documents.
func (s *search) load(ctx context.Context, docs []int64) ([]candidate, error) {
	args := make([]any, len(docs))
	for i, d := range docs {
		args[i] = d
	}
	rows, err := s.rows(ctx, "WHERE i.copy IS NULL AND i.doc IN (?"+strings.Repeat(",?", len(docs)-1)+")", args...)
	if err != nil {
		return nil, err
	}
	list := make([]candidate, len(rows))
	for i := range rows {
		list[i] = candidate{&rows[i], s.lightly(&rows[i])}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return compareDesc(a.weight, b.weight, a.order(&b))
	})
	return list, nil
}

// rows reads rows to the last before anything else is asked for: who waits for a
// text with a connection in hand keeps it from others who do.
func (s *search) rows(ctx context.Context, where string, args ...any) (list []archive.Row, err error) {
	for row, err := range s.a.Rows(ctx, where, args...) {
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}

// order is the same in every archive of the same files: later first.
func (c *candidate) order(d *candidate) int {
	if c.At != d.At {
		return int(min(max(d.At-c.At, -1), 1))
	}
	if n := strings.Compare(c.Path, d.Path); n != 0 {
		return n
	}
	return int(min(max(c.Sequence-d.Sequence, -1), 1))
}

func compareDesc(a, b float64, otherwise int) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return otherwise
}

// lightly weighs a candidate by what stands in its row: what a person or an
// agent said before what a tool gave back, short before long, late before
// early.
func (s *search) lightly(c *archive.Row) float64 {
	days := index.Days(s.newest, c.Doc)
	return typeWeight(c.Type) / (1 + math.Log1p(float64(c.Chars)/2000)) / (1 + days/90)
}

func typeWeight(t transcript.Type) float64 {
	switch t {
	case transcript.UserMessage:
		return 1.3
	case transcript.AssistantMessage:
		return 1.2
	case transcript.Error, transcript.ToolUse:
		return 1
	case transcript.Thinking:
		return 0.9
	}
	return 0.8
}

// weigh reads the texts of candidates, the promising first, and says whether
// some were left unread because there are enough.
func (s *search) weigh(ctx context.Context, list []candidate) (left bool, err error) {
	enough := max(readTexts, 2*s.q.Limit)
	for i := range list {
		if i >= enough && len(s.found) >= s.q.Limit {
			return true, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if err := s.weighOne(&list[i]); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (s *search) weighOne(c *candidate) error {
	e, err := s.a.Show(c.Ref)
	if err != nil {
		return err
	}
	text := e.Text()
	if c.Tool != "" {
		text = append([]byte(c.Tool+"\n"), text...)
	}
	f, ok := fitText(text, s.terms)
	if !ok {
		return nil
	}
	key := fmt.Sprintf("%s %d %d %s", c.Type, c.At, c.Chars, c.Tool)
	if at, ok := s.copies[key]; ok && c.At != 0 {
		s.found[at].more++
		if strings.Compare(c.Path, s.found[at].hit.Path) < 0 {
			s.found[at].hit = *c
		}
		return nil
	}
	s.copies[key] = len(s.found)
	s.found = append(s.found, scored{hit: *c, text: text, fit: f, n: c.weight * f.score})
	return nil
}

func (s *search) result(ctx context.Context, more bool) (Result, error) {
	slices.SortStableFunc(s.found, func(a, b scored) int { return compareDesc(a.n, b.n, a.hit.order(&b.hit)) })
	res := Result{Hits: []Hit{}, More: more}
	for i := range s.found[:min(len(s.found), s.q.Limit)] {
		f := &s.found[i]
		h := f.hit.hit()
		copies := 0 // in other sources of its session
		if err := s.a.Reader().QueryRowContext(ctx, "SELECT count(*) FROM items WHERE doc = ? AND part = ? AND copy = ?",
			f.hit.Doc, f.hit.Part, f.hit.Source).Scan(&copies); err != nil {
			return res, err
		}
		h.Score, h.Copies = math.Round(f.n*1000)/1000, f.more+copies
		h.Snippet, h.Marks = f.fit.snippet(f.text, 240)
		if s.q.Context > 0 {
			if err := s.around(ctx, &f.hit, &h); err != nil {
				return res, err
			}
		}
		res.Hits = append(res.Hits, h)
	}
	return res, nil
}

func (c *candidate) hit() Hit {
	h := Hit{ID: fmt.Sprintf("%s/%s/%d", c.Run, c.Agent, c.Sequence), Run: c.Run, Source: c.Agent, Seq: c.Sequence,
		Type: c.Type, Tool: c.Tool, Project: c.Project, Role: c.Seat, Path: c.Path, Kind: c.Kind}
	if c.At != 0 {
		h.Time = time.UnixMicro(c.At).UTC()
	}
	return h
}

// around reads the entries beside a hit.
func (s *search) around(ctx context.Context, c *candidate, h *Hit) error {
	for _, side := range []struct {
		where, order string
		to           *[]Line
	}{{"<", "DESC", &h.Before}, {">", "ASC", &h.After}} {
		rows, err := s.rows(ctx, `WHERE i.source = ? AND i.seq `+side.where+` ? AND coalesce(i.origin, 0) = ?
			AND i.doc IS NOT NULL ORDER BY i.seq `+side.order+` LIMIT ?`, c.Source, c.Sequence, c.Origin, s.q.Context)
		if err != nil {
			return err
		}
		for _, row := range rows {
			e, err := s.a.Show(row.Ref)
			if err != nil {
				return err
			}
			*side.to = append(*side.to, Line{row.Sequence, row.Type, row.Tool, oneLine(e.Text(), 160)})
		}
		if side.where == "<" {
			slices.Reverse(*side.to)
		}
	}
	return nil
}
