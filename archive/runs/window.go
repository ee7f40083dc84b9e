package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"conclave/archive"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Entry is an entry as a page shows it. Texts are redacted.
type Entry struct {
	N        int             `json:"n"`
	Type     transcript.Type `json:"type"`
	Subtype  string          `json:"subtype,omitempty"`
	Lane     string          `json:"lane"`
	Seq      int64           `json:"sequence_number"`
	At       time.Time       `json:"at,omitzero"`
	Role     string          `json:"role,omitempty"`
	Model    string          `json:"model,omitempty"`
	Text     string          `json:"text"`
	Size     int             `json:"size,omitempty"` // characters of the whole text, where it is longer
	More     bool            `json:"more,omitempty"` // text or input are cut
	Tool     string          `json:"tool,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	ResultOf *int            `json:"result_of,omitempty"` // the number of the call
	Failed   bool            `json:"failed,omitempty"`
	Changes  []Change        `json:"changes,omitempty"` // of a call that edits
	Tokens   json.RawMessage `json:"tokens,omitempty"`  // what its response consumed, in the words of a detail
	Cost     *float64        `json:"cost,omitempty"`
	Fault    string          `json:"fault,omitempty"`
}

// Window is some entries of a run.
type Window struct {
	Run   string  `json:"run"`
	Epoch int     `json:"epoch"`
	Total int     `json:"total"`
	From  int     `json:"from"`
	Items []Entry `json:"items"`
}

const (
	// MaxWindow is how many entries come at a time.
	MaxWindow = 1000
	// MaxText is how many characters of an entry come in a window.
	MaxText = 20000
)

// Window reads n entries from one on.
func (s *Shelf) Window(ctx context.Context, h *Sheet, from, n int) (Window, error) {
	w, gone, err := s.window(ctx, h, from, n)
	if gone && err == nil {
		if h = s.again(ctx, h.Run); h != nil {
			w, _, err = s.window(ctx, h, from, n)
		}
	}
	return w, err
}

// again is the sheet of a run of which rows were gone: they have been read again
// since it was made. It is nil where there is none.
func (s *Shelf) again(ctx context.Context, run string) *Sheet {
	ctx = context.WithoutCancel(ctx) // others are waiting for it, too
	if s.Reread(ctx) != nil {
		return nil
	}
	h, err := s.Sheet(ctx, run)
	if err != nil {
		return nil
	}
	return h
}

// window is Window; gone says that rows are not there any more.
func (s *Shelf) window(ctx context.Context, h *Sheet, from, n int) (_ Window, gone bool, err error) {
	from = min(max(from, 0), h.Total())
	to := min(from+min(max(n, 0), MaxWindow), h.Total())
	w := Window{Run: h.Run, Epoch: h.Epoch, Total: h.Total(), From: from, Items: []Entry{}}
	rows, err := s.rows(ctx, h.span(from, to))
	if err != nil {
		return w, false, err
	}
	costs, err := s.costs(ctx, h.span(from, to))
	if err != nil {
		return w, false, err
	}
	for i := from; i < to; i++ {
		e := h.at(i)
		item := h.bare(i)
		row, ok := rows[e.id]
		if !ok {
			gone = true
			item.Fault = "it was read again just now: load the run anew"
			w.Items = append(w.Items, item)
			continue
		}
		shown, err := s.a.Show(row.Ref)
		if err != nil {
			item.Fault = err.Error() // of one entry; the others can be read
			w.Items = append(w.Items, item)
			continue
		}
		item.fill(&row, shown, costs[e.id])
		item.cut()
		w.Items = append(w.Items, item)
	}
	return w, gone, nil
}

// Whole is one entry with all that it says; ok is false when there is none.
func (s *Shelf) Whole(ctx context.Context, h *Sheet, n int) (item Entry, raw []byte, ok bool, err error) {
	if n < 0 || n >= h.Total() {
		return item, nil, false, nil
	}
	one := h.span(n, n+1)
	rows, err := s.rows(ctx, one)
	if err != nil {
		return item, nil, true, err
	}
	costs, err := s.costs(ctx, one)
	if err != nil {
		return item, nil, true, err
	}
	row, ok := rows[one[0].id]
	if !ok {
		if fresh := s.again(ctx, h.Run); fresh != nil && fresh != h {
			return s.Whole(ctx, fresh, n)
		}
		return item, nil, true, fmt.Errorf("entry %d of %s was read again just now: load the run anew", n, h.Run)
	}
	shown, err := s.a.Show(row.Ref)
	if err != nil {
		return item, nil, true, err
	}
	item = h.bare(n)
	item.fill(&row, shown, costs[row.ID])
	return item, shown.Line, true, nil
}

// bare is what the sheet knows of an entry.
func (h *Sheet) bare(n int) Entry {
	e := h.at(n)
	item := Entry{N: n, Type: types[e.typ], Lane: h.Lanes[e.lane], Seq: e.seq, At: stamp(e.at)}
	item.Failed = e.flags&FlagError != 0
	if e.tool > 0 {
		item.Tool = h.Tools[e.tool-1]
	}
	if e.call >= 0 {
		call := int(e.call)
		item.ResultOf = &call
		if item.Tool == "" && h.at(call).tool > 0 {
			item.Tool = h.Tools[h.at(call).tool-1]
		}
	}
	return item
}

func (e *Entry) fill(row *archive.Row, s *archive.Shown, cost *entryCost) {
	e.Role, e.Text = row.Seat, string(bytes.ToValidUTF8(s.Text(), []byte("\uFFFD")))
	e.Subtype = jsontext.Text(jsontext.Get(s.Detail, "subtype"))
	if e.Type == transcript.ToolUse {
		if in := s.Input(); jsontext.Valid(in) {
			e.Input = in
			if edits(e.Tool) {
				e.Changes = changes(in)
			}
		}
	}
	if cost != nil {
		e.Model = cost.model
		e.Tokens = cost.AppendJSON(nil)
		if cost.priced {
			e.Cost = &cost.cost
		}
	}
}

// cut shortens what is too long for a window.
func (e *Entry) cut() {
	if len(e.Text) > MaxText {
		if n := utf8.RuneCountInString(e.Text); n > MaxText {
			e.Size, e.More = n, true
			e.Text = strings.Clone(head(e.Text, MaxText))
		}
	}
	if len(e.Input) > MaxText {
		e.Input, e.More = nil, true
	}
}

// head is the first n characters of a text.
func head(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// rows reads the rows of entries, by id.
func (s *Shelf) rows(ctx context.Context, list []entry) (map[int64]archive.Row, error) {
	found := make(map[int64]archive.Row, len(list))
	if len(list) == 0 {
		return found, nil
	}
	where, args := in(list)
	for row, err := range s.a.Rows(ctx, "WHERE i.id"+where, args...) {
		if err != nil {
			return nil, err
		}
		found[row.ID] = row
	}
	return found, nil
}

// costs are what responses the entries tell of, each response once.
func (s *Shelf) costs(ctx context.Context, list []entry) (map[int64]*entryCost, error) {
	found := map[int64]*entryCost{}
	if len(list) == 0 {
		return found, nil
	}
	where, args := in(list)
	s.mu.Lock()
	defer s.mu.Unlock()
	take := func(key string, e *entryCost) {
		if held := s.ledger.held[digestOf(key)]; held != nil && held.item == e.item {
			found[e.item] = e
		}
	}
	return found, s.ledger.read(ctx, s.a.Reader(), s.sources, "usage_rows WHERE item"+where, args, take)
}

func in(list []entry) (where string, args []any) {
	for i := range list {
		args = append(args, list[i].id)
	}
	return " IN (?" + strings.Repeat(",?", len(list)-1) + ")", args
}
