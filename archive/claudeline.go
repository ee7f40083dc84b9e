package archive

import (
	"strconv"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// claudeLine is a line of a Claude session taken apart. Texts are most of such
// a line, so it is read in one pass, whoever asks for what.
type claudeLine struct {
	line               []byte
	timestamp, request []byte
	id                 []byte // of its message
	message            bool   // it has one
	content            []byte // of its message, or its own if it has none
	input, toolUse     []byte
	other              [3][]byte // where else words may stand: error, thinking, summary
}

func (l *claudeLine) read(line []byte) {
	*l = claudeLine{line: line}
	_, _ = jsontext.Enter(line, 0, func(key []byte, at int) (int, error) {
		if string(key) == "message" {
			l.message, l.id, l.content = true, nil, nil
			if at < len(line) && line[at] == '{' {
				return jsontext.Enter(line, at, l.noteMessage)
			}
		}
		end, err := jsontext.Skip(line, at)
		if err == nil {
			l.note(key, line[at:end])
		}
		return end, err
	})
}

func (l *claudeLine) noteMessage(key []byte, at int) (int, error) {
	end, err := jsontext.Skip(l.line, at)
	switch {
	case err != nil:
	case string(key) == "id":
		l.id = l.line[at:end]
	case string(key) == "content":
		l.content = l.line[at:end]
	}
	return end, err
}

func (l *claudeLine) note(key, value []byte) {
	switch string(key) {
	case "timestamp":
		l.timestamp = value
	case "requestId":
		l.request = value
	case "content":
		if !l.message {
			l.content = value
		}
	case "input":
		l.input = value
	case "tool_use_id":
		l.toolUse = value
	case "error":
		l.other[0] = value
	case "thinking":
		l.other[1] = value
	case "summary":
		l.other[2] = value
	}
}

// text appends the words of one entry of the line: those of the block at index,
// which is nil where the line has no blocks.
func (l *claudeLine) text(dst []byte, typ transcript.Type, index []byte) []byte {
	switch {
	case !l.message && (l.input != nil || l.toolUse != nil):
		return blockText(dst, typ, l.line, 0) // another writer's: the block alone
	case len(l.content) == 0:
		for _, v := range l.other {
			dst = appendStrings(dst, v, 0)
		}
		return dst
	case l.content[0] == '"':
		return appendString(dst, l.content)
	case string(index) == "0":
		return blockText(dst, typ, l.content, 1) // mostly it is the only one
	}
	at, _ := strconv.Atoi(string(index))
	_ = jsontext.Elements(l.content, func(v []byte) error {
		switch {
		case index == nil: // another writer's entry: all of its blocks
			dst = append(blockText(dst, typ, v, 0), '\n')
		case at == 0:
			dst = blockText(dst, typ, v, 0)
		}
		at--
		return nil
	})
	return dst
}

func claudeText(dst []byte, typ transcript.Type, detail []byte) []byte {
	d := members(detail, "sdk_entry", "block", "block_index")
	if d[1] != nil {
		return blockText(dst, typ, d[1], 0)
	}
	var l claudeLine
	l.read(d[0])
	return l.text(dst, typ, d[2])
}

// blockText appends the words of the content block that begins at i in b.
func blockText(dst []byte, typ transcript.Type, b []byte, i int) []byte {
	m := membersAt(b, i, "text", "thinking", "input", "content")
	if typ == transcript.ToolUse || m[2] != nil {
		return appendStrings(dst, m[2], 0)
	}
	for _, v := range [][]byte{m[0], m[1]} {
		if v != nil {
			return appendString(dst, v)
		}
	}
	return resultText(dst, m[3])
}
