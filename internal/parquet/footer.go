package parquet

import "encoding/binary"

// What the footer calls things, by the format's published description.
const (
	encodingPlain = 0
	encodingRLE   = 3

	codecSnappy = 1

	optional = 1
	repeated = 2
)

// physical is how the cells of a kind are stored.
func (k Kind) physical() int64 {
	switch k {
	case Bool:
		return 0
	case Int, Time:
		return 2
	case Real:
		return 5
	}
	return 6 // bytes
}

func (w *Writer) footer() []byte {
	var t thrift
	t.structure(func() {
		t.int(1, 1) // version
		elements := 1 + len(w.columns)
		for _, c := range w.columns {
			if c.Kind == Texts {
				elements += 2
			}
		}
		t.list(2, thriftStruct, elements)
		t.structure(func() {
			t.text(4, "schema")
			t.int(5, int64(len(w.columns)))
		})
		for _, c := range w.columns {
			t.column(c.Column)
		}
		t.long(3, w.all)
		t.list(4, thriftStruct, len(w.groups))
		for _, g := range w.groups {
			t.group(g, w.columns)
		}
		t.text(6, w.creator)
	})
	return t.b
}

// column describes one: a list is a group in a group, as the format wants it.
func (t *thrift) column(c Column) {
	if c.Kind != Texts {
		t.element(c.Name, c.Kind, optional)
		return
	}
	t.structure(func() {
		t.int(3, optional)
		t.text(4, c.Name)
		t.int(5, 1)
		t.int(6, 3) // a list, to older readers
		t.object(10, func() { t.object(3, func() {}) })
	})
	t.structure(func() {
		t.int(3, repeated)
		t.text(4, "list")
		t.int(5, 1)
	})
	t.element("element", Text, 0)
}

func (t *thrift) element(name string, k Kind, repetition int64) {
	t.structure(func() {
		t.int(1, k.physical())
		t.int(3, repetition)
		t.text(4, name)
		switch k {
		case Text:
			t.int(6, 0) // UTF-8, to older readers
			t.object(10, func() { t.object(1, func() {}) })
		case Time:
			t.int(6, 10) // microseconds, to older readers
			t.object(10, func() {
				t.object(8, func() {
					t.truth(1, true) // in UTC
					t.object(2, func() { t.object(2, func() {}) })
				})
			})
		}
	})
}

func (t *thrift) group(g group, columns []*column) {
	var plain, packed int64
	for _, c := range g.chunks {
		plain, packed = plain+c.plain, packed+c.packed
	}
	t.structure(func() {
		t.list(1, thriftStruct, len(g.chunks))
		for i, c := range g.chunks {
			t.structure(func() {
				t.long(2, c.at)
				t.object(3, func() { t.chunk(c, columns[i].Column) })
			})
		}
		t.long(2, plain)
		t.long(3, g.rows)
		t.long(5, g.chunks[0].at)
		t.long(6, packed)
	})
}

func (t *thrift) chunk(c chunk, of Column) {
	path := []string{of.Name}
	if of.Kind == Texts {
		path = append(path, "list", "element")
	}
	t.int(1, of.Kind.physical())
	t.list(2, thriftInt, 2)
	t.zigzag(encodingPlain)
	t.zigzag(encodingRLE)
	t.list(3, thriftText, len(path))
	for _, p := range path {
		t.bytes(p)
	}
	t.int(4, codecSnappy)
	t.long(5, c.values)
	t.long(6, c.plain)
	t.long(7, c.packed)
	t.long(9, c.at)
	t.object(12, func() { t.long(3, c.absent) })
}

// thrift appends structures in Thrift's compact protocol.
type thrift struct {
	b    []byte
	last int64 // the field before, of the structure at hand
}

// The types of the protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftInt    = 5
	thriftLong   = 6
	thriftText   = 8
	thriftList   = 9
	thriftStruct = 12
)

func (t *thrift) field(id int64, typ byte) {
	if d := id - t.last; d > 0 && d < 16 {
		t.b = append(t.b, byte(d)<<4|typ)
	} else {
		t.b = append(t.b, typ)
		t.zigzag(id)
	}
	t.last = id
}

func (t *thrift) zigzag(n int64) { t.b = binary.AppendVarint(t.b, n) }

func (t *thrift) bytes(s string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

func (t *thrift) int(id, n int64) {
	t.field(id, thriftInt)
	t.zigzag(n)
}

func (t *thrift) long(id, n int64) {
	t.field(id, thriftLong)
	t.zigzag(n)
}

func (t *thrift) text(id int64, s string) {
	t.field(id, thriftText)
	t.bytes(s)
}

func (t *thrift) truth(id int64, b bool) {
	if b {
		t.field(id, thriftTrue)
	} else {
		t.field(id, thriftFalse)
	}
}

// list begins a list of n; its elements are appended after it.
func (t *thrift) list(id int64, typ byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|typ)
		return
	}
	t.b = binary.AppendUvarint(append(t.b, 0xF0|typ), uint64(n))
}

func (t *thrift) object(id int64, fill func()) {
	t.field(id, thriftStruct)
	t.structure(fill)
}

func (t *thrift) structure(fill func()) {
	last := t.last
	t.last = 0
	fill()
	t.b, t.last = append(t.b, 0), last
}
