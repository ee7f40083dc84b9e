package screen

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table writes columns. A tab or a line break of the format is the table's, one
// in an argument is shown.
type Table struct {
	to   *Writer
	buf  bytes.Buffer
	tabs *tabwriter.Writer
}

// Table begins a table; right puts the columns at the right of their width.
func (w *Writer) Table(right bool) *Table {
	t := &Table{to: w}
	flags := uint(0)
	if right {
		flags = tabwriter.AlignRight
	}
	t.tabs = tabwriter.NewWriter(&t.buf, 0, 0, 2, ' ', flags)
	return t
}

// Printf adds to the table; an error is one line here.
func (t *Table) Printf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // so that vet knows what this is
	}
	cells := make([]any, len(args))
	for i, a := range args {
		cells[i] = a
		switch a.(type) {
		case Text, Texter, error:
			cells[i] = Text{strings.NewReplacer("\n", "␊", "\t", "␉").Replace(plainProse(textOf(a).s))}
		}
	}
	_, _ = t.tabs.Write([]byte(Sprintf(format, cells...).s)) // into memory
}

// Flush writes the table.
func (t *Table) Flush() error {
	if err := t.tabs.Flush(); err != nil {
		return err
	}
	text := t.buf.String()
	t.buf.Reset()
	return t.to.print(Text{text})
}
