package codex

import (
	"bytes"
	"slices"

	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Mapper maps the messages of one app-server connection, in the order in which
// they crossed. The zero value is ready for use. It is not safe for concurrent
// use. The items share the memory of the line that was mapped.
//
// A finished agent message is held back until the next message about its
// thread shows that it stands: when the stream to the model broke, the program
// reports what it had as if it were whole, and then says it all again. Nothing
// overtakes a held message. Who maps live calls Settle when nothing follows for
// a while.
type Mapper struct {
	session string // the connection's own thread
	threads map[string]*thread
	turns   map[string]string // turn → thread
	sent    map[string]ask    // the client's requests: id → what
	asked   map[string]ask    // the server's requests: id → what

	spawning map[string]string // calls that are starting a thread: call → thread

	held       []transcript.Item
	heldThread string

	unknown []string
}

// ask is a request that waits for an answer.
type ask struct{ method, thread, call string }

// thread is what the mapper remembers of a thread.
type thread struct {
	id, parent string
	model      string // that answers in it
	meter      meter
	turns      map[string]bool
	prompts    []string        // sent by the client, not echoed yet
	echoed     map[string]bool // user messages whose item/started was seen
	open       []*openItem
	tools      map[string]toolState
	said       map[string]bool // texts since the last response was counted
	resumed    bool
	retried    bool
	broken     []transcript.Item // texts of attempts that broke off, as long as none has come to its end
	failure    *note             // an error that is to end the turn
}

// toolState says what of a tool call is on the record.
type toolState struct {
	used, done, failed bool
	name, call         []byte // of a call that no item has told of yet
}

// openItem is a text that is being spoken.
type openItem struct {
	id, kind string
	parts    [][]byte // JSON strings
}

// Unrecognised lists the methods and item types that the mapper did not know,
// each once, in the order in which they were met.
func (m *Mapper) Unrecognised() []string { return slices.Clone(m.unknown) }

func (m *Mapper) notKnown(name string) {
	if !slices.Contains(m.unknown, name) {
		m.unknown = append(m.unknown, name)
	}
}

func (m *Mapper) thread(id string) *thread {
	if t := m.threads[id]; t != nil {
		return t
	}
	if m.threads == nil {
		m.threads = map[string]*thread{}
		m.turns = map[string]string{}
		m.sent = map[string]ask{}
		m.spawning = map[string]string{}
		m.asked = map[string]ask{}
	}
	t := &thread{id: id, turns: map[string]bool{}, echoed: map[string]bool{},
		tools: map[string]toolState{}, said: map[string]bool{}}
	m.threads[id] = t
	return t
}

// note is a message taken apart.
type note struct {
	line           []byte
	method         string
	params         []byte
	thread, turn   string
	itemID, kind   string // of params.item, or params.itemId
	item           []byte
	request, reply []byte // the whole of what is no notification
	repeated       bool   // a token count that adds nothing
}

func readNote(line []byte, msg jsonrpc.Message) *note {
	n := &note{line: line, method: msg.Method, params: msg.Params}
	p := jsontext.Members(n.params, "threadId", "turnId", "turn", "item", "itemId")
	n.thread, n.turn = about(p[0], p[1], p[2])
	n.item, n.itemID = p[3], jsontext.Text(p[4])
	if n.item != nil {
		var id, kind []byte
		_ = pick(n.item, want{"id", &id}, want{"type", &kind})
		n.itemID, n.kind = jsontext.Text(id), jsontext.Text(kind)
	}
	return n
}

// About says which thread and which turn the params of a message are about.
func About(params []byte) (thread, turn string) {
	p := jsontext.Members(params, "threadId", "turnId", "turn")
	return about(p[0], p[1], p[2])
}

func about(threadID, turnID, turn []byte) (string, string) {
	if turn != nil {
		turnID = jsontext.Get(turn, "id")
	}
	return jsontext.Text(threadID), jsontext.Text(turnID)
}

// Server maps a line that the program wrote.
func (m *Mapper) Server(line []byte) []transcript.Item {
	m.thread("") // makes the maps
	msg, err := jsonrpc.Parse(line)
	if err != nil {
		return m.pass(nil, notJSON(line))
	}
	n := readNote(line, msg)
	switch msg.Kind {
	case jsonrpc.Notification:
		return m.pass(n, m.notification(n))
	case jsonrpc.Request:
		return m.pass(n, m.serverRequest(n, msg))
	case jsonrpc.Response:
		return m.pass(n, m.serverResponse(n, msg))
	}
	m.notKnown("message without a method")
	return m.pass(n, one(transcript.Item{Type: transcript.Unknown, SessionID: m.session,
		Detail: new(detail).raw("notification", line).done(), Raw: line}))
}

// Flush gives what is still held back and what was left unfinished, when no
// further line will come.
func (m *Mapper) Flush() []transcript.Item {
	out := m.release()
	ids := make([]string, 0, len(m.threads))
	for id := range m.threads {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		t := m.threads[id]
		out = append(out, m.flushOpen(t, &note{thread: id})...)
		if t.failure != nil {
			out = append(out, m.item(transcript.Error, "error", t.failure, nil))
			t.failure = nil
		}
	}
	return out
}

// Holding says whether a message is held back.
func (m *Mapper) Holding() bool { return len(m.held) > 0 }

// Settle gives what is held back: the message stands.
func (m *Mapper) Settle() []transcript.Item { return m.release() }

// maxHeld bounds how much may wait behind a held message.
const maxHeld = 256

// pass lets items through, or queues them behind a held message.
func (m *Mapper) pass(n *note, items []transcript.Item) []transcript.Item {
	for i := 1; i < len(items); i++ {
		items[i].Raw = nil
	}
	var out []transcript.Item
	if len(m.held) > 0 && n != nil && n.thread == m.heldThread && m.settles(n) {
		if n.method == "error" && willRetry(n) {
			m.held[0] = m.thread(n.thread).abandon(m.held[0])
		}
		out = m.release()
	}
	hold := n != nil && n.method == "item/completed" && n.kind == "agentMessage" &&
		len(items) > 0 && items[0].Type == transcript.AssistantMessage
	if hold && len(m.held) == 0 {
		m.held, m.heldThread = keep(items), n.thread
		return out
	}
	if len(m.held) > 0 {
		m.held = append(m.held, keep(items)...)
		if len(m.held) > maxHeld {
			out = append(out, m.release()...)
		}
		return out
	}
	return append(out, items...)
}

// keep makes items independent of the line that they came from, whose memory
// is the caller's again.
func keep(items []transcript.Item) []transcript.Item {
	for i := range items {
		items[i].Raw = bytes.Clone(items[i].Raw)
	}
	return items
}

func (m *Mapper) release() []transcript.Item {
	out := m.held
	m.held, m.heldThread = nil, ""
	return out
}

// settles says whether n decides about a message held on its thread: a
// repeated token count does not.
func (m *Mapper) settles(n *note) bool {
	switch n.method {
	case "item/started", "item/completed", "turn/completed", "turn/started", "error":
		return true
	case "thread/tokenUsage/updated":
		return !n.repeated
	case "rawResponse/completed":
		return true
	}
	return false
}

func one(item transcript.Item) []transcript.Item { return []transcript.Item{item} }

// item makes an entry about n. more adds to its detail.
func (m *Mapper) item(typ transcript.Type, subtype string, n *note, more func(*detail)) transcript.Item {
	d := new(detail)
	d.text("subtype", subtype).text("method", n.method).text("thread_id", n.thread)
	d.text("parent_thread_id", m.parentOf(n.thread))
	d.text("turn_id", n.turn).text("item_id", n.itemID)
	if more != nil {
		more(d)
	}
	d.raw("notification", n.params).raw("request", n.request).raw("response", n.reply)
	return transcript.Item{Type: typ, SessionID: m.session,
		Detail: d.done(), Checked: jsontext.Shallow(n.line), Raw: n.line}
}

// parentOf is the thread that started a thread. One that speaks before its
// parent says that it has started it belongs to the one that is about to.
func (m *Mapper) parentOf(id string) string {
	t := m.threads[id]
	if t == nil || id == "" || id == m.session || t.parent != "" {
		if t == nil {
			return ""
		}
		return t.parent
	}
	for _, parent := range m.spawning {
		if t.parent != "" && t.parent != parent {
			t.parent = "" // two may have: it will be said soon
			break
		}
		t.parent = parent
	}
	return t.parent
}

// event is a system_event about n.
func (m *Mapper) event(subtype string, n *note) []transcript.Item {
	return one(m.item(transcript.SystemEvent, subtype, n, nil))
}

// notJSON is the entry of a line that no reader understands.
func notJSON(line []byte) []transcript.Item {
	fault := ""
	if len(bytes.TrimSpace(line)) > 0 {
		fault = "a line that is not JSON"
	}
	return one(transcript.Item{Type: transcript.Unknown,
		Detail: new(detail).text("subtype", "not_json").done(), Raw: line, Fault: fault})
}
