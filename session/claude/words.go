package claude

import (
	"bytes"
	"strconv"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

// Time is that of the last line.
func (m *Mapper) Time() int64 { return transcript.ParseTime(jsontext.Bare(m.scanner.env.timestamp)) }

// Facts are what an item of the last line tells beside its words.
func (m *Mapper) Facts(item int) kind.Facts {
	t := &m.told[item]
	f := kind.Facts{Subtype: t.subtype}
	switch {
	case t.usage != nil:
		u := t.usage
		f.Model, f.Message, f.Request = jsontext.Text(u.model), jsontext.Text(u.id), jsontext.Text(u.request)
		if used, ok := transcript.ReadUsage(u.figures); ok {
			f.Usage = &used
		}
		if u.line > 0 {
			f.At, f.Back = transcript.ParseTime(jsontext.Bare(u.written)), int(m.stats.Lines-u.line)
		}
	case t.subtype == SumLine:
		f.Sum = SumOf(m.scanner.b)
	case t.typ == transcript.ToolUse:
		b := m.blockOf(t)
		f.ToolID, f.Tool = jsontext.Text(b.id), jsontext.Text(b.name)
	case t.typ == transcript.ToolResult && t.block < 0:
		f.ToolID, f.Failed = jsontext.Text(m.scanner.env.toolUseID), isTrue(m.scanner.env.isError)
	case t.typ == transcript.ToolResult:
		b := m.blockOf(t)
		f.ToolID, f.Failed = jsontext.Text(b.toolUseID), isTrue(b.isError)
	}
	return f
}

func (m *Mapper) blockOf(t *told) *block {
	if m.scanner.msg.content != nil {
		return &m.scanner.blocks[t.block]
	}
	return &m.scanner.plainBlocks[t.block]
}

// Words appends the words of an item of the last line.
func (m *Mapper) Words(dst []byte, item int) []byte {
	t := &m.told[item]
	return bytes.TrimRight(m.scanner.words(dst, t.typ, t.block), "\n")
}

// Words reads the words of entries that are on a record. It keeps its memory
// from one to the next, and is not safe for concurrent use.
type Words struct{ scanner scanner }

// Append appends the words of an entry of that type and detail.
func (w *Words) Append(dst []byte, typ transcript.Type, detail []byte) []byte {
	d := jsontext.Members(detail, "sdk_entry", "block", "block_index", "of")
	if d[1] == nil && d[3] != nil {
		d[1] = d[0]
	}
	if d[1] != nil { // the block itself; records of before call it so
		m := jsontext.Members(d[1], "text", "thinking", "input", "content")
		b := block{text: m[0], thinking: m[1], input: m[2], content: m[3]}
		return bytes.TrimRight(appendWords(dst, typ, &b), "\n")
	}
	if !w.scanner.scan(d[0]) {
		return dst
	}
	index, err := strconv.Atoi(string(d[2]))
	if err != nil {
		index = -1
	}
	return bytes.TrimRight(w.scanner.words(dst, typ, index), "\n")
}

// words appends those of one block of the line, or of all of it: index is -1
// where the line has no blocks, where they are one message, and where another
// writer did not take them apart.
func (s *scanner) words(dst []byte, typ transcript.Type, index int) []byte {
	content, blocks := s.env.content, s.plainBlocks
	if s.env.message != nil {
		content, blocks = s.msg.content, s.blocks
	}
	switch {
	case s.env.queued():
		return appendWords(dst, typ, &block{content: s.env.prompt})
	case s.env.message == nil && (s.env.input != nil || s.env.toolUseID != nil): // another writer's: the block alone
		e := &s.env
		return appendWords(dst, typ, &block{text: e.text, thinking: e.other[1], input: e.input, content: e.content})
	case len(content) == 0:
		for _, v := range s.env.other {
			dst = jsontext.AppendTexts(dst, v)
		}
	case content[0] == '"':
		dst = jsontext.AppendText(dst, content)
	case index < 0:
		for i := range blocks {
			if said := typ == transcript.UserMessage || typ == transcript.SystemEvent; said && string(blocks[i].typ) == "tool_result" {
				continue // an entry of its own
			}
			before := len(dst)
			if dst = appendWords(dst, typ, &blocks[i]); len(dst) > before {
				dst = append(dst, '\n')
			}
		}
	case index < len(blocks):
		dst = appendWords(dst, typ, &blocks[index])
	}
	return dst
}

// appendWords appends the words of a content block. Of what a tool gave back,
// blocks that are no text (images) say nothing.
func appendWords(dst []byte, typ transcript.Type, b *block) []byte {
	switch {
	case typ == transcript.ToolUse || b.input != nil:
		return jsontext.AppendTexts(dst, b.input)
	case b.text != nil:
		return jsontext.AppendText(dst, b.text)
	case b.thinking != nil:
		return jsontext.AppendText(dst, b.thinking)
	case len(b.content) == 0 || b.content[0] == '"':
		return jsontext.AppendText(dst, b.content)
	}
	_ = jsontext.Elements(b.content, func(v []byte) error {
		if t := jsontext.Get(v, "text"); t != nil {
			dst = append(jsontext.AppendText(dst, t), '\n')
		}
		return nil
	})
	return dst
}
