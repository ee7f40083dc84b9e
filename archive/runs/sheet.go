package runs

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"conclave/transcript"
)

// Sheet is the places of all entries of one run, in order. What a caller holds is
// never changed: a run that grows has a new one, which shares what has not changed.
type Sheet struct {
	Run   string
	Epoch int // another one: earlier entries have other numbers now
	Lanes []string
	Tools []string

	base        []entry          // the first entries: the sheets before and behind this one may have the same
	tail        []entry          // those behind them
	first, last int64            // the times between which they are
	pieces      map[int64]*piece // by source
	calls       map[string]int32 // where a tool was called in base, by the call's id; for the next sheet alone
	packed      map[Part]*Columns
	head        *Head
	docs        func() docs // the entries of each number in the index of words
}

// piece is what a sheet has read of a source.
type piece struct {
	was         source // as it was then
	at, first   int64  // its last block: it is read again when the file grows
	begins      int64  // the order of that block's first entry
	time, order int64  // of the entry before that
	timed       bool   // some entry bears a time
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

// Total is how many entries the run has.
func (h *Sheet) Total() int { return len(h.base) + len(h.tail) }

// at is the entry of a number.
func (h *Sheet) at(n int) *entry {
	if n < len(h.base) {
		return &h.base[n]
	}
	return &h.tail[n-len(h.base)]
}

// index is the number of the first entry of which is true what is wanted; -1: there
// is none.
func (h *Sheet) index(want func(*entry) bool) int {
	for n := range h.Total() {
		if want(h.at(n)) {
			return n
		}
	}
	return -1
}

// span are some entries.
func (h *Sheet) span(from, to int) []entry {
	b := len(h.base)
	switch {
	case to <= b:
		return h.base[from:to]
	case from >= b:
		return h.tail[from-b : to-b]
	}
	return append(slices.Clone(h.base[from:]), h.tail[:to-b]...)
}

// What is to be seen of an entry in a picture.
const (
	FlagPrompt = 1 << iota
	FlagError
	FlagCall
	FlagResult
	FlagThinking
	FlagEdit // a call of a tool that changes files, whatever came of it
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
		if held += h.Total(); held > maxHeld && i > 0 {
			s.sheets = slices.Clip(s.sheets[:i])
			break
		}
	}
	return sheet, nil
}

// readAhead is how many entries of the runs that went on last are read before anybody
// asks, and how many a run has for that to be felt.
const (
	readAhead = 300_000
	longRun   = 5_000
)

// ReadAhead reads what a page asks for first of the long runs that went on last, so
// that who opens one does not wait.
func (s *Shelf) ReadAhead(ctx context.Context, now time.Time) error {
	list, err := s.List(ctx, Filter{N: 20}, now)
	if err != nil {
		return err
	}
	read := 0
	for _, r := range list.Items {
		if read += r.Entries; r.Entries < longRun || read > readAhead {
			continue
		}
		h, err := s.Sheet(ctx, r.ID)
		if err != nil || h == nil {
			return err
		}
		if _, err := s.Head(ctx, h); err != nil {
			return err
		}
		if _, err := s.Packed(h, Look); err != nil {
			return err
		}
	}
	return nil
}

func (s *Shelf) renewed(ctx context.Context, run string, list []*source, old *Sheet) (*Sheet, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, (*source).order)
	w := weaver{ranks: map[int64]int{}, changed: list,
		sheet: &Sheet{Run: run, pieces: map[int64]*piece{}, calls: map[string]int32{}}}
	for i, src := range list {
		w.ranks[src.id] = i
	}
	if old != nil {
		if old.isOf(list) {
			return old, nil
		}
		w.sheet.Lanes, w.sheet.Tools, w.sheet.Epoch = slices.Clip(old.Lanes), slices.Clip(old.Tools), old.Epoch
		w.goOn(list, old)
	}
	err := s.readChanged(ctx, &w, list)
	if errors.Is(err, errReplaced) {
		w.beginAnew(list)
		err = s.readChanged(ctx, &w, list)
	}
	if err != nil {
		return nil, err
	}
	w.weave()
	sheet := w.sheet
	sheet.docs = sync.OnceValue(sheet.byDoc)
	if old != nil && !w.continues(old) {
		sheet.Epoch++
	}
	return sheet, nil
}

// weaver makes a sheet.
type weaver struct {
	sheet   *Sheet
	ranks   map[int64]int // the order of sources
	old     *Sheet        // that goes on; nil: everything is read
	changed []*source
	fresh   []entry // that were read
	cut     int     // the number of the first entry that may be another one
}

// isOf says that a sheet was made of sources as they are.
func (h *Sheet) isOf(list []*source) bool {
	if len(list) != len(h.pieces) {
		return false
	}
	for _, src := range list {
		if have := h.pieces[src.id]; have == nil || !have.was.same(src) {
			return false
		}
	}
	return true
}

// goOn finds out which sources have changed since a sheet was made. Where entries of
// it may be gone, or their times unknown so far, everything is read.
func (w *weaver) goOn(list []*source, old *Sheet) {
	if old.pieces == nil {
		return
	}
	var changed []*source
	for _, src := range list {
		have := old.pieces[src.id]
		if src.shared || have != nil && !have.timed {
			return
		}
		if have == nil || !have.was.same(src) {
			changed = append(changed, src)
		}
	}
	w.changed, w.old, w.cut = changed, old, old.Total()
	maps.Copy(w.sheet.pieces, old.pieces)
	w.sheet.first, w.sheet.last = old.first, old.last
}

// beginAnew reads everything.
func (w *weaver) beginAnew(list []*source) {
	w.old, w.changed, w.fresh, w.cut = nil, list, nil, 0
	w.sheet.pieces, w.sheet.first, w.sheet.last = map[int64]*piece{}, 0, 0
}

// errReplaced: a file is another one than it was.
var errReplaced = errors.New("replaced")

func (s *Shelf) readChanged(ctx context.Context, w *weaver, list []*source) error {
	for _, src := range w.changed {
		if err := s.read(ctx, w, src, list); err != nil {
			return err
		}
	}
	return nil
}

// before is the number of the first entry of a sheet that does not stand before a
// source's entry of that order.
func (w *weaver) before(h *Sheet, order int64, source int64) int {
	rank := w.ranks[source]
	return sort.Search(h.Total(), func(n int) bool {
		e := h.at(n)
		return cmp.Or(cmp.Compare(e.order, order), cmp.Compare(w.ranks[e.source], rank)) >= 0
	})
}

// read reads the entries of a source, or what is new in it: the last block that is
// known is read again.
func (s *Shelf) read(ctx context.Context, w *weaver, src *source, list []*source) error {
	pos, first, err := s.lastBlock(ctx, src.id)
	if err != nil {
		return err
	}
	var entries []entry
	from := int64(0)
	where, args := "source = ?", []any{src.id}
	have := w.sheet.pieces[src.id]
	if have != nil && have.first > 0 {
		if have.at > pos {
			return errReplaced
		}
		from = have.first
		where, args = "+source = ? AND id >= ?", []any{src.id, from}
		w.cut = min(w.cut, w.before(w.old, have.begins, src.id))
	} else {
		first, last, n, err := s.rowsOf(ctx, src.id)
		if err != nil {
			return err
		}
		if last-first < 4*n { // to go through all of them is quicker than to look each up and to sort them
			where, args = "+source = ? AND id BETWEEN ? AND ?", []any{src.id, first, last}
		}
		entries = make([]entry, 0, n)
	}
	if src.shared {
		where += " AND (copy IS NULL OR copy NOT IN (?" + strings.Repeat(",?", len(list)-1) + "))"
		for _, other := range list {
			args = append(args, other.id)
		}
	}
	query := `SELECT id, coalesce(origin, 0), coalesce(seq, 0), coalesce(at, 0), coalesce(doc, 0), chars,
		coalesce(failed, 0), type, tool, tool_id FROM items WHERE type IS NOT NULL AND ` + where + " ORDER BY id"
	sheet := w.sheet
	err = s.a.Each(ctx, query, args, func(v []driver.Value) bool {
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
		entries = append(entries, e)
		return true
	})
	if err != nil {
		return err
	}
	if err := s.tokens(ctx, src, entries, from); err != nil {
		return err
	}
	w.take(src, entries, from, pos, first)
	return nil
}

// take puts entries of a source behind those that are known before one.
func (w *weaver) take(src *source, entries []entry, from, pos, first int64) {
	p := &piece{was: *src, at: pos, first: first}
	if have := w.sheet.pieces[src.id]; have != nil && from > 0 {
		p.time, p.order, p.timed = have.time, have.order, have.timed
	} else {
		p.time = firstTime(entries)
		p.order, p.timed = p.time, p.time != 0
	}
	at, order := p.time, p.order
	inLast := false
	for i := range entries {
		e := &entries[i]
		if e.at == 0 {
			e.at = at
		}
		if order = max(order, e.at); e.id >= first && !inLast {
			inLast, p.begins = true, order
		}
		if at = e.at; !inLast {
			p.time, p.order = at, order
		}
		e.order = order
		w.sheet.first, w.sheet.last = least(w.sheet.first, at), max(w.sheet.last, at)
	}
	if !inLast {
		p.begins = order
	}
	if len(entries) > 0 && w.old != nil {
		w.cut = min(w.cut, w.before(w.old, entries[0].order, src.id))
	}
	w.fresh = append(w.fresh, entries...)
	w.sheet.pieces[src.id] = p
}

// rowsOf is between which rows those of a source are, and how many there are.
func (s *Shelf) rowsOf(ctx context.Context, source int64) (first, last, n int64, err error) {
	err = s.a.Reader().QueryRowContext(ctx, `SELECT coalesce(min(id), 0), coalesce(max(id), 0), count(*)
		FROM items WHERE source = ?`, source).Scan(&first, &last, &n)
	return first, last, n, err
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
// there, the sources by time. What stands before the cut is as it was.
func (w *weaver) weave() {
	h := w.sheet
	rest := w.fresh
	if w.old != nil {
		h.base, h.calls = w.old.base, w.old.calls
		gone := map[int64]int64{}
		for _, src := range w.changed {
			if have := w.old.pieces[src.id]; have != nil {
				gone[src.id] = have.first
			}
		}
		for n := w.cut; n < w.old.Total(); n++ {
			e := *w.old.at(n)
			if first, ok := gone[e.source]; !ok || e.id < first {
				rest = append(rest, e)
			}
		}
		if b := len(h.base); w.cut < b {
			h.base = h.base[:w.cut:w.cut]
			h.calls = map[string]int32{}
			h.note(h.base, 0)
		} else {
			h.tail = slices.Clone(w.old.tail[:w.cut-b])
		}
	}
	slices.SortFunc(rest, w.compare)
	h.tail = append(h.tail, rest...)
	h.link()
	h.settle(w)
}

func (w *weaver) compare(a, b entry) int {
	switch {
	case a.order != b.order:
		return cmp.Compare(a.order, b.order)
	case a.source != b.source:
		return cmp.Compare(w.ranks[a.source], w.ranks[b.source])
	}
	return cmp.Compare(a.id, b.id)
}

// note remembers where tools were called, in entries from a number on.
func (h *Sheet) note(list []entry, from int) {
	for i := range list {
		if e := &list[i]; e.toolID != "" && types[e.typ] == transcript.ToolUse {
			h.calls[e.toolID] = int32(from + i)
		}
	}
}

// link says of the results in the tail which calls they answer.
func (h *Sheet) link() {
	calls := map[string]int32{}
	for i := range h.tail {
		e := &h.tail[i]
		switch {
		case e.toolID == "":
		case types[e.typ] == transcript.ToolUse:
			calls[e.toolID] = int32(len(h.base) + i)
		case types[e.typ] == transcript.ToolResult:
			e.call = -1
			if at, ok := calls[e.toolID]; ok {
				e.call = at
			} else if at, ok := h.calls[e.toolID]; ok {
				e.call = at
			}
		}
	}
}

// maxTail is how many entries a tail has, but for those of a longer last block.
const maxTail = 8192

// settle puts what is not read again before the tail: what stands before the last
// block of every source that may still grow. One that has been quiet for long may,
// too; then the entries behind it are put in order once more.
func (h *Sheet) settle(w *weaver) {
	stays := h.Total()
	for id, p := range h.pieces {
		grown := w.old != nil && slices.ContainsFunc(w.changed, func(src *source) bool { return src.id == id })
		if n := w.before(h, p.begins, id); grown || n >= h.Total()-maxTail {
			stays = min(stays, n)
		}
	}
	n := stays - len(h.base)
	if n <= 0 {
		return
	}
	h.note(h.tail[:n], len(h.base))
	h.base = append(h.base, h.tail[:n]...)
	h.tail = slices.Clone(h.tail[n:])
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
func (w *weaver) continues(old *Sheet) bool {
	settled := max(old.Total()-Unsettled, 0)
	if settled > w.sheet.Total() {
		return false
	}
	for n := w.cut; n < settled; n++ {
		if a, b := old.at(n), w.sheet.at(n); a.source != b.source || a.seq != b.seq || a.typ != b.typ {
			return false
		}
	}
	return true
}
