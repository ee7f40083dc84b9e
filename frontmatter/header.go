package frontmatter

import (
	"fmt"
	"strings"
)

// Field is one top-level key of the header. Value is the text of a scalar as
// YAML reads it (quotes and escapes resolved, no type guessed: no is "no").
// Scalar is false for a list or a mapping, and then Value is empty.
type Field struct {
	Key    string
	Value  string
	Scalar bool
	Line   int // of the key
	Column int // of the key
}

// field is a Field with the bytes it occupies.
type field struct {
	Field
	key   int  // offset of the key
	value span // bytes of the value; empty if there is none
	quote byte // the quote the value is written in, or 0
}

// parseHeader reads the YAML of the header into fields.
func (d *Document) parseHeader() error {
	if n := d.header.end - d.header.start; n > maxHeader {
		return d.errorAt(d.header.start, fmt.Sprintf("front matter is %d bytes long; at most %d are read", n, maxHeader))
	}
	text := d.src[d.header.start:d.header.end]
	tree, err := parseTree(text, limits{depth: maxDepth, scalar: maxScalar})
	if err != nil {
		return d.shift(err)
	}
	d.fields, d.flow = nil, false
	if tree.root == nil {
		return nil
	}
	if !tree.isMapping() {
		return d.errorAt(d.header.start+tree.offset(tree.root), "front matter is not a list of keys; write it as key: value lines")
	}
	d.flow = tree.isFlow()
	for _, p := range tree.pairs() {
		f := field{key: d.header.start + tree.offset(p.key)}
		f.Key = p.key.Value
		f.Line, f.Column = d.position(f.key)
		f.Scalar = isScalar(p.value)
		if f.Scalar {
			f.Value = p.value.Value
		}
		f.value, f.quote = tree.extent(p)
		f.value.start += d.header.start
		f.value.end += d.header.start
		d.fields = append(d.fields, f)
	}
	return nil
}

// shift moves the position of an error from the header's text to the file.
func (d *Document) shift(err *offsetError) *Error {
	return d.errorAt(d.header.start+err.offset, err.msg)
}

// Fields returns the header's top-level keys in the order of the file.
func (d *Document) Fields() []Field {
	fields := make([]Field, len(d.fields))
	for i, f := range d.fields {
		fields[i] = f.Field
	}
	return fields
}

// Field returns one top-level key.
func (d *Document) Field(key string) (Field, bool) {
	if f := d.find(key); f != nil {
		return f.Field, true
	}
	return Field{}, false
}

// Get returns the text of a scalar; a missing key, a list or a mapping is not one.
func (d *Document) Get(key string) (string, bool) {
	f, ok := d.Field(key)
	return f.Value, ok && f.Scalar
}

func (d *Document) find(key string) *field {
	for i := range d.fields {
		if d.fields[i].Key == key {
			return &d.fields[i]
		}
	}
	return nil
}

// Set gives a scalar key a value: its old bytes are replaced, or a line is added
// at the end of the header (which is made if there is none). The value is
// written plain where YAML reads the same text back, and quoted otherwise or
// where it was quoted before. On error the document is unchanged.
func (d *Document) Set(key, value string) error { return d.set(key, value, false) }

// SetText is Set for a value that is a text to every reader of YAML: it is quoted
// where one could take it for a number, a truth value, a date or nothing (007,
// Yes, 2026-01-01, null).
func (d *Document) SetText(key, value string) error { return d.set(key, value, true) }

func (d *Document) set(key, value string, text bool) error {
	if err := checkKey(key); err != nil {
		return err
	}
	f := d.find(key)
	if f != nil && !f.Scalar {
		return &Error{f.Line, f.Column, fmt.Sprintf("%s is not a single value; edit it by hand", key)}
	}
	guessed := text && isGuessed(value)
	if f != nil && f.Value == value && f.value.start < f.value.end && !(guessed && f.quote == 0) {
		return nil
	}
	if d.flow {
		return d.errorAt(d.header.start, "front matter is written as { … }; write one key per line to have it edited")
	}
	nl := d.newline()
	var quote byte
	if f != nil {
		quote = f.quote
	}
	if guessed && quote == 0 {
		quote = '"'
	}
	line := encodeScalar(value, quote)
	var at span
	switch {
	case !d.hasHead:
		at = span{d.body, d.body}
		line = "---" + nl + key + ": " + line + nl + "---" + nl
		if d.body < len(d.src) {
			line += nl
		}
	case f == nil:
		at = span{d.header.end, d.header.end}
		line = d.indent() + key + ": " + line + nl
	default:
		at = f.value
		if at.start > 0 && d.src[at.start-1] == ':' {
			line = " " + line
		}
	}
	return d.edit(at, line, func(now *Document) error { return d.sameFieldsBut(now, key, value) })
}

// indent is the indentation of the header's keys.
func (d *Document) indent() string {
	if len(d.fields) == 0 {
		return ""
	}
	return strings.Repeat(" ", d.fields[0].Column-1)
}

// sameFieldsBut holds an edit to its promise: every other key reads as before
// and the edited one reads as asked. The body must not have moved in meaning
// either, which is so as long as its bytes are the same.
func (d *Document) sameFieldsBut(now *Document, key, value string) error {
	old := map[string]field{}
	for _, f := range d.fields {
		old[f.Key] = f
	}
	for _, f := range now.fields {
		was, known := old[f.Key]
		delete(old, f.Key)
		switch {
		case f.Key == key && f.Value == value:
		case f.Key != key && known && f.Value == was.Value && d.same(was.value, now, f.value):
		default:
			return &Error{f.Line, f.Column, fmt.Sprintf("%s cannot be changed without touching %s; edit the front matter by hand", key, f.Key)}
		}
	}
	delete(old, key)
	for _, f := range old {
		return &Error{f.Line, f.Column, fmt.Sprintf("%s cannot be changed without touching %s; edit the front matter by hand", key, f.Key)}
	}
	return nil
}

func (d *Document) same(old span, now *Document, new span) bool {
	return string(d.src[old.start:old.end]) == string(now.src[new.start:new.end])
}

// checkKey admits keys that need no quoting. Keys are chosen by programs.
func checkKey(key string) error {
	for i, r := range key {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return fmt.Errorf("set front matter key %q: use letters, digits, - and _", key)
		}
	}
	switch strings.ToLower(key) {
	case "", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return fmt.Errorf("set front matter key %q: YAML gives this word another meaning", key)
	}
	return nil
}
