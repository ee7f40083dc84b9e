package runs

import (
	"bytes"
	"compress/gzip"
	"strconv"

	"encoding/json"
)

// Columns are the entries of a run in one object of arrays, as JSON:
//
//	{"run":…, "epoch":0, "from":0, "total":3, "began":ms, "lanes":["main"], "tools":["Bash"],
//	 "type":"ucr", "lane":[0,0,0], "at":[0,120,400], "size":[11,80,300], "flag":[1,4,8],
//	 "tool":[-1,0,0], "tokens":[0,0,0], "call":[-1,-1,1]}
//
// type has a letter for each entry: u prompt, a words of the agent, c call of a
// tool, r its result, t thinking, s system event, k token usage, e error, x
// unknown. at counts milliseconds from began, which counts them from 1970; size
// is characters; flag is the sum of 1 prompt, 2 error, 4 call, 8 result, 16
// thinking, 32 edit; tool is a place in tools; call is the number of the call
// that a result answers; -1 where there is none.
type Columns struct {
	JSON []byte
	gzip []byte
}

// Columns are those of the entries from one on.
func (h *Sheet) Columns(from int) (*Columns, error) {
	from = min(max(from, 0), len(h.entries))
	list := h.entries[from:]
	b := make([]byte, 0, 40*len(list)+1024)
	began := h.first / 1000
	head, err := json.Marshal(struct {
		Run   string   `json:"run"`
		Epoch int      `json:"epoch"`
		From  int      `json:"from"`
		Total int      `json:"total"`
		Began int64    `json:"began"`
		Lanes []string `json:"lanes"`
		Tools []string `json:"tools"`
	}{h.Run, h.Epoch, from, len(h.entries), began, append([]string{}, h.Lanes...), append([]string{}, h.Tools...)})
	if err != nil {
		return nil, err
	}
	b = append(append(b, head[:len(head)-1]...), `,"type":"`...)
	for i := range list {
		b = append(b, letters[list[i].typ])
	}
	b = append(b, '"')
	for _, c := range []struct {
		name  string
		value func(e *entry) int64
	}{
		{"lane", func(e *entry) int64 { return int64(e.lane) }},
		{"at", func(e *entry) int64 { return max(e.at/1000-began, 0) }},
		{"size", func(e *entry) int64 { return int64(e.chars) }},
		{"flag", func(e *entry) int64 { return int64(e.flags) }},
		{"tool", func(e *entry) int64 { return int64(e.tool) - 1 }},
		{"tokens", func(e *entry) int64 { return int64(e.tokens) }},
		{"call", func(e *entry) int64 { return int64(e.call) }},
	} {
		b = append(append(append(b, `,"`...), c.name...), `":[`...)
		for i := range list {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, c.value(&list[i]), 10)
		}
		b = append(b, ']')
	}
	return &Columns{JSON: append(b, '}')}, nil
}

// Packed are the columns of all entries, made and compressed once.
func (s *Shelf) Packed(h *Sheet) (*Columns, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.packed == nil {
		c, err := h.Columns(0)
		if err != nil {
			return nil, err
		}
		h.packed = c
	}
	return h.packed, h.packed.compress()
}

func (c *Columns) compress() error {
	if c.gzip != nil {
		return nil
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(c.JSON)
	}
	if err == nil {
		err = w.Close()
	}
	c.gzip = b.Bytes()
	return err
}

// Gzip are the columns compressed; nil where nobody has done that.
func (c *Columns) Gzip() []byte { return c.gzip }
