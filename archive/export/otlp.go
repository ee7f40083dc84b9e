package export

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"conclave/archive"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// otlp writes traces by the OpenTelemetry conventions for generative AI, as the
// JSON form of OTLP over HTTP: a request a line, of at most spansAtOnce spans. A
// run is a trace, an agent in it a span invoke_agent, a call of a tool a span
// execute_tool, a response of the model a span chat. Ids are made from the run:
// whoever exports it twice has it once. What was said stays at home unless
// Content asks for it.
type otlp struct {
	out    *bufio.Writer
	o      Options
	run    string
	agents []*otlpAgent    // of the run at hand
	called map[string]bool // spans of its calls
	ready  []span
}

const spansAtOnce = 500

// otlpAgent is one agent of a run, while it is told.
type otlpAgent struct {
	first       archive.Entry // without its texts
	id, parent  string
	begin, last time.Time
	asked       time.Time // when the model was last given something
	model       string
	inside      string // the text that it was given, and those that it said
	said        string
	failed      string
	calls       map[string]*span
	chats       int
	room        *archive.Room // the last that it sat in
}

// The kinds and codes of OTLP.
const (
	kindInternal = 1
	kindClient   = 3
	codeError    = 2
)

type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     *status     `json:"status,omitempty"`

	from time.Time
}

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

type attribute struct {
	Key   string    `json:"key"`
	Value attrValue `json:"value"`
}

type attrValue struct {
	Text *string    `json:"stringValue,omitempty"`
	Int  *string    `json:"intValue,omitempty"` // a number of 64 bits is a text in this form of JSON
	Real *float64   `json:"doubleValue,omitempty"`
	List *attrArray `json:"arrayValue,omitempty"`
}

type attrArray struct {
	Values []attrValue `json:"values"`
}

func (s *span) text(key, value string) {
	if value != "" {
		s.Attributes = append(s.Attributes, attribute{key, attrValue{Text: &value}})
	}
}

func (s *span) number(key string, n int64) {
	text := strconv.FormatInt(n, 10)
	s.Attributes = append(s.Attributes, attribute{key, attrValue{Int: &text}})
}

func (s *span) texts(key string, list []string) {
	values := make([]attrValue, len(list))
	for i := range list {
		values[i].Text = &list[i]
	}
	s.Attributes = append(s.Attributes, attribute{key, attrValue{List: &attrArray{values}}})
}

func (s *span) fail(message string) { s.Status = &status{codeError, message} }

// nanos is 0 for a time that is not known.
func nanos(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(max(t.UnixNano(), 0), 10)
}

// spanID makes an id of n bytes of what it stands for.
func spanID(n int, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Quote(p)))
	}
	return hex.EncodeToString(h.Sum(nil)[:n])
}

func (o *otlp) entry(e *archive.Entry) error {
	if e.Run != o.run {
		o.endRun()
		o.run, o.called = e.Run, map[string]bool{}
	}
	a := o.agent(e)
	at := *e // without a time of its own it has that of what came before
	if e = &at; stamp(e.Timestamp) == "" {
		e.Timestamp = a.last
	}
	if a.last = e.Timestamp; a.begin.IsZero() {
		a.begin, a.asked = e.Timestamp, e.Timestamp
	}
	if e.Room != nil {
		a.room = e.Room
	}
	switch e.Type {
	case transcript.UserMessage:
		a.asked, a.inside, a.said = e.Timestamp, e.Text, ""
	case transcript.AssistantMessage:
		a.said, a.failed = e.Text, ""
	case transcript.ToolUse:
		o.call(a, e)
	case transcript.ToolResult:
		o.result(a, e)
		a.asked = e.Timestamp
	case transcript.Error:
		a.failed = cmp.Or(e.Text, "error")
		if !o.o.Content {
			a.failed = "error"
		}
	}
	if e.Response != nil {
		o.chat(a, e)
	}
	return o.send(spansAtOnce)
}

// agent is the one that an entry is of.
func (o *otlp) agent(e *archive.Entry) *otlpAgent {
	for _, a := range o.agents {
		if a.first.Source == e.Source {
			return a
		}
	}
	a := &otlpAgent{id: spanID(8, e.Run, "agent", e.Source), calls: map[string]*span{}}
	a.first = archive.Entry{Run: e.Run, Role: e.Role, Project: e.Project}
	a.first.Source, a.first.Adapter, a.first.PromptName, a.first.SessionID = e.Source, e.Adapter, e.PromptName, e.SessionID
	if call := jsontext.Text(jsontext.Get(e.Detail, "parent_tool_use_id")); call != "" && e.Source != transcript.Main {
		a.parent = spanID(8, e.Run, "call", call)
	}
	o.agents = append(o.agents, a)
	return a
}

func (o *otlp) span(a *otlpAgent, name, operation, id, parent string, kind int,
	from, to time.Time) *span {
	if to.Before(from) {
		to = from
	}
	s := &span{TraceID: spanID(16, o.run), SpanID: id, Parent: parent, Name: name, Kind: kind,
		Start: nanos(from), End: nanos(to), from: from}
	s.text("gen_ai.operation.name", operation)
	s.text("gen_ai.provider.name", provider(a.first.Adapter))
	s.text("gen_ai.conversation.id", a.first.SessionID)
	return s
}

// provider is whose model an adapter's program asks, as the conventions call it.
func provider(adapter string) string {
	switch adapter {
	case transcript.AdapterClaude:
		return "anthropic"
	case transcript.AdapterCodex:
		return "openai"
	}
	return adapter
}

func (o *otlp) call(a *otlpAgent, e *archive.Entry) {
	name := orTool(e.Tool)
	call := cmp.Or(e.ToolID, e.Source+strconv.FormatInt(e.Sequence, 10))
	s := o.span(a, "execute_tool "+name, "execute_tool", spanID(8, o.run, "call", call), a.id, kindInternal, e.Timestamp, e.Timestamp)
	o.called[s.SpanID] = true
	s.text("gen_ai.tool.name", name)
	s.text("gen_ai.tool.call.id", e.ToolID)
	if o.o.Content {
		s.text("gen_ai.tool.call.arguments", string(arguments(e)))
	}
	if e.ToolID == "" {
		o.ready = append(o.ready, *s) // nothing will be known to answer it
		return
	}
	a.calls[e.ToolID] = s
}

func (o *otlp) result(a *otlpAgent, e *archive.Entry) {
	s := a.calls[e.ToolID]
	if s == nil {
		return
	}
	delete(a.calls, e.ToolID)
	if e.Timestamp.After(s.from) {
		s.End = nanos(e.Timestamp)
	}
	if e.Failed {
		s.fail("")
	}
	if o.o.Content {
		s.text("gen_ai.tool.call.result", e.Text)
	}
	o.ready = append(o.ready, *s)
}

func (o *otlp) chat(a *otlpAgent, e *archive.Entry) {
	u, model := e.Response, e.Response.Model
	a.model = cmp.Or(model, a.model)
	a.chats++
	name := "chat"
	if model != "" {
		name += " " + model
	}
	id := spanID(8, o.run, "chat", e.Source, strconv.Itoa(a.chats))
	s := o.span(a, name, "chat", id, a.id, kindClient, a.asked, e.Timestamp)
	s.text("gen_ai.request.model", model)
	s.number("gen_ai.usage.input_tokens", u.Input+u.CacheRead+u.CacheWrite)
	s.number("gen_ai.usage.output_tokens", u.Output)
	s.number("gen_ai.usage.cache_read.input_tokens", u.CacheRead)
	s.number("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite)
	if u.CostUSD > 0 {
		s.Attributes = append(s.Attributes, attribute{"conclave.cost_usd", attrValue{Real: &u.CostUSD}})
	}
	if o.o.Content {
		s.text("gen_ai.input.messages", messages("user", a.inside))
		s.text("gen_ai.output.messages", messages("assistant", a.said))
	}
	a.inside, a.said = "", ""
	o.ready = append(o.ready, *s)
}

// messages is one message of one text in the form of the conventions.
func messages(role, text string) string {
	if text == "" {
		return ""
	}
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	b, err := json.Marshal([]struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}{{role, []part{{"text", text}}}})
	if err != nil {
		return "" // texts always encode
	}
	return string(b)
}

// endRun ends the agents of the run at hand, and the calls that nothing
// answered. A subagent hangs at the call that began it, else at the main agent.
func (o *otlp) endRun() {
	main := ""
	for _, a := range o.agents {
		if a.first.Source == transcript.Main {
			main = a.id
		}
	}
	for _, a := range o.agents {
		if !o.called[a.parent] && a.id != main {
			a.parent = main
		}
		for _, s := range a.calls {
			o.ready = append(o.ready, *s)
		}
		name := cmp.Or(a.first.Role, a.first.PromptName, a.first.Source)
		if a.first.Source != transcript.Main {
			name = a.first.Source
		}
		s := o.span(a, "invoke_agent "+name, "invoke_agent", a.id, a.parent, kindInternal, a.begin, a.last)
		s.text("gen_ai.agent.name", name)
		s.text("gen_ai.request.model", a.model)
		s.text("conclave.run", a.first.Run)
		s.text("conclave.role", a.first.Role)
		s.text("conclave.source", a.first.Source)
		s.text("conclave.prompt_name", a.first.PromptName)
		s.text("conclave.project", a.first.Project)
		if r := a.room; r != nil {
			s.text("conclave.level", r.Level)
			s.text("conclave.model_input", r.ModelInput)
			s.texts("conclave.given", r.Given)
			s.texts("conclave.denied", r.Denied)
		}
		if a.failed != "" {
			s.fail(a.failed)
		}
		o.ready = append(o.ready, *s)
	}
	o.agents = nil
}

// send writes requests while there are as many spans as one takes.
func (o *otlp) send(from int) error {
	for len(o.ready) >= from && len(o.ready) > 0 {
		n := min(len(o.ready), spansAtOnce)
		resource := span{}
		resource.text("service.name", "conclave")
		type object = map[string]any
		enc := json.NewEncoder(o.out)
		enc.SetEscapeHTML(false)
		err := enc.Encode(object{"resourceSpans": []any{object{
			"resource":   object{"attributes": resource.Attributes},
			"scopeSpans": []any{object{"scope": object{"name": "conclave"}, "spans": o.ready[:n]}},
		}}})
		if err != nil {
			return err
		}
		o.ready = append(o.ready[:0], o.ready[n:]...)
	}
	return nil
}

func (o *otlp) close() error {
	o.endRun()
	return o.send(1)
}
