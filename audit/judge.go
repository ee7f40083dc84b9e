package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"conclave/internal/jsontext"
	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/record"
	"conclave/transcript"
)

// Judge reads the record in src and judges it.
func Judge(src io.ReaderAt) (*Report, error) {
	verified, err := record.VerifyReader(src)
	if err != nil {
		return nil, err
	}
	_, collected := verified.Header.Attributes["collected"]
	j := &judge{collected: collected, report: &Report{
		Run: verified.Header.Run, Head: verified.Head.String(), Sound: verified.Sound() == nil, Sealed: verified.Sealed,
		Role: verified.Header.Attributes["role"], Prompt: verified.Header.Attributes["prompt_name"],
		Adapter: verified.Header.Attributes["adapter"],
		Turns:   []Turn{}, Findings: []Finding{}, Gaps: []string{}, Unseen: unseen,
	}, turns: map[string]*Turn{}, order: transcript.NewChecker(), requests: map[string]*bytes.Buffer{}, known: map[string]bool{}}
	if err := verified.Sound(); err != nil {
		j.find(RuleChain, 0, "%v", err)
	}
	if verified.Withheld > 0 {
		j.gap("%d payloads are withheld in this copy and were not looked at", verified.Withheld)
	}
	r := record.NewReader(src)
	for r.Next() {
		j.frame(r.Frame())
	}
	j.finish()
	return j.report, nil
}

type judge struct {
	report    *Report
	collected bool // what the record holds is another program's session
	turns     map[string]*Turn
	at        string // the turn that is running
	frameN    uint64

	opened   *Room
	denied   *shingle.Set
	pending  []Source // whose fingerprints are still to come
	sought   int      // sources that are looked for
	order    *transcript.Checker
	broken   bool // an order violation was reported
	requests map[string]*bytes.Buffer
	known    map[string]bool // findings, each once
}

// find notes a finding, once for each turn: a conversation repeats itself in
// every request to the model.
func (j *judge) find(rule string, frame uint64, format string, args ...any) {
	key := fmt.Sprint(rule, "\x00", j.at, "\x00", fmt.Sprintf(format, args...))
	if j.known[key] {
		return
	}
	j.known[key] = true
	j.report.Findings = append(j.report.Findings, Finding{Rule: rule, Turn: j.at, Frame: frame, What: fmt.Sprintf(format, args...)})
}

func (j *judge) gap(format string, args ...any) {
	j.report.Gaps = append(j.report.Gaps, fmt.Sprintf(format, args...))
}

func (j *judge) frame(f record.Frame) {
	j.frameN = f.Number
	switch {
	case f.Withheld:
	case f.Kind == record.KindLog:
		j.log(f.Payload)
	case f.Kind == record.KindBlob:
		channel, data := f.Blob()
		j.blob(channel, data)
	}
}

// log takes one log record.
func (j *judge) log(line []byte) {
	if v := j.order.Line(line); v != nil && !j.broken {
		j.broken = true
		j.find(RuleOrder, j.frameN, "%s: %s", v.Invariant, v.Reason)
	}
	event, _ := jsontext.String(jsontext.Get(line, "event"))
	context := jsontext.Get(line, "context")
	switch event {
	case EventRoom:
		decode(j, context, j.room)
	case EventMessage:
		decode(j, context, j.message)
	case EventReply:
		decode(j, context, func(r Reply) { j.turn(r.Turn).Answered = true })
	case EventReceipt:
		decode(j, context, j.receipt)
	case "tool.call":
		decode(j, context, j.called)
	case "tool.result":
		j.search("the result of a tool", context)
		decode(j, context, j.settled)
	case transcript.EventEntry:
		j.entry(context)
	}
}

func decode[T any](j *judge, context []byte, fn func(T)) {
	var v T
	if err := json.Unmarshal(context, &v); err != nil {
		j.find(RuleReceipt, j.frameN, "an event that cannot be read: %v", err)
		return
	}
	fn(v)
}

func (j *judge) turn(id string) *Turn {
	t := j.turns[id]
	if t == nil {
		t = &Turn{ID: id, Role: j.report.Role, Given: []Item{}, Declared: []string{}}
		j.turns[id] = t
		if j.opened != nil {
			t.Role, t.Given, t.Denied, t.Sought = j.opened.Role, j.opened.Given, len(j.opened.Denied), j.sought
		}
		j.report.Turns = append(j.report.Turns, *t)
	}
	j.at = id
	return t
}

// room: everything in it must be the role's to know.
func (j *judge) room(r Room) {
	j.opened = &r
	j.report.Role = r.Role
	for _, f := range Given(r.Role, r.Given) {
		j.find(f.Rule, j.frameN, "%s", f.What)
	}
	var err error
	if j.denied, err = shingle.NewSet(r.Key); err != nil {
		j.find(RuleFound, j.frameN, "the fingerprints have no key: nothing can be looked for")
	} else if r.Readings < 2 {
		j.denied.AsWritten() // what was given, too, was looked at in this way alone
	}
	j.pending, j.sought = nil, 0
	var short []string
	for _, s := range r.Denied {
		if s.Windows > 0 {
			j.pending = append(j.pending, s)
		} else if s.Size > 0 {
			short = append(short, s.Name)
		}
	}
	if len(short) > 0 {
		j.gap("too short to be recognised, or shared with what was given: %s", strings.Join(short, ", "))
	}
}

// message: what the person and the engine said must not carry denied text.
func (j *judge) message(m Message) {
	j.turn(m.Turn)
	for _, p := range m.Parts {
		j.searchText("the message ("+p.Origin+")", []byte(p.Text))
	}
}

// receipt: it must be there, and the room it speaks of must have been locked.
func (j *judge) receipt(r Receipt) {
	t := j.turn(r.Turn)
	shown := r.Shown()
	t.Receipt, t.Level, t.Required = true, shown.Level, string(policy.Required(policy.Role(r.Role)))
	t.Model, t.Calls, t.Stamps, t.Probes = r.ModelInput, r.Calls, r.Stamps, shown.Probes
	for _, f := range shown.Findings {
		j.find(f.Rule, j.frameN, "%s", f.What)
	}
	for _, g := range shown.Gaps {
		j.gap("turn %s: %s", r.Turn, g)
	}
}

// toolEvent is what the toolbox says of a call and of its end.
type toolEvent struct {
	Tool    string
	SHA256  string `json:"input_sha256"`
	Bytes   int    `json:"input_bytes"`
	IsError bool   `json:"is_error"`
}

func (j *judge) called(e toolEvent) {
	if t := j.turns[j.at]; t != nil {
		t.Tools = append(t.Tools, Tool{Name: e.Tool, SHA256: e.SHA256, Bytes: e.Bytes})
	}
}

// settled: tools run one at a time, so the end belongs to the last call.
func (j *judge) settled(e toolEvent) {
	if t := j.turns[j.at]; t != nil && len(t.Tools) > 0 {
		t.Tools[len(t.Tools)-1].Failed = e.IsError
	}
}

// entry: the results of tools are looked through, and the paths of calls are
// noted.
func (j *judge) entry(context []byte) {
	kind, _ := jsontext.String(jsontext.Get(context, "entry_type"))
	detail := jsontext.Get(context, "detail")
	switch transcript.Type(kind) {
	case transcript.ToolResult, transcript.UserMessage:
		j.search("an entry of type "+kind, detail)
	case transcript.ToolUse:
		if t := j.turns[j.at]; t != nil {
			t.Declared = appendPaths(t.Declared, detail)
		}
	}
}

// blob: fingerprints are taken, requests are put together.
func (j *judge) blob(channel string, data []byte) {
	what, id, _ := strings.Cut(channel, "/")
	switch what {
	case FingerprintChannel:
		j.fingerprints(data)
	case "gateway.request", "gateway.refused": // what was refused was tried
		if j.requests[id] == nil {
			j.requests[id] = &bytes.Buffer{}
		}
		j.requests[id].Write(data)
		if body := j.requests[id].Bytes(); jsontext.Valid(body) {
			j.search("what the model was sent", body)
			delete(j.requests, id)
		}
	}
}

func (j *judge) fingerprints(data []byte) {
	if len(j.pending) == 0 || len(data)%len(shingle.Digest{}) != 0 || j.denied == nil {
		j.find(RuleFound, j.frameN, "fingerprints that belong to no source")
		return
	}
	source := j.pending[0]
	j.pending = j.pending[1:]
	var digests []shingle.Digest
	for digest := range slices.Chunk(data, len(shingle.Digest{})) {
		digests = append(digests, shingle.Digest(digest))
	}
	j.denied.AddDigests(source.Name, digests)
	j.sought++
}

// unsealed: an evaluator's run ends with its verdict, so one without an end was
// cut short. A session that is taken up, a table that waits for somebody and a
// conversation that can be gone on with have no end yet; what comes later is
// judged later.
func (j *judge) unsealed() {
	switch {
	case j.report.Sealed:
	case policy.Role(j.report.Role).Evaluator():
		j.find(RuleSeal, 0, "the run goes on, or was cut short and never resumed")
	case j.report.Run == "":
		j.gap("not sealed: its head was never written: it goes on, or was cut short as it began")
	case j.collected:
		j.gap("not sealed: a session of another program, which may go on")
	case j.opened == nil && len(j.report.Turns) == 0:
		j.gap("not sealed: a run of Conclave's own that goes on, or was cut short")
	default:
		j.gap("not sealed: the run can still go on, and what comes then is not judged here")
	}
}

func (j *judge) finish() {
	j.at = ""
	j.unsealed()
	for _, s := range j.pending {
		j.find(RuleFound, 0, "the fingerprints of %s are missing: it cannot be looked for", s.Name)
	}
	for id := range j.requests {
		j.gap("request %s to the model is not whole and was not looked through", id)
	}
	for i, t := range j.report.Turns {
		j.report.Turns[i] = *j.turns[t.ID]
		if !j.turns[t.ID].Receipt {
			j.at = t.ID
			j.find(RuleReceipt, 0, "the turn has no receipt")
		}
	}
}
