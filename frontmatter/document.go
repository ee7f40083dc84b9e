package frontmatter

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Limits of a header. A profile or a quest needs a few hundred bytes; what is
// larger is a mistake or an attack, and is refused before YAML sees it.
const (
	maxHeader = 64 << 10
	maxScalar = 8 << 10
	maxDepth  = 16
)

var bom = []byte("\xef\xbb\xbf")

// Document is one parsed file. The zero value is an empty document.
type Document struct {
	src      []byte
	header   span // the YAML text between the two marker lines; empty without a header
	hasHead  bool
	body     int // offset of the first byte after the header
	fields   []field
	flow     bool // the header is a flow mapping: readable, not editable
	headings []heading
}

// span is a half-open range of bytes in a document.
type span struct{ start, end int }

// Parse reads a document. The data is copied. Parse fails only for what stands
// in the header: any body is a body.
func Parse(data []byte) (*Document, error) {
	d := &Document{src: bytes.Clone(data)}
	if err := d.parse(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Document) parse() error {
	start := 0
	if bytes.HasPrefix(d.src, bom) {
		start = len(bom)
	}
	d.body = start
	if first, next := lineAt(d.src, start); isMarker(first, "---") {
		closing, after, ok := findClose(d.src, next)
		if !ok {
			return d.errorAt(start, "front matter opens here and never closes; end it with a line ---")
		}
		d.hasHead, d.header, d.body = true, span{next, closing}, after
		if err := d.parseHeader(); err != nil {
			return err
		}
	}
	d.headings = scanHeadings(d.src, d.body)
	return nil
}

// lineAt returns the line that starts at offset, without its line end, and the
// offset of the next line.
func lineAt(src []byte, offset int) (line []byte, next int) {
	rest := src[offset:]
	i := bytes.IndexByte(rest, '\n')
	if i < 0 {
		return bytes.TrimSuffix(rest, []byte("\r")), len(src)
	}
	return bytes.TrimSuffix(rest[:i], []byte("\r")), offset + i + 1
}

func isMarker(line []byte, marker string) bool {
	return string(bytes.TrimRight(line, " \t")) == marker
}

// findClose finds the closing marker at or after offset: where its line starts
// and where the body begins.
func findClose(src []byte, offset int) (closing, after int, ok bool) {
	for offset < len(src) {
		line, next := lineAt(src, offset)
		if isMarker(line, "---") || isMarker(line, "...") {
			return offset, next, true
		}
		offset = next
	}
	return 0, 0, false
}

// Bytes returns the whole document as it now stands.
func (d *Document) Bytes() []byte { return bytes.Clone(d.src) }

// HasHeader reports whether the document has front matter, even an empty one.
func (d *Document) HasHeader() bool { return d.hasHead }

// Body returns everything after the header and the line its first byte stands on.
func (d *Document) Body() (text string, line int) {
	line, _ = d.position(d.body)
	return string(d.src[d.body:]), line
}

// position turns an offset into a line and a column, both from 1. Only "\n"
// ends a line, as in every editor and every annotation of a build service.
func (d *Document) position(offset int) (line, column int) {
	before := d.src[:offset]
	line = 1 + bytes.Count(before, []byte("\n"))
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	if line == 1 {
		before = bytes.TrimPrefix(before, bom)
	}
	return line, 1 + utf8.RuneCount(before)
}

func (d *Document) errorAt(offset int, msg string) *Error {
	line, column := d.position(offset)
	return &Error{Line: line, Column: column, Msg: msg}
}

// newline is the document's own line end: that of its first line.
func (d *Document) newline() string {
	if i := bytes.IndexByte(d.src, '\n'); i > 0 && d.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withNewlines gives text the document's line ends.
func (d *Document) withNewlines(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if nl := d.newline(); nl != "\n" {
		return strings.ReplaceAll(text, "\n", nl)
	}
	return text
}
