package claude

import "conclave/internal/jsontext"

// The scanner reads a line in one pass: it checks all of it, as jsontext does,
// and on the way notes the members that decide what the line is and hold what
// it says, down to the content blocks of its message. Walking line, message,
// content and block one after the other would read the long texts four times,
// and they are most of a file. A fuzz test holds it to encoding/json.
type scanner struct {
	b   []byte
	env envelope
	msg message
	// blocks are those of message.content, plainBlocks those of content in the
	// simple form.
	blocks, plainBlocks []block

	// Where the elements of the array at hand go, and how deep it lies.
	list  *[]block
	depth int

	// The methods as functions, made once.
	onLine, onMessage, onAttachment, onOrigin, onMember func(key []byte, at int) int
	onBlock                                             func(at int) int
}

// envelope holds the members of a line that decide what it is, as they are
// written.
type envelope struct {
	typ, subtype, uuid, sessionID, snakeSession []byte
	parentUUID, timestamp, requestID            []byte
	message, attachmentType, content            []byte
	originKind, promptSource, toolUseID         []byte
	isMeta, isCompactSummary, isAPIError        []byte
	isAborted, isError                          []byte
	text, input                                 []byte
	prompt, commandMode                         []byte    // of an attachment
	row, call                                   []byte    // of a file beside the session's own
	other                                       [3][]byte // where else words may stand: error, thinking, summary
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
	thinking, input, content                     []byte
}

// scan reads a line; false means that it is no JSON object.
func (s *scanner) scan(line []byte) bool {
	if s.onLine == nil {
		s.onLine, s.onMessage, s.onAttachment, s.onOrigin = s.noteLine, s.noteMessage, s.noteAttachment, s.noteOrigin
		s.onMember, s.onBlock = s.noteMember, s.noteBlock
	}
	s.b, s.env, s.msg = line, envelope{}, message{}
	s.blocks, s.plainBlocks = s.blocks[:0], s.plainBlocks[:0]
	whole := jsontext.Object(line, s.onLine)
	if whole && s.env.row != nil && s.env.typ == nil {
		s.env.noteRow()
	}
	return whole
}

// inside reads the object at a place by fn, and anything else as it is.
func (s *scanner) inside(at, depth int, fn func(key []byte, at int) int) int {
	if at < len(s.b) && s.b[at] == '{' {
		return jsontext.Enter(s.b, at, depth, fn)
	}
	return jsontext.Skip(s.b, at, depth)
}

// Of a repeated key the last counts, so what an earlier one held is forgotten.

func (s *scanner) noteLine(key []byte, at int) (end int) {
	switch string(key) {
	case "message":
		s.msg, s.blocks = message{}, s.blocks[:0]
		if end = s.inside(at, 1, s.onMessage); end >= 0 {
			s.env.message = s.b[at:end]
		}
	case "attachment":
		s.env.attachmentType, s.env.prompt, s.env.commandMode = nil, nil, nil
		end = s.inside(at, 1, s.onAttachment)
	case "origin":
		s.env.originKind = nil
		end = s.inside(at, 1, s.onOrigin)
	case "content":
		if end = s.array(at, 1, &s.plainBlocks); end >= 0 {
			s.env.content = s.b[at:end]
		}
	default:
		if end = jsontext.Skip(s.b, at, 1); end >= 0 {
			s.env.note(key, s.b[at:end])
		}
	}
	return end
}

func (s *scanner) noteMessage(key []byte, at int) (end int) {
	if string(key) == "content" {
		end = s.array(at, 2, &s.blocks)
	} else {
		end = jsontext.Skip(s.b, at, 2)
	}
	if end >= 0 {
		s.msg.note(key, s.b[at:end])
	}
	return end
}

func (s *scanner) noteAttachment(key []byte, at int) int {
	end := jsontext.Skip(s.b, at, 2)
	if end < 0 {
		return end
	}
	switch string(key) {
	case "type":
		s.env.attachmentType = jsontext.Bare(s.b[at:end])
	case "prompt":
		s.env.prompt = s.b[at:end]
	case "commandMode":
		s.env.commandMode = jsontext.Bare(s.b[at:end])
	}
	return end
}

// queued says that a line tells of a prompt that was sent while the agent worked:
// the program hands it over as an attachment.
func (e *envelope) queued() bool {
	return string(e.typ) == "attachment" && string(e.attachmentType) == "queued_command" &&
		len(e.prompt) > 0 && (len(e.commandMode) == 0 || string(e.commandMode) == "prompt")
}

func (s *scanner) noteOrigin(key []byte, at int) int {
	end := jsontext.Skip(s.b, at, 2)
	if end >= 0 && string(key) == "kind" {
		s.env.originKind = jsontext.Bare(s.b[at:end])
	}
	return end
}

// array reads content, which is an array of blocks or just a text.
func (s *scanner) array(at, depth int, list *[]block) int {
	*list = (*list)[:0]
	if at >= len(s.b) || s.b[at] != '[' {
		return jsontext.Skip(s.b, at, depth)
	}
	s.list, s.depth = list, depth+1
	return jsontext.Each(s.b, at, depth, s.onBlock)
}

func (s *scanner) noteBlock(at int) int {
	*s.list = append(*s.list, block{})
	end := s.inside(at, s.depth, s.onMember)
	if end >= 0 {
		(*s.list)[len(*s.list)-1].raw = s.b[at:end]
	}
	return end
}

func (s *scanner) noteMember(key []byte, at int) int {
	end := jsontext.Skip(s.b, at, s.depth+1)
	if end >= 0 {
		(*s.list)[len(*s.list)-1].note(key, s.b[at:end])
	}
	return end
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
	case "timestamp":
		e.timestamp = value
	case "requestId":
		e.requestID = value
	case "text":
		e.text = value
	case "input":
		e.input = value
	case "error":
		e.other[0] = value
	case "thinking":
		e.other[1] = value
	case "summary":
		e.other[2] = value
	case "row":
		e.row = value
	}
}

// noteRow takes what the line of a file beside the session's own says for what
// another line says by itself.
func (e *envelope) noteRow() {
	m := jsontext.Members(e.row, "type", "sessionId", "timestamp", "call", "text")
	if string(jsontext.Bare(m[0])) != resultFile {
		return
	}
	e.typ, e.sessionID, e.timestamp, e.call, e.content = jsontext.Bare(m[0]), m[1], m[2], m[3], m[4]
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
	case "thinking":
		b.thinking = value
	case "input":
		b.input = value
	case "content":
		b.content = value
	}
}
