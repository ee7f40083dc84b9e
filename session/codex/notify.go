package codex

import (
	"bytes"
	"cmp"
	"strings"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// lifeCycle names the notifications that are known and tell of no message and
// no tool, with the subtype of their entry.
var lifeCycle = map[string]string{
	"thread/started":                            "thread_started",
	"thread/status/changed":                     "thread_status",
	"thread/readState/changed":                  "thread_read_state",
	"thread/closed":                             "thread_closed",
	"thread/archived":                           "thread_archived",
	"thread/name/updated":                       "thread_name",
	"thread/settings/updated":                   "thread_settings",
	"thread/goal/updated":                       "thread_goal",
	"thread/goal/cleared":                       "thread_goal",
	"thread/reverted":                           "thread_reverted",
	"thread/compacted":                          "compaction_notice",
	"thread/environment/connected":              "environment",
	"thread/environment/disconnected":           "environment",
	"turn/diff/updated":                         "diff",
	"turn/plan/updated":                         "plan",
	"hook/started":                              "hook",
	"hook/completed":                            "hook",
	"warning":                                   "warning",
	"guardianWarning":                           "warning",
	"configWarning":                             "warning",
	"deprecationNotice":                         "warning",
	"account/login/completed":                   "account",
	"account/updated":                           "account",
	"account/rateLimits/updated":                "rate_limits",
	"mcpServer/startupStatus/updated":           "mcp_server",
	"model/rerouted":                            "model_rerouted",
	"model/verification":                        "model_verification",
	"skills/changed":                            "skills",
	"serverRequest/resolved":                    "request_resolved",
	"remoteControl/status/changed":              "remote_control",
	"item/mcpToolCall/progress":                 "progress",
	"item/reasoning/summaryPartAdded":           "delta",
	"item/fileChange/patchUpdated":              "delta",
	"item/commandExecution/terminalInteraction": "terminal",
}

func (m *Mapper) notification(n *note) []transcript.Item {
	t := m.thread(n.thread)
	switch n.method {
	case "item/started":
		return m.itemStarted(t, n)
	case "item/completed":
		return m.itemCompleted(t, n)
	case "item/reasoning/completed": // the name that the specification uses
		return one(m.item(transcript.Thinking, "", n, func(d *detail) {
			d.raw("text", firstText(n.params, "text", "summary", "content"))
		}))
	case "thread/tokenUsage/updated":
		return m.tokenUsage(t, n)
	case "turn/started":
		m.turnStarted(t, n)
		return m.event("turn_started", n)
	case "turn/completed":
		return m.turnCompleted(t, n)
	case "error":
		return m.failed(t, n)
	case "rawResponseItem/completed":
		return m.rawItem(t, n)
	case "rawResponse/completed":
		t.settled()
		return m.event("response_completed", n)
	case "thread/started":
		m.learnThread(jsontext.Get(n.params, "thread"), n)
	case "model/rerouted":
		t.model = cmp.Or(jsontext.Text(jsontext.Get(n.params, "toModel")), t.model)
	}
	if subtype, ok := lifeCycle[n.method]; ok {
		return m.event(subtype, n)
	}
	if isDelta(n.method) {
		return m.delta(t, n)
	}
	m.notKnown(n.method)
	return one(m.item(transcript.Unknown, "", n, nil))
}

func isDelta(method string) bool {
	return strings.HasSuffix(method, "/delta") || strings.HasSuffix(method, "Delta")
}

// delta adds to an open text.
func (m *Mapper) delta(t *thread, n *note) []transcript.Item {
	kind := ""
	switch n.method {
	case "item/agentMessage/delta":
		kind = "agentMessage"
	case "item/reasoning/summaryTextDelta", "item/reasoning/textDelta":
		kind = "reasoning"
	}
	if text := jsontext.Get(n.params, "delta"); kind != "" && len(text) > 2 && text[0] == '"' {
		o := t.opened(n.itemID, kind)
		o.parts = append(o.parts, bytes.Clone(text))
	}
	return m.event("delta", n)
}

func (t *thread) opened(id, kind string) *openItem {
	for _, o := range t.open {
		if o.id == id {
			return o
		}
	}
	o := &openItem{id: id, kind: kind}
	t.open = append(t.open, o)
	return o
}

// closed ends an open text, and gives what was heard of it as a JSON string; nil
// when that is nothing.
func (t *thread) closed(id string) (heard []byte) {
	for i, o := range t.open {
		if o.id == id {
			t.open = append(t.open[:i], t.open[i+1:]...)
			return joinStrings(o.parts, "")
		}
	}
	return nil
}

// flushOpen gives the texts that will never be finished.
func (m *Mapper) flushOpen(t *thread, n *note) []transcript.Item {
	var out []transcript.Item
	for _, o := range t.open {
		text := joinStrings(o.parts, "")
		if text == nil {
			continue
		}
		typ := transcript.AssistantMessage
		if o.kind == "reasoning" {
			typ = transcript.Thinking
		}
		cut := *n
		cut.itemID = o.id
		out = append(out, m.item(typ, "", &cut, func(d *detail) { d.flag("partial", true).raw("text", text) }))
	}
	t.open = nil
	return out
}

// dropOpen gives the texts of an attempt that the program will make again.
func (m *Mapper) dropOpen(t *thread, n *note) []transcript.Item {
	out := m.flushOpen(t, n)
	for i := range out {
		out[i] = t.abandon(out[i])
	}
	return out
}

// abandon gives up a text of an attempt that broke off. It is said again, or
// stands after all when the turn fails.
func (t *thread) abandon(item transcript.Item) transcript.Item {
	t.broken = append(t.broken, item)
	delete(t.said, saidKey(item))
	return abandoned(item)
}

// saidKey is by what a text is known when it comes again.
func saidKey(item transcript.Item) string {
	return string(item.Type) + string(jsontext.Get(item.Detail, "text"))
}

// abandoned turns a message into the system_event of an attempt that broke
// off and is made again.
func abandoned(item transcript.Item) transcript.Item {
	item.Type = transcript.SystemEvent
	d := new(detail)
	d.text("subtype", "abandoned")
	_ = jsontext.Walk(item.Detail, func(key, value []byte) error {
		if string(key) != "subtype" {
			d.raw(string(key), value)
		}
		return nil
	}) // a detail is an object: we built it
	item.Detail = d.done()
	return item
}

func (m *Mapper) tokenUsage(t *thread, n *note) []transcript.Item {
	var total, last []byte
	_ = pick(jsontext.Get(n.params, "tokenUsage"), want{"total", &total}, want{"last", &last})
	sum, ok := readTokens(total)
	if !ok {
		m.notKnown(n.method + " without a total")
		return one(m.item(transcript.Unknown, "", n, nil))
	}
	n.repeated = true
	if t.resumed && len(t.turns) == 0 {
		// Sent again after a resume: it belongs to a turn of an earlier run.
		t.meter.replay(sum)
		return m.event("token_usage_replay", n)
	}
	latest, _ := readTokens(last)
	used, fresh := t.meter.add(sum, latest)
	if !fresh {
		return m.event("token_usage_repeat", n)
	}
	n.repeated = false
	t.settled()
	return one(m.item(transcript.TokenUsage, "", n, func(d *detail) {
		d.text("model", t.model).raw("usage", used.detail())
	}))
}

// settled says that the response of the model is complete: what it said will
// not be said again.
func (t *thread) settled() {
	clear(t.said)
	t.retried, t.broken = false, nil
}

func (m *Mapper) turnStarted(t *thread, n *note) {
	t.turns[n.turn] = true
	m.turns[n.turn] = t.id
	if m.session == "" {
		m.session = t.id
	}
	root := jsontext.Text(jsontext.Get(n.params, "turn", "rootTurnId"))
	if owner := m.turns[root]; t.parent == "" && owner != "" && owner != t.id {
		t.parent = owner
	}
}

func (m *Mapper) turnCompleted(t *thread, n *note) []transcript.Item {
	out := m.flushOpen(t, n)
	failure, broken := t.failure, t.broken
	for i := range broken {
		broken[i].Raw = n.line
	}
	t.failure = nil
	t.settled()
	switch status := jsontext.Text(jsontext.Get(n.params, "turn", "status")); status {
	case "failed":
		return append(append(out, broken...), m.item(transcript.Error, "turn_failed", n, func(d *detail) {
			d.raw("error", jsontext.Get(n.params, "turn", "error"))
		}))
	case "interrupted":
		out = append(out, m.item(transcript.SystemEvent, "interrupted", n, nil))
	default:
		out = append(out, m.item(transcript.SystemEvent, "turn_completed", n, nil))
	}
	if failure != nil { // it was said to be final, and the turn went on
		out = append(out, m.item(transcript.Error, "error", failure, nil))
	}
	return out
}

func willRetry(n *note) bool { return string(jsontext.Get(n.params, "willRetry")) == "true" }

// failed maps the notification "error". One that ends the turn is followed by
// the turn's end, which says the same: that one is the error.
func (m *Mapper) failed(t *thread, n *note) []transcript.Item {
	if willRetry(n) {
		t.retried = true
		out := m.dropOpen(t, n)
		return append(out, m.item(transcript.Error, "retry", n, func(d *detail) {
			d.raw("error", jsontext.Get(n.params, "error"))
		}))
	}
	if t.turns[n.turn] && t.failure == nil {
		kept := *n
		kept.line, kept.params = nil, bytes.Clone(n.params)
		t.failure = &kept
		return m.event("turn_error", n)
	}
	return one(m.item(transcript.Error, "error", n, func(d *detail) {
		d.raw("error", jsontext.Get(n.params, "error"))
	}))
}
