package session

import (
	"bytes"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Words reads what entries say, in words: what was said or thought, what a tool
// was called with, what it gave back. The zero value is ready for use. It keeps
// its memory from one entry to the next, and is not safe for concurrent use.
type Words struct {
	adapter string
	read    func(dst []byte, typ transcript.Type, detail []byte) []byte
}

// Append appends the words of an entry, given its adapter, type and detail.
func (w *Words) Append(dst []byte, adapter string, typ transcript.Type, detail []byte) []byte {
	switch typ {
	case transcript.TokenUsage, transcript.Unknown:
		return dst
	}
	if w.read == nil || w.adapter != adapter {
		w.adapter, w.read = adapter, appendPlain
		if k := OfAdapter(adapter); k != nil {
			w.read = k.NewWords()
		}
	}
	return w.read(dst, typ, detail)
}

// appendPlain serves the adapters that speak for themselves: their details have
// the text under its own name.
func appendPlain(dst []byte, typ transcript.Type, detail []byte) []byte {
	d := jsontext.Members(detail, "text", "content", "message", "thinking", "input", "output", "error")
	order := []int{0, 1, 3, 2, 6}
	switch typ {
	case transcript.ToolUse:
		order = []int{4, 0, 1}
	case transcript.ToolResult:
		order = []int{5, 1, 0, 6}
	}
	for _, i := range order {
		if v := d[i]; len(v) > 0 && string(v) != "null" {
			return bytes.TrimRight(jsontext.AppendTexts(dst, v), "\n")
		}
	}
	return dst
}
