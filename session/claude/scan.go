package claude

import (
	"encoding/binary"
	"math/bits"

	"conclave/internal/jsontext"
)

// The scanner reads a line in one pass: it checks all of it, as strictly as
// jsontext does, and on the way notes the members that decide what the line
// is, down to the content blocks of its message. Walking line, message, content
// and block one after the other would read the long texts four times, and they
// are most of a file. A fuzz test holds it to encoding/json.
type scanner struct {
	b   []byte
	env envelope
	msg message
	// blocks are those of message.content, or of content in the simple form.
	blocks      []block
	plainBlocks []block
}

// envelope holds the members of a line that decide what it is, as they are
// written.
type envelope struct {
	typ, subtype, uuid, sessionID, snakeSession []byte
	parentUUID                                  []byte
	message, attachmentType, content            []byte
	originKind, promptSource, toolUseID         []byte
	isMeta, isCompactSummary, isAPIError        []byte
	isAborted, isError                          []byte
}

func (e *envelope) session() []byte {
	if e.sessionID != nil {
		return e.sessionID
	}
	return e.snakeSession
}

// message holds the members of an API message that are of use here.
type message struct {
	id, model, content, usage, stopReason []byte
}

// block holds the members of a content block that are of use here.
type block struct {
	raw, typ, text, id, name, toolUseID, isError []byte
}

// scan reads a line; false means that it is no JSON object.
func (s *scanner) scan(line []byte) bool {
	s.b, s.env, s.msg = line, envelope{}, message{}
	s.blocks, s.plainBlocks = s.blocks[:0], s.plainBlocks[:0]
	i := s.space(0)
	if i >= len(line) || line[i] != '{' {
		return false
	}
	end := s.object(i, 0, inLine)
	return end >= 0 && s.space(end) == len(line)
}

// where says whose members an object has.
type where int

const (
	nowhere where = iota
	inLine
	inMessage
	inAttachment
	inOrigin
	inBlocks      // an array of blocks in a message
	inPlainBlocks // an array of blocks in the simple form
	inBlock
	inPlainBlock
)

func (s *scanner) space(i int) int {
	for i < len(s.b) && (s.b[i] == ' ' || s.b[i] == '\n' || s.b[i] == '\t' || s.b[i] == '\r') {
		i++
	}
	return i
}

// Each of these returns the place after the value that begins at i, or -1.

func (s *scanner) value(i, depth int, at where) int {
	if i >= len(s.b) {
		return -1
	}
	switch c := s.b[i]; c {
	case '"':
		return s.str(i + 1)
	case '{':
		return s.object(i, depth, at)
	case '[':
		return s.array(i, depth, at)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	default:
		return s.number(i)
	}
}

func (s *scanner) object(i, depth int, at where) int {
	if depth >= jsontext.MaxDepth {
		return -1
	}
	b := s.b
	if i = s.space(i + 1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return -1
		}
		keyStart := i + 1
		if i = s.str(keyStart); i < 0 {
			return -1
		}
		key := b[keyStart : i-1]
		if i >= len(b) || b[i] != ':' {
			if i = s.space(i); i >= len(b) || b[i] != ':' {
				return -1
			}
		}
		start := s.space(i + 1)
		below := nowhere
		if at != nowhere {
			below = s.enter(at, key)
		}
		end := s.value(start, depth+1, below)
		if end < 0 {
			return -1
		}
		if at != nowhere {
			s.note(at, key, b[start:end])
		}
		if i = s.space(end); i >= len(b) {
			return -1
		}
		switch b[i] {
		case ',':
			i = s.space(i + 1)
		case '}':
			return i + 1
		default:
			return -1
		}
	}
}

func (s *scanner) array(i, depth int, at where) int {
	if depth >= jsontext.MaxDepth {
		return -1
	}
	b := s.b
	if i = s.space(i + 1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		below := s.element(at)
		end := s.value(i, depth+1, below)
		if end < 0 {
			return -1
		}
		switch below {
		case inBlock:
			s.blocks[len(s.blocks)-1].raw = b[i:end]
		case inPlainBlock:
			s.plainBlocks[len(s.plainBlocks)-1].raw = b[i:end]
		}
		if i = s.space(end); i >= len(b) {
			return -1
		}
		switch b[i] {
		case ',':
			i = s.space(i + 1)
		case ']':
			return i + 1
		default:
			return -1
		}
	}
}

// enter says what a member's value holds. Of a repeated key the last counts,
// so what an earlier one held is forgotten.
func (s *scanner) enter(at where, key []byte) where {
	switch at {
	case inLine:
		switch string(key) {
		case "message":
			s.msg, s.blocks = message{}, s.blocks[:0]
			return inMessage
		case "attachment":
			s.env.attachmentType = nil
			return inAttachment
		case "origin":
			s.env.originKind = nil
			return inOrigin
		case "content":
			s.plainBlocks = s.plainBlocks[:0]
			return inPlainBlocks
		}
	case inMessage:
		if string(key) == "content" {
			s.blocks = s.blocks[:0]
			return inBlocks
		}
	}
	return nowhere
}

func (s *scanner) element(at where) where {
	switch at {
	case inBlocks:
		s.blocks = append(s.blocks, block{})
		return inBlock
	case inPlainBlocks:
		s.plainBlocks = append(s.plainBlocks, block{})
		return inPlainBlock
	}
	return nowhere
}

// note keeps a member that is of use.
func (s *scanner) note(at where, key, value []byte) {
	switch at {
	case inLine:
		s.env.note(key, value)
	case inMessage:
		s.msg.note(key, value)
	case inBlock:
		s.blocks[len(s.blocks)-1].note(key, value)
	case inPlainBlock:
		s.plainBlocks[len(s.plainBlocks)-1].note(key, value)
	case inAttachment:
		if string(key) == "type" {
			s.env.attachmentType = jsontext.Bare(value)
		}
	case inOrigin:
		if string(key) == "kind" {
			s.env.originKind = jsontext.Bare(value)
		}
	}
}

func (e *envelope) note(key, value []byte) {
	switch string(key) {
	case "type":
		e.typ = jsontext.Bare(value)
	case "subtype":
		e.subtype = jsontext.Bare(value)
	case "uuid":
		e.uuid = value
	case "parentUuid":
		e.parentUUID = value
	case "sessionId":
		e.sessionID = value
	case "session_id":
		e.snakeSession = value
	case "message":
		e.message = value
	case "content":
		e.content = value
	case "promptSource":
		e.promptSource = value
	case "tool_use_id":
		e.toolUseID = value
	case "isMeta":
		e.isMeta = value
	case "isCompactSummary":
		e.isCompactSummary = value
	case "isApiErrorMessage":
		e.isAPIError = value
	case "isAbortedMidStream":
		e.isAborted = value
	case "is_error":
		e.isError = value
	}
}

func (m *message) note(key, value []byte) {
	switch string(key) {
	case "id":
		m.id = value
	case "model":
		m.model = value
	case "content":
		m.content = value
	case "usage":
		m.usage = value
	case "stop_reason":
		m.stopReason = value
	}
}

func (b *block) note(key, value []byte) {
	switch string(key) {
	case "type":
		b.typ = jsontext.Bare(value)
	case "text":
		b.text = value
	case "id":
		b.id = value
	case "name":
		b.name = value
	case "tool_use_id":
		b.toolUseID = value
	case "is_error":
		b.isError = value
	}
}

func (s *scanner) literal(i int, word string) int {
	if len(s.b)-i < len(word) || string(s.b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func (s *scanner) number(i int) int {
	b := s.b
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return s.digits(i)
	}
	return i
}

func (s *scanner) digits(i int) int {
	start := i
	for i < len(s.b) && s.b[i] >= '0' && s.b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str checks the string whose text begins at i, eight bytes at a time. The
// lowest bit of marks is at the first quote, backslash or control character;
// those above it may be wrong, because the subtraction borrows.
func (s *scanner) str(i int) int {
	b := s.b
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		marks := ((w-0x20*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if marks == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(marks) >> 3
		if b[i] == '"' {
			return i + 1
		}
		if i = s.escape(i); i < 0 {
			return -1
		}
	}
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\' || c < 0x20:
			if i = s.escape(i); i < 0 {
				return -1
			}
		default:
			i++
		}
	}
	return -1
}

// escape steps over the escape sequence at i.
func (s *scanner) escape(i int) int {
	b := s.b
	if b[i] != '\\' || i+1 >= len(b) {
		return -1
	}
	switch n := escapes[b[i+1]]; n {
	case 6:
		if i+6 > len(b) {
			return -1
		}
		for _, c := range b[i+2 : i+6] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return -1
			}
		}
		return i + 6
	case 2:
		return i + 2
	}
	return -1
}

// escapes has the length of an escape sequence by the byte after its backslash.
var escapes = [256]uint8{'"': 2, '\\': 2, '/': 2, 'b': 2, 'f': 2, 'n': 2, 'r': 2, 't': 2, 'u': 6}
