// Package frontmatter reads and rewrites Markdown files that begin with a YAML
// header and are divided by headings, and decodes the program's own YAML
// configuration. It is the only package of the program that imports YAML.
//
// What it is: a lossless view. A Document keeps the bytes it was given and
// knows where in them the header's keys, the title and the sections stand.
// Bytes returns exactly what Parse was given until something is set; an edit
// replaces the bytes of one value or one section body and no other byte. People
// and other tools edit these files, so a byte order mark, CRLF line ends, a
// missing final newline, unknown keys and unknown sections are all kept.
//
// What it reads: an optional header (a line "---" at the very start, YAML, a
// line "---" or "..."), then Markdown. Headings are the ATX kind (# to ######)
// outside fenced code, indented code and HTML comments; a fence may therefore
// hold "## lines" and "---" without meaning anything. Underlined (setext)
// headings are text here: a rule under a paragraph is too easily one by accident.
//
// What it refuses: a header that never closes, is not a mapping, holds the same
// key twice, uses anchors, aliases, merge keys or custom tags, nests or grows
// beyond the limits, or contains bytes that YAML forbids; and an edit whose text
// would break out of its place (a section body that starts another section or
// leaves a fence open). Each refusal is an *Error with line and column.
//
// What it stores: nothing. It opens no file and starts no goroutine. A Document
// may be read by many goroutines, edited by one.
package frontmatter

import "fmt"

// Error is a fault at a place in the text. Line and Column count from 1; a
// column counts characters, not bytes. The caller knows the file's name.
type Error struct {
	Line, Column int
	Msg          string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}
