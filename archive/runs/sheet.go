package runs

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"conclave/transcript"
)

// Sheet is the places of all entries of one run, in order. What a caller holds is
// never changed: a run that grows has a new one.
type Sheet struct {
	Run   string
	Epoch int // another one: earlier entries have other numbers now
	Lanes []string
	Tools []string

	entries     []entry
	first, last int64            // the times between which they are
	pieces      map[int64]*piece // by source
	version     string           // of the sources that it was made of
	calls       map[string]int32 // where a tool was called, by the call's id
	packed      map[Part]*Columns
	docs        func() map[int64][]int // the entries of each number in the index of words
}

// piece is what a sheet has read of a source.
type piece struct {
	at, first int64 // its last block
	entries   []entry
}

// entry is one entry: where it is, and what a picture of the run needs.
type entry struct {
	id, source, origin int64
	seq, at, doc       int64
	order              int64 // by which lanes are woven: a time, and never less than the one before it
	chars, tokens      int32
	call               int32 // of a result: the number of its call; -1: none
	lane, tool         uint16
	typ                uint8 // in letters
	flags              uint8
	toolID             string
}

// What is to be seen of an entry in a picture.
const (
	FlagPrompt = 1 << iota
	FlagError
	FlagCall
	FlagResult
	FlagThinking
	FlagEdit
)

// letters stand for the types of entries, in the order of types.
const letters = "uacrtskex"

var types = []transcript.Type{
	transcript.UserMessage, transcript.AssistantMessage, transcript.ToolUse, transcript.ToolResult,
	transcript.Thinking, transcript.SystemEvent, transcript.TokenUsage, transcript.Error, transcript.Unknown,
}

func typeCode(t transcript.Type) uint8 {
	if i := slices.Index(types, t); i >= 0 {
		return uint8(i)
	}
	return uint8(len(types) - 1)
}

// maxHeld is how many entries the sheets that are kept may have together.
const maxHeld = 2_000_000

// Sheet is the places of the entries of a run as the shelf knows it; nil when
// there is no such run.
func (s *Shelf) Sheet(ctx context.Context, run string) (*Sheet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.byRun[run]
	if len(list) == 0 {
		return nil, nil
	}
	var old *Sheet
	if i := slices.IndexFunc(s.sheets, func(h *Sheet) bool { return h.Run == run }); i >= 0 {
		old = s.sheets[i]
		s.sheets = slices.Delete(s.sheets, i, i+1)
	}
	sheet, err := s.renewed(ctx, run, list, old)
	if err != nil {
		return nil, fmt.Errorf("read the entries of %s: %w", run, err)
	}
	s.sheets = slices.Insert(s.sheets, 0, sheet)
	held := 0
	for i, h := range s.sheets {
		if held += len(h.entries); held > maxHeld && i > 0 {
			s.sheets = slices.Clip(s.sheets[:i])
			break
		}
	}
	return sheet, nil
}

func (s *Shelf) renewed(ctx context.Context, run string, list []*source, old *Sheet) (*Sheet, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, (*source).order)
	var version strings.Builder
	for _, src := range list {
		fmt.Fprintf(&version, "%d %d %d %d %s;", src.id, src.pos, src.size, src.mtime, src.state)
	}
	if old != nil && old.version == version.String() {
		return old, nil
	}
	sheet := &Sheet{Run: run, version: version.String(), pieces: map[int64]*piece{}, calls: map[string]int32{}}
	if old != nil {
		sheet.Lanes, sheet.Tools, sheet.Epoch = slices.Clip(old.Lanes), slices.Clip(old.Tools), old.Epoch
	}
	for _, src := range list {
		var have *piece
		if old != nil && !src.shared {
			have = old.pieces[src.id]
		}
		p, err := s.piece(ctx, sheet, src, list, have)
		if err != nil {
			return nil, err
		}
		sheet.pieces[src.id] = p
	}
	sheet.weave(list)
	sheet.docs = sync.OnceValue(sheet.byDoc)
	if old != nil && !sheet.continues(old) {
		sheet.Epoch++
	}
	return sheet, nil
}

// piece reads the entries of a source, or what is new in it: the last block that
// have knows is read again.
func (s *Shelf) piece(ctx context.Context, sheet *Sheet, src *source, list []*source, have *piece) (*piece, error) {
	pos, first, err := s.lastBlock(ctx, src.id)
	if err != nil {
		return nil, err
	}
	p, from := &piece{at: pos, first: first}, int64(0)
	where, args := "source = ?", []any{src.id}
	if have != nil && have.at <= pos && have.first > 0 {
		from = have.first
		kept, _ := slices.BinarySearchFunc(have.entries, from, func(e entry, id int64) int { return cmp.Compare(e.id, id) })
		p.entries = slices.Clip(have.entries[:kept])
		where, args = "+source = ? AND id >= ?", []any{src.id, from}
	}
	if src.shared {
		where += " AND (copy IS NULL OR copy NOT IN (?" + strings.Repeat(",?", len(list)-1) + "))"
		for _, other := range list {
			args = append(args, other.id)
		}
	}
	query := `SELECT id, coalesce(origin, 0), coalesce(seq, 0), coalesce(at, 0), coalesce(doc, 0), chars,
		coalesce(failed, 0), type, tool, tool_id FROM items WHERE type IS NOT NULL AND ` + where + " ORDER BY id"
	err = eachRow(ctx, s.a.Reader(), query, args, func(v []driver.Value) {
		n := func(i int) int64 { x, _ := v[i].(int64); return x }
		e := entry{id: n(0), source: src.id, origin: n(1), seq: n(2), at: n(3), doc: n(4), chars: int32(n(5)), call: -1}
		typ, _ := v[7].(string)
		tool, called := v[8].(string)
		e.toolID, _ = v[9].(string)
		e.typ, e.lane = typeCode(transcript.Type(typ)), number(&sheet.Lanes, s.originOf(e.origin).agent)
		if called {
			e.tool = number(&sheet.Tools, tool) + 1
		}
		e.flags = flagsOf(types[e.typ], tool, n(6) != 0)
		p.entries = append(p.entries, e)
	})
	if err != nil {
		return nil, err
	}
	return p, s.tokens(ctx, src, p.entries, from)
}

// eachRow calls take for each row. It goes past database/sql, whose locks and
// conversions take longer than a short row.
func eachRow(ctx context.Context, db *sql.DB, query string, args []any, take func([]driver.Value)) (err error) {
	conn, err := db.Conn(ctx)
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
		for i, a := range args {
			named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
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
			take(values)
		}
	})
}

// number is the place of a name in a list, at the end of which it is put if it is
// not there.
func number(list *[]string, name string) uint16 {
	for i, n := range *list {
		if n == name {
			return uint16(i)
		}
	}
	if len(*list) < 1<<15 {
		*list = append(*list, name)
	}
	return uint16(len(*list) - 1)
}

func flagsOf(typ transcript.Type, tool string, failed bool) (f uint8) {
	switch typ {
	case transcript.UserMessage:
		f = FlagPrompt
	case transcript.Error:
		f = FlagError
	case transcript.ToolUse:
		if f = FlagCall; edits(tool) {
			f |= FlagEdit
		}
	case transcript.ToolResult:
		f = FlagResult
	case transcript.Thinking:
		f = FlagThinking
	}
	if failed {
		f |= FlagError
	}
	return f
}

// tokens puts the tokens of responses to the entries that tell of them, each
// response once.
func (s *Shelf) tokens(ctx context.Context, src *source, entries []entry, from int64) error {
	put := func(e *entryCost) {
		i, ok := slices.BinarySearchFunc(entries, e.item, func(e entry, id int64) int { return cmp.Compare(e.id, id) })
		if ok {
			entries[i].tokens = int32(min(e.Total(), 1<<31-1))
		}
	}
	if from == 0 {
		for _, e := range s.ledger.held {
			if e.source == src {
				put(e)
			}
		}
		return nil
	}
	where, args := "usage_rows WHERE +source = ? AND item >= ?", []any{src.id, from}
	return s.ledger.read(ctx, s.a.Reader(), s.sources, where, args, func(key string, e *entryCost) {
		if held := s.ledger.held[digestOf(key)]; held != nil && held.item == e.item {
			put(e)
		}
	})
}

// weave puts the entries of all lanes in order: those of a source as they stand
// there, the sources by time.
func (h *Sheet) weave(list []*source) {
	n := 0
	for _, p := range h.pieces {
		n += len(p.entries)
	}
	h.entries = make([]entry, 0, n)
	for _, src := range list {
		p := h.pieces[src.id]
		at := firstTime(p.entries)
		order := at
		for _, e := range p.entries { // a copy: those of the piece keep their own time
			if e.at == 0 {
				e.at = at
			}
			at, order = e.at, max(order, e.at)
			e.order = order
			h.first, h.last = least(h.first, at), max(h.last, at)
			h.entries = append(h.entries, e)
		}
	}
	if len(list) > 1 {
		slices.SortStableFunc(h.entries, func(a, b entry) int { return cmp.Compare(a.order, b.order) })
	}
	for i := range h.entries {
		e := &h.entries[i]
		switch {
		case e.toolID == "":
		case types[e.typ] == transcript.ToolUse:
			h.calls[e.toolID] = int32(i)
		case types[e.typ] == transcript.ToolResult:
			if at, ok := h.calls[e.toolID]; ok {
				e.call = at
			}
		}
	}
}

// firstTime is the first time that an entry bears.
func firstTime(list []entry) int64 {
	for i := range list {
		if list[i].at != 0 {
			return list[i].at
		}
	}
	return 0
}

// Unsettled is how many entries at the end of a run may still change without
// another Epoch: what a program holds back, such as the tokens of a response that
// goes on, moves behind what it writes next.
const Unsettled = 64

// continues says that every entry of old but the last ones has the number that it
// had.
func (h *Sheet) continues(old *Sheet) bool {
	settled := max(len(old.entries)-Unsettled, 0)
	if settled > len(h.entries) {
		return false
	}
	for i := range settled {
		if a, b := &old.entries[i], &h.entries[i]; a.source != b.source || a.seq != b.seq || a.typ != b.typ {
			return false
		}
	}
	return true
}

// Total is how many entries the run has.
func (h *Sheet) Total() int { return len(h.entries) }
