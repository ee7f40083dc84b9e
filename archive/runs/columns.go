package runs

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"math"
	"sync"
)

// Columns are the entries of a run as arrays of numbers, in the form in which a
// page holds them, so that a hundred thousand entries need no parser:
//
//	bytes 0–3    how long the head is (little endian, as everything)
//	head         JSON: {"run":…, "epoch":0, "from":0, "total":3, "began":ms, "lanes":["main"],
//	             "tools":["Bash"], "columns":[["at","f64"], ["size","u32"], …],
//	             "counts":[[117,1,2], …]}, filled up with spaces to a length of which, with the
//	             4 bytes, 8 is a factor
//	columns      one after the other in the order of the head, a number for each entry
//	             from "from" on: f64, i32, u32, u16, i16, u8
//
// Look are the columns by which a page can lay the entries out; the others can come
// later.
//
// type is a letter: u prompt, a words of the agent, c call of a tool, r its
// result, t thinking, s system event, k token usage, e error, x unknown. at counts
// milliseconds from began, which counts them from 1970; size is characters, 65535
// of more; flag
// is the sum of 1 prompt, 2 error, 4 call, 8 result, 16 thinking, 32 call of a tool
// that edits; tool is a place in tools; call is the number of the call that a result answers; -1
// where there is none. counts says of each type, as a number, and each flag how many
// of these entries have both.
type Columns struct {
	Data []byte
	// Gzip compresses them, once.
	Gzip func() []byte
}

// columns are in the order of their width, so that each begins where a reader can
// look at it as an array.
var columns = []struct {
	name, kind string
	look       bool
	put        func(b []byte, e *entry, began int64) []byte
}{
	{"at", "f64", false, func(b []byte, e *entry, began int64) []byte {
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(max(e.at/1000-began, 0))))
	}},
	{"tokens", "u32", false, func(b []byte, e *entry, _ int64) []byte {
		return binary.LittleEndian.AppendUint32(b, uint32(e.tokens))
	}},
	{"call", "i32", false, func(b []byte, e *entry, _ int64) []byte {
		return binary.LittleEndian.AppendUint32(b, uint32(e.call))
	}},
	{"size", "u16", true, func(b []byte, e *entry, _ int64) []byte {
		return binary.LittleEndian.AppendUint16(b, uint16(min(e.chars, math.MaxUint16)))
	}},
	{"lane", "u16", true, func(b []byte, e *entry, _ int64) []byte {
		return binary.LittleEndian.AppendUint16(b, e.lane)
	}},
	{"tool", "i16", false, func(b []byte, e *entry, _ int64) []byte {
		return binary.LittleEndian.AppendUint16(b, e.tool-1)
	}},
	{"type", "u8", true, func(b []byte, e *entry, _ int64) []byte { return append(b, letters[e.typ]) }},
	{"flag", "u8", true, func(b []byte, e *entry, _ int64) []byte { return append(b, e.flags) }},
}

// Part says which columns.
type Part string

// The parts of the columns.
const (
	Whole Part = ""
	Look  Part = "look"
	Rest  Part = "rest"
)

// Columns are those of the entries from one on.
func (h *Sheet) Columns(from int, part Part) (*Columns, error) {
	from = min(max(from, 0), h.Total())
	began := h.first / 1000
	var kinds [][2]string
	for _, c := range columns {
		if part.has(c.look) {
			kinds = append(kinds, [2]string{c.name, c.kind})
		}
	}
	head, err := json.Marshal(struct {
		Run     string      `json:"run"`
		Epoch   int         `json:"epoch"`
		From    int         `json:"from"`
		Total   int         `json:"total"`
		Began   int64       `json:"began"`
		Lanes   []string    `json:"lanes"`
		Tools   []string    `json:"tools"`
		Columns [][2]string `json:"columns"`
		Counts  [][3]int    `json:"counts"`
	}{h.Run, h.Epoch, from, h.Total(), began, append([]string{}, h.Lanes...), append([]string{}, h.Tools...), kinds,
		h.counts(from)})
	if err != nil {
		return nil, err
	}
	for len(head)%8 != 4 {
		head = append(head, ' ')
	}
	b := make([]byte, 0, len(head)+4+24*(h.Total()-from))
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(head))), head...)
	for _, c := range columns {
		if !part.has(c.look) {
			continue
		}
		for n := from; n < h.Total(); n++ {
			b = c.put(b, h.at(n), began)
		}
	}
	return &Columns{b, sync.OnceValue(func() []byte { return compressed(b) })}, nil
}

// counts are how many entries from one on have a type, in letters, and flags.
func (h *Sheet) counts(from int) [][3]int {
	var all [len(letters)][256]int
	for n := from; n < h.Total(); n++ {
		e := h.at(n)
		all[e.typ][e.flags]++
	}
	list := [][3]int{}
	for typ := range all {
		for flags, n := range all[typ] {
			if n > 0 {
				list = append(list, [3]int{int(letters[typ]), flags, n})
			}
		}
	}
	return list
}

// Known says that there is such a part.
func (p Part) Known() bool { return p == Whole || p == Look || p == Rest }

func (p Part) has(look bool) bool { return p == Whole || look == (p == Look) }

// Packed are the columns of all entries, made once.
func (s *Shelf) Packed(h *Sheet, part Part) (*Columns, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := h.packed[part]; c != nil {
		return c, nil
	}
	c, err := h.Columns(0, part)
	if err == nil {
		if h.packed == nil {
			h.packed = map[Part]*Columns{}
		}
		h.packed[part] = c
	}
	return c, err
}

func compressed(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is
	_, _ = w.Write(data)                            // into memory
	_ = w.Close()
	return b.Bytes()
}
