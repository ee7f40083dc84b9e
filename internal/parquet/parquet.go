// Package parquet writes a table as an Apache Parquet file, which the tools of
// those who analyse data read by column: DuckDB, Arrow, Spark, Polars.
//
// A column holds texts, whole numbers, numbers, truths, times or lists of texts;
// a cell of any of them may be absent. Rows come one after the other. A page is
// packed when it has grown to a mebibyte and a row group is written when its
// packed pages have grown to thirty-two, so that memory does not grow with the
// table but by what the footer says of each group.
//
// Of the format it uses what every reader knows: pages of the first version,
// values as they are, levels as runs, packed by Snappy, the null counts of each
// column. There are no dictionaries, indexes and bloom filters.
//
// It refuses a row that does not fit the columns, and a page that is longer than
// the format can say; after an error nothing more is written. A file without its
// footer is no file: Close writes it.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"conclave/internal/pack"
)

// Kind is what the cells of a column are.
type Kind uint8

// The kinds.
const (
	Text  Kind = iota + 1
	Texts      // a list of texts
	Int
	Real
	Bool
	Time // an instant, to the microsecond
)

// Column is one of a table.
type Column struct {
	Name string
	Kind Kind
}

// Cell is a value in a row. The zero value is an absent one.
type Cell struct {
	kind  Kind
	text  string
	texts []string
	n     uint64
}

// OfText is a cell with a text. What is no UTF-8 in it is replaced: the format
// has texts in no other form.
func OfText(s string) Cell { return Cell{kind: Text, text: s} }

// OfTexts is a cell with a list of texts, which may be empty.
func OfTexts(list []string) Cell { return Cell{kind: Texts, texts: list} }

// OfInt is a cell with a whole number.
func OfInt(n int64) Cell { return Cell{kind: Int, n: uint64(n)} }

// OfReal is a cell with a number.
func OfReal(x float64) Cell { return Cell{kind: Real, n: math.Float64bits(x)} }

// OfBool is a cell with a truth.
func OfBool(b bool) Cell {
	c := Cell{kind: Bool}
	if b {
		c.n = 1
	}
	return c
}

// OfTime is a cell with an instant.
func OfTime(t time.Time) Cell { return Cell{kind: Time, n: uint64(t.UnixMicro())} }

const (
	pageBytes  = 1 << 20
	groupBytes = 32 << 20
	groupRows  = 1 << 20
)

var magic = []byte("PAR1")

// Writer writes a table.
type Writer struct {
	out     io.Writer
	at      int64 // bytes written
	columns []*column
	groups  []group
	rows    int64 // of the group at hand
	all     int64
	creator string
	err     error
}

// group is what the footer says of a row group.
type group struct {
	rows   int64
	chunks []chunk
}

type chunk struct {
	at, packed, plain, values, absent int64
}

// column gathers the cells of one column for the group at hand.
type column struct {
	Column
	rep, def levels
	values   []byte // of the page at hand
	bits     int    // of its truths
	pages    []byte // packed, with their headers
	chunk
}

// NewWriter begins a file that creator has made.
func NewWriter(out io.Writer, creator string, columns ...Column) (*Writer, error) {
	w := &Writer{out: out, creator: creator}
	for _, c := range columns {
		if c.Name == "" || c.Kind < Text || c.Kind > Time {
			return nil, fmt.Errorf("parquet: no column can be %+v", c)
		}
		w.columns = append(w.columns, &column{Column: c})
	}
	if len(columns) == 0 {
		return nil, errors.New("parquet: a table needs a column")
	}
	w.write(magic)
	return w, w.err
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.at, w.err = w.at+int64(n), err
}

// Row adds a row, a cell for each column.
func (w *Writer) Row(cells ...Cell) error {
	if w.err != nil {
		return w.err
	}
	if len(cells) != len(w.columns) {
		w.err = fmt.Errorf("parquet: a row of %d cells for %d columns", len(cells), len(w.columns))
		return w.err
	}
	size := 0
	for i, c := range w.columns {
		if cells[i].kind != 0 && cells[i].kind != c.Kind {
			w.err = fmt.Errorf("parquet: a cell of column %s is of another kind", c.Name)
			return w.err
		}
		c.add(cells[i])
		if len(c.values) >= pageBytes || c.def.count >= groupRows {
			w.err = c.endPage()
		}
		size += len(c.pages)
	}
	w.rows++
	if size >= groupBytes || w.rows >= groupRows {
		w.endGroup()
	}
	return w.err
}

// Levels of a list: it is absent, it is empty, it has an element; and whether an
// element begins a row. Of everything else: it is absent, or there.
func (c *column) add(v Cell) {
	if v.kind == 0 {
		c.def.add(0)
		c.rep.add(0)
		c.absent++
		return
	}
	if c.Kind != Texts {
		c.def.add(1)
	}
	switch c.Kind {
	case Text:
		c.text(v.text)
	case Texts:
		if len(v.texts) == 0 {
			c.def.add(1)
			c.rep.add(0)
			c.absent++
		}
		for i, s := range v.texts {
			c.def.add(2)
			c.rep.add(min(i, 1))
			c.text(s)
		}
	case Bool:
		if c.bits%8 == 0 {
			c.values = append(c.values, 0)
		}
		c.values[len(c.values)-1] |= byte(v.n) << (c.bits % 8)
		c.bits++
	default:
		c.values = binary.LittleEndian.AppendUint64(c.values, v.n)
	}
}

func (c *column) text(s string) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	c.values = append(binary.LittleEndian.AppendUint32(c.values, uint32(len(s))), s...)
}

// endPage packs the page at hand.
func (c *column) endPage() error {
	count := c.def.count
	if count == 0 {
		return nil
	}
	var plain []byte
	if c.Kind == Texts {
		plain = c.rep.appendTo(plain)
	}
	plain = append(c.def.appendTo(plain), c.values...)
	if len(plain) > math.MaxInt32 {
		return fmt.Errorf("parquet: a page of column %s has %d bytes, more than the format can say", c.Name, len(plain))
	}
	packed := pack.Snappy(nil, plain)
	var h thrift
	h.structure(func() {
		h.int(1, 0) // a data page
		h.int(2, int64(len(plain)))
		h.int(3, int64(len(packed)))
		h.object(5, func() {
			h.int(1, int64(count))
			h.int(2, encodingPlain)
			h.int(3, encodingRLE)
			h.int(4, encodingRLE)
		})
	})
	c.pages = append(append(c.pages, h.b...), packed...)
	c.plain += int64(len(h.b) + len(plain))
	c.packed += int64(len(h.b) + len(packed))
	c.chunk.values += int64(count)
	c.values, c.bits, c.rep, c.def = c.values[:0], 0, levels{runs: c.rep.runs[:0]}, levels{runs: c.def.runs[:0]}
	return nil
}

// endGroup writes the columns one after the other.
func (w *Writer) endGroup() {
	if w.rows == 0 || w.err != nil {
		return
	}
	g := group{rows: w.rows}
	for _, c := range w.columns {
		if err := c.endPage(); err != nil {
			w.err = err
			return
		}
		c.at = w.at
		w.write(c.pages)
		g.chunks = append(g.chunks, c.chunk)
		c.pages, c.chunk = c.pages[:0], chunk{}
	}
	w.groups = append(w.groups, g)
	w.all, w.rows = w.all+w.rows, 0
}

// Close writes what is left, and the footer. It does not close the output.
func (w *Writer) Close() error {
	w.endGroup()
	if w.err != nil {
		return w.err
	}
	footer := w.footer()
	w.write(footer)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.write(magic)
	err := w.err
	if err == nil {
		w.err = errors.New("parquet: the file is closed")
	}
	return err
}

// levels are gathered as runs: how many times which.
type levels struct {
	runs  []run
	count int
}

type run struct{ level, times int }

func (l *levels) add(level int) {
	l.count++
	if n := len(l.runs); n > 0 && l.runs[n-1].level == level {
		l.runs[n-1].times++
		return
	}
	l.runs = append(l.runs, run{level, 1})
}

func (l *levels) appendTo(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for _, r := range l.runs {
		dst = append(binary.AppendUvarint(dst, uint64(r.times)<<1), byte(r.level))
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
