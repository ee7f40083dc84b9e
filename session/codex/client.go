package codex

import (
	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Client maps a line that was sent to the program. It goes before the line is
// sent: what the program is told is on the record first.
func (m *Mapper) Client(line []byte) []transcript.Item {
	m.thread("")
	out := m.release()
	msg, err := jsonrpc.Parse(line)
	if err != nil {
		return append(out, notJSON(line)...)
	}
	n := readNote(line, msg)
	switch msg.Kind {
	case jsonrpc.Request:
		m.sent[string(msg.ID)] = ask{method: n.method, thread: n.thread}
		return append(out, m.clientRequest(n)...)
	case jsonrpc.Notification:
		return append(out, m.event("client_notification", n)...)
	case jsonrpc.Response:
		return append(out, m.clientResponse(n, msg)...)
	}
	m.notKnown("message without a method")
	return append(out, transcript.Item{Type: transcript.Unknown, SessionID: m.session,
		Detail: new(detail).raw("notification", line).done(), Raw: line})
}

func (m *Mapper) clientRequest(n *note) []transcript.Item {
	t := m.thread(n.thread)
	subtype := ""
	switch n.method {
	case "turn/start":
	case "turn/steer":
		subtype = "steer"
	case "turn/interrupt":
		return m.event("interrupt_request", n)
	default:
		return m.event("client_request", n)
	}
	text := joinTexts(jsontext.Get(n.params, "input"))
	t.prompts = append(t.prompts, jsontext.Text(text))
	return one(m.item(transcript.UserMessage, subtype, n, func(d *detail) { d.raw("text", text) }))
}

// serverResponse maps the answer to a request of the client.
func (m *Mapper) serverResponse(n *note, msg jsonrpc.Message) []transcript.Item {
	a := m.sent[string(msg.ID)]
	n.method, n.thread = a.method, a.thread
	delete(m.sent, string(msg.ID))
	if msg.Error != nil {
		n.reply = msg.Error
		return one(m.item(transcript.Error, "request_refused", n, nil))
	}
	n.reply = msg.Result
	var thread, turn []byte
	_ = pick(msg.Result, want{"thread", &thread}, want{"turn", &turn}) // a result may be of any type
	if thread != nil {
		m.learnThread(thread, n)
	}
	if turn != nil {
		n.turn = jsontext.Text(jsontext.Get(turn, "id"))
	}
	return m.event("response", n)
}

// serverRequest maps what the program asks of the client.
func (m *Mapper) serverRequest(n *note, msg jsonrpc.Message) []transcript.Item {
	call := jsontext.Text(jsontext.Get(n.params, "callId"))
	t := m.thread(n.thread)
	if n.method == "item/tool/call" {
		n.itemID, n.kind = call, "dynamicToolCall"
		if !t.tools[call].used { // not announced as an item: this is the call
			m.asked[string(msg.ID)] = ask{n.method, n.thread, call}
			n.item = n.params
			return m.used(t, n)
		}
		call = ""
	}
	m.asked[string(msg.ID)] = ask{n.method, n.thread, call}
	switch n.method {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval",
		"item/permissions/requestApproval", "applyPatchApproval", "execCommandApproval":
		return m.event("approval_request", n)
	case "item/tool/call":
		return m.event("tool_call_request", n)
	case "item/tool/requestUserInput", "mcpServer/elicitation/request":
		return m.event("input_request", n)
	case "account/chatgptAuthTokens/refresh", "attestation/generate", "currentTime/read":
		return m.event("host_request", n)
	}
	m.notKnown(n.method)
	return one(m.item(transcript.Unknown, "", n, nil))
}

// clientResponse maps the answer to what the program asked.
func (m *Mapper) clientResponse(n *note, msg jsonrpc.Message) []transcript.Item {
	a := m.asked[string(msg.ID)]
	delete(m.asked, string(msg.ID))
	n.method, n.thread = a.method, a.thread
	if n.reply = msg.Result; msg.Error != nil {
		n.reply = msg.Error
	}
	if a.method == "item/tool/call" && a.call != "" {
		n.itemID, n.kind = a.call, "dynamicToolCall"
		m.thread(a.thread).tools[a.call] = toolState{used: true, done: true}
		return one(m.item(transcript.ToolResult, n.kind, n, func(d *detail) {
			d.text("tool_use_id", a.call).flag("is_error", msg.Error != nil || itemFailed(msg.Result))
		}))
	}
	if a.method == "" {
		return m.event("client_response", n)
	}
	return m.event("answer", n)
}
