package gm

import (
	"fmt"
	"strings"

	"conclave/internal/markdown"
	"conclave/table"
)

// maxContextLines is the seed's "5-10 lines max".
const maxContextLines = 10

// CheckContext normalises the GM's notes. Too many lines give a warning and
// are kept; too many bytes, or bytes that are not text, are refused for a
// repair. Nothing is cut.
func CheckContext(data []byte, caps table.Caps) (text []byte, warning string, err error) {
	if limit := caps.WithDefaults().GMContext; int64(len(data)) > limit {
		return nil, "", &table.CapError{What: table.GMContextFile, Size: int64(len(data)), Limit: limit}
	}
	if !markdown.Readable(data) {
		return nil, "", fmt.Errorf("%s: not valid UTF-8", table.GMContextFile)
	}
	s := markdown.Normalise(string(data))
	n := 0
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if level, _ := markdown.Heading(line); line != "" && level == 0 {
			n++
		}
	}
	if n > maxContextLines {
		warning = fmt.Sprintf("%s has %d lines; %d are plenty", table.GMContextFile, n, maxContextLines)
	}
	return []byte(markdown.EndLine(s)), warning, nil
}

// Context is what a GM wrote by hand into tmp/gm-context.md.
type Context struct {
	Text   string `json:"text,omitempty"`
	Remark string `json:"remark,omitempty"` // why it was not taken, or that it is long
}

// ReadContext reads the notes that a GM wrote by hand.
func ReadContext(tmp *table.Dir, caps table.Caps) Context {
	data, err := tmp.Read(table.GMContextFile, caps.WithDefaults().GMContext)
	if err == nil {
		var text []byte
		var remark string
		if text, remark, err = CheckContext(data, caps); err == nil {
			return Context{string(text), remark}
		}
	}
	return Context{Remark: "tmp/" + table.GMContextFile + " was not taken: " + err.Error()}
}
