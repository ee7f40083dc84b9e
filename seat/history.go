package seat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/audit"
	"conclave/gateway"
	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/session/claude"
	"conclave/toolbox"
	"conclave/transcript"
)

// History is what the record of a run tells of its turns: what was asked, said
// and called, what it cost, and the receipts. It is the only way from a record
// to turns; an open seat keeps its own with the same function. Its methods are
// safe for concurrent use: tools are called while a turn goes on.
type History struct {
	Header record.Header

	seal    *record.Seal        // nil while the run goes on
	summary *transcript.Summary // of its entries, for whoever continues it

	mu       sync.Mutex
	given    []audit.Item
	enforced audit.Enforcement
	turns    []*PastTurn // in the order in which they were asked
	running  *PastTurn
	receipts []audit.Receipt
	session  string // of the last finished turn

	answered []gateway.Answered // of an attempt that was cut, for whoever asks again
}

// PastTurn is a turn as its record has it.
type PastTurn struct {
	ID       string
	Attempts int          // begun, whether finished or not
	Asked    []audit.Part // in the last attempt
	Calls    []Call       // in the last attempt, in order
	// Heard is what the agent said in the last attempt, block by block, as far as
	// it came. It is known of a record that is read, not of an open seat.
	Heard []string
	// Half is what had been heard then of a block that did not end.
	Half     string
	streamed string // all that was heard, as it came
	entries  []transcript.Entry
	Finished bool
	Reply    agent.Reply      // of the finished one
	Files    []audit.HandedIn // with it, or with an attempt that failed
}

// Call is a call of one of the room's tools.
type Call struct {
	Tool   string
	Input  string
	Ended  bool
	Result string // what the agent was told at its end
	Failed bool   // refused, or without effect
	// Said is how much of the reply's text had been said before it.
	Said int

	number int // within its toolbox
}

// ReadHistory reads a record. One that is being written is read as far as it
// goes. Events that are no turn's go to other, unless it is nil.
func ReadHistory(path string, other func(event string, context []byte) error) (*History, error) {
	r, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h, err := readFrames(r, other, func(header record.Header) error { return record.Named(path, header) })
	if h == nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return h, err
}

// ReadHistoryOf reads a record of which nobody says what it is called.
func ReadHistoryOf(src io.ReaderAt, other func(event string, context []byte) error) (*History, error) {
	return readFrames(record.NewReader(src), other, func(record.Header) error { return nil })
}

func readFrames(r *record.Reader, other func(string, []byte) error, named func(record.Header) error) (*History, error) {
	h := &History{}
	for r.Next() {
		f := r.Frame()
		err := h.frame(f, other)
		if err == nil && f.Kind == record.KindHeader {
			err = named(h.Header)
		}
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", f.Number, err)
		}
	}
	return h, r.Err()
}

// resume opens a record to continue it. A sealed one gives no writer.
func resume(path string) (*record.Writer, *History, error) {
	h := &History{}
	var entries []transcript.Entry
	var paid answered
	w, recovery, err := record.ResumeEach(path, func(f record.Frame) error {
		paid.take(f)
		if f.Kind == record.KindLog {
			if e, err := transcript.ParseEntry(f.Payload); err == nil {
				h.keep(e)
				e.Detail, e.Raw = nil, nil
				entries = append(entries, e)
				return nil
			}
		}
		return h.frame(f, nil)
	})
	if errors.Is(err, record.ErrSealed) {
		h.seal = recovery.Seal
		return nil, h, nil
	}
	summary := transcript.Summarise(entries)
	h.summary, h.answered = &summary, paid.calls
	return w, h, err
}

func (h *History) frame(f record.Frame, other func(string, []byte) error) error {
	switch {
	case f.Withheld:
	case f.Kind == record.KindHeader:
		return json.Unmarshal(f.Payload, &h.Header)
	case f.Kind == record.KindSeal:
		return json.Unmarshal(f.Payload, &h.seal)
	case f.Kind == record.KindLog:
		return h.line(f.Payload, other)
	case f.Kind == record.KindBlob && h.running != nil:
		if channel, data := f.Blob(); channel == audit.HeardChannel {
			h.running.streamed += string(data)
		}
	}
	return nil
}

func (h *History) line(line []byte, other func(string, []byte) error) error {
	event, _ := jsontext.String(jsontext.Get(line, "event"))
	context := jsontext.Get(line, "context")
	switch event {
	case audit.EventRoom:
		return fold[audit.Room](h, context)
	case audit.EventMessage:
		return fold[audit.Message](h, context)
	case toolbox.EventCall:
		return fold[toolbox.CallEvent](h, context)
	case toolbox.EventResult:
		return fold[toolbox.ResultEvent](h, context)
	case audit.EventReply:
		return fold[audit.Reply](h, context)
	case audit.EventFailed:
		return fold[audit.Failed](h, context)
	case audit.EventReceipt:
		return fold[audit.Receipt](h, context)
	case transcript.EventEntry:
		h.hear(line)
		return nil
	}
	if other == nil {
		return nil
	}
	return other(event, context)
}

// keep keeps an entry of an agent that takes its conversation up again from there.
func (h *History) keep(e transcript.Entry) {
	if h.running == nil || e.Adapter != transcript.AdapterModel || e.Source != transcript.Main {
		return
	}
	e.Detail, e.Raw = bytes.Clone(e.Detail), bytes.Clone(e.Raw)
	h.running.entries = append(h.running.entries, e)
}

// hear notes a block that the agent said in the turn that goes on. What its
// helpers said to it is not said to the person.
func (h *History) hear(line []byte) {
	kind, _ := jsontext.String(jsontext.Get(jsontext.Get(line, "context"), "entry_type"))
	if kind != string(transcript.AssistantMessage) || h.running == nil {
		return
	}
	e, err := transcript.ParseEntry(line)
	if err != nil || e.Source != transcript.Main {
		return
	}
	if text := Words(e); text != "" {
		h.running.Heard = append(h.running.Heard, text)
	}
}

// Words are those of a block that an agent said, whoever drives it.
func Words(e transcript.Entry) string {
	if e.Adapter == transcript.AdapterClaude {
		return claude.Text(e.Detail)
	}
	text, _ := jsontext.String(jsontext.Get(e.Detail, "text"))
	return text
}

// half is what was heard behind the blocks that ended. A program may tell of a
// block's end when it is at the next one, or before anybody has heard it.
func (t *PastTurn) half() string {
	rest := strings.TrimSpace(t.streamed)
	for _, block := range t.Heard {
		after, _ := strings.CutPrefix(rest, strings.TrimSpace(block))
		rest = strings.TrimSpace(after)
	}
	if strings.Contains(strings.Join(t.Heard, "\n"), rest) {
		return "" // it is said already, if perhaps in another order
	}
	return rest
}

func fold[T any](h *History, context []byte) error {
	var event T
	if err := json.Unmarshal(context, &event); err != nil {
		return err
	}
	h.add(event)
	return nil
}

// add takes an event in its stored form, from the record or on its way there.
func (h *History) add(event any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e := event.(type) {
	case audit.Room:
		h.given = e.Given
	case audit.Message:
		t := h.turn(e.Turn)
		if t == nil {
			t = &PastTurn{ID: e.Turn}
			h.turns = append(h.turns, t)
		}
		t.Attempts, t.Asked, t.Calls, t.Heard, t.streamed = max(t.Attempts, e.Attempt), e.Parts, nil, nil, ""
		t.entries = nil
		h.running = t
	case toolbox.CallEvent:
		if h.running != nil {
			h.running.Calls = append(h.running.Calls, Call{Tool: e.Tool, Input: e.Input, number: e.Call})
		}
	case toolbox.ResultEvent:
		if h.running != nil {
			h.running.ended(e)
		}
	case audit.Reply:
		if t := h.turn(e.Turn); t != nil {
			t.finish(e)
			h.running = nil // what is called from now on is not of this turn
		}
	case audit.Failed:
		if t := h.turn(e.Turn); t != nil {
			t.Files = e.Files
		}
	case audit.Receipt:
		if t := h.turn(e.Turn); t != nil && t.Finished {
			h.session = e.Session
		}
		h.enforced = e.Enforced
		e.Given, e.Enforced.Probes = nil, nil // long, and of each turn nobody asks
		h.receipts = append(h.receipts, e)
	}
}

func (h *History) turn(id string) *PastTurn {
	if i := slices.IndexFunc(h.turns, func(t *PastTurn) bool { return t.ID == id }); i >= 0 {
		return h.turns[i]
	}
	return nil
}

func (t *PastTurn) ended(e toolbox.ResultEvent) {
	for i := range t.Calls {
		if c := &t.Calls[i]; c.number == e.Call {
			c.Ended, c.Result, c.Failed = true, e.Result, e.IsError
		}
	}
}

func (t *PastTurn) finish(e audit.Reply) {
	t.Finished, t.Files = true, e.Files
	t.Reply = agent.Reply{Text: e.Text, Structured: e.Structured, Stopped: e.Stopped, Usage: transcript.Usage(e.Usage)}
	for _, u := range e.Uses {
		t.Reply.Uses = append(t.Reply.Uses, agent.ToolUse(u))
	}
	placeCalls(t.Calls, t.Reply)
}

// placeCalls finds the calls among the uses of a reply: the first of a name is the
// first of that name there. A call that the agent does not tell of comes last.
func placeCalls(calls []Call, reply agent.Reply) {
	seen := map[string]int{}
	for i := range calls {
		n := seen[calls[i].Tool]
		seen[calls[i].Tool]++
		calls[i].Said = len(reply.Text)
		for _, u := range reply.Uses {
			// Many programs put the name of the server in front.
			if u.Name != calls[i].Tool && !strings.HasSuffix(u.Name, "__"+calls[i].Tool) {
				continue
			}
			if n == 0 {
				calls[i].Said = min(u.Said, len(reply.Text))
				break
			}
			n--
		}
	}
}

// Turn returns a turn; one that was never asked has no attempts.
func (h *History) Turn(id string) PastTurn {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.turn(id)
	if t == nil {
		return PastTurn{ID: id}
	}
	past := *t
	past.Calls = slices.Clone(t.Calls)
	past.Half = t.half()
	return past
}

// Handed is what was handed in last by a tool whose call had an effect; nil
// where nothing was.
func (t PastTurn) Handed(tool string) []byte {
	for _, c := range slices.Backward(t.Calls) {
		if c.Tool == tool && !c.Failed {
			return []byte(c.Input)
		}
	}
	return nil
}

// Words is what the person, or an agent in their place, said in a turn, without
// the words of the engine around it.
func (t PastTurn) Words() string {
	for _, p := range t.Asked {
		if p.Said() {
			return p.Text
		}
	}
	return ""
}

// Receipts are those of all attempts, in order, without what was given and
// probed.
func (h *History) Receipts() []audit.Receipt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.receipts)
}

// Given is what the room held when it was last opened.
func (h *History) Given() []audit.Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.given)
}

// Enforced is what held the room when the last turn ended, with its probes.
func (h *History) Enforced() audit.Enforcement {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.enforced
}

// Sealed says that the run is over.
func (h *History) Sealed() bool { return h.seal != nil }

// joined is a message as the agent gets it: its parts with a blank line between.
func joined(parts []audit.Part) string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// retold is the conversation so far, for an agent whose session was lost: it
// must not wake up with amnesia.
func (h *History) retold() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, t := range h.turns {
		if !t.Finished {
			continue
		}
		b.WriteString("\n--- you were told:\n" + t.told() + "\n")
		for _, c := range t.Calls {
			b.WriteString("\n--- you called " + c.Tool + " with " + c.Input + "\n")
			if c.Ended {
				b.WriteString("\n--- you were told: " + c.Result + "\n")
			}
		}
		b.WriteString("\n--- you said:\n" + t.Reply.Text + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return beginsAnew + " This is the conversation so far, word for word; continue it.\n" + b.String()
}

// told is what the agent was told, without an earlier retelling: all of that
// stands in the turns before this one.
func (t *PastTurn) told() string {
	asked := t.Asked
	if len(asked) > 1 && asked[0].Origin == audit.FromEngine && strings.HasPrefix(asked[0].Text, beginsAnew) {
		asked = asked[1:]
	}
	return joined(asked)
}

// past is the conversation so far, for an agent in this process that goes on
// with it.
func (h *History) past() []agent.Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []agent.Exchange
	for _, t := range h.turns {
		if !t.Finished {
			continue
		}
		x := agent.Exchange{Told: t.told(), Said: t.Reply.Text, Entries: t.entries}
		t.entries = nil // whoever goes on has them now
		for _, c := range t.Calls {
			x.Calls = append(x.Calls, agent.PastCall{Tool: c.Tool, Input: c.Input, Ended: c.Ended, Result: c.Result})
		}
		out = append(out, x)
	}
	return out
}

// beginsAnew is how a retelling begins.
const beginsAnew = "Your session was interrupted and begins anew."
