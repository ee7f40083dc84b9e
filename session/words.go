package session

import (
	"conclave/session/plain"
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
		w.adapter, w.read = adapter, plain.AppendWords
		if k := OfAdapter(adapter); k != nil {
			w.read = k.NewWords()
		}
	}
	return w.read(dst, typ, detail)
}
