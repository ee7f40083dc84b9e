package archive

import (
	"bytes"
	"strings"

	"conclave/archive/index"
	"conclave/bundle/redact"
	"conclave/session"
	"conclave/transcript"
)

// item is one row: a log record or an entry, and where its line is.
type item struct {
	typ    transcript.Type // "": a log record that is no entry
	seq    int64
	at     int64 // microseconds since 1970; 0: not known
	off    int   // of the line in its block
	size   int
	part   int   // which of the line's items
	line   int64 // what of a session it is: see lineID; 0: of none
	origin *origin

	tool, toolID, subtype string
	failed                bool

	level, logger, event, message string // of a log record

	chars int    // length of the text
	doc   int64  // number in the index; 0: not in it
	words []byte // for the index
	usage *figures
	sum   *session.Sum // the program's own; nil: the entry tells of none
}

// origin is what the entries of one agent in one run have in common.
type origin struct {
	prompt, adapter, source, session, seat, project string

	whose string // the identity of the session, "" where none is known
}

// lineID names a line of a session in every source that has it. Lines of one
// session that share a name are told apart by their order.
func lineID(sum uint32, size int) int64 { return int64(sum)<<32 | int64(uint32(size)) | 1 }

// setLine says of which line of its session an item is. What tells of a
// response is known by the response: its figures may be complete with one line
// or be given up with another.
func (it *item) setLine(sum uint32, size int) {
	if it.origin == nil || it.origin.whose == "" {
		return
	}
	if it.usage != nil && it.typ == transcript.TokenUsage {
		sum, size = lineSum([]byte(it.usage.key)), len(it.usage.key)
	}
	it.line = lineID(sum, size)
}

// seatOf is the role that a prompt name speaks of: the last part of
// quest.consult.cat.
func seatOf(prompt string) string { return prompt[strings.LastIndexByte(prompt, '.')+1:] }

// figures are the tokens of one response of a model.
type figures struct {
	key, model string
	transcript.Usage
}

// take puts what an entry tells into the columns.
func (it *item) take(f session.Facts) {
	it.tool, it.toolID, it.failed, it.subtype, it.sum = f.Tool, f.ToolID, f.Failed, f.Subtype, f.Sum
	if f.Usage != nil {
		key := transcript.ResponseKey(f.Message, f.Request, it.origin.session, it.at, *f.Usage)
		it.usage = &figures{key, f.Model, *f.Usage}
	}
}

// indexer turns texts into words for the index. It is not safe for concurrent
// use.
type indexer struct {
	redactor *redact.Redactor
	bag      index.Bag
	said     session.Words
	text     []byte // of the item that is to be indexed
	clean    []byte
	off      bool // no index is wanted
}

// searchable are the types whose words are indexed: what was said and done.
func searchable(t transcript.Type) bool {
	switch t {
	case transcript.UserMessage, transcript.AssistantMessage, transcript.ToolUse,
		transcript.ToolResult, transcript.Thinking, transcript.Error:
		return true
	}
	return false
}

// index gives it the words of x.text. sum is that of its line.
func (x *indexer) index(it *item, sum uint32) {
	it.chars = len(x.text)
	if len(x.text) == 0 && it.tool == "" {
		return
	}
	text := x.text
	if x.redactor.Has(text) {
		x.clean, _ = x.redactor.Bytes(x.clean[:0], text)
		text = x.clean
	}
	b := &x.bag
	b.Reset()
	b.AddText(text)
	b.AddText([]byte(it.tool))
	b.AddWord([]byte(index.OfType(it.typ)))
	b.AddWord([]byte(index.OfRole(it.origin.seat)))
	b.AddWord([]byte(index.OfProject(it.origin.project)))
	it.words = bytes.Clone(b.Bytes())
	it.doc = index.Number(it.at, sum, it.part)
}
