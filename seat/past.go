package seat

import (
	"encoding/json"
	"errors"
	"strings"

	"conclave/agent"
	"conclave/audit"
	"conclave/internal/jsontext"
	"conclave/record"
	"conclave/toolbox"
	"conclave/transcript"
)

// past is what the record knows of a run that is opened again.
type past struct {
	sealed   *record.Seal
	summary  *transcript.Summary
	session  string // the last session's id
	attempts map[string]int
	replies  map[string]agent.Reply
	order    []exchange
	asked    map[string][]audit.Part
	calls    []string // of tools, in the turn that is read
}

type exchange struct {
	parts []audit.Part
	calls []string
	reply string
}

func newPast() past {
	return past{attempts: map[string]int{}, replies: map[string]agent.Reply{}, asked: map[string][]audit.Part{}}
}

// readPast opens a record to continue it. A sealed one gives no writer.
func readPast(path string) (*record.Writer, past, error) {
	p := newPast()
	var entries []transcript.Entry
	visit := func(f record.Frame) error {
		if f.Kind != record.KindLog {
			return nil
		}
		if e, err := transcript.ParseEntry(f.Payload); err == nil {
			e.Detail, e.Raw = nil, nil
			entries = append(entries, e)
			return nil
		}
		return p.event(f.Payload)
	}
	w, recovery, err := record.ResumeEach(path, visit)
	if errors.Is(err, record.ErrSealed) {
		p.sealed = recovery.Seal
		return nil, p, readSealed(path, visit)
	}
	summary := transcript.Summarise(entries)
	p.summary = &summary
	return w, p, err
}

func readSealed(path string, visit func(record.Frame) error) error {
	r, err := record.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for r.Next() {
		if err := visit(r.Frame()); err != nil {
			return err
		}
	}
	return r.Err()
}

// event takes what a log line says of turns.
func (p *past) event(line []byte) error {
	name, _ := jsontext.String(jsontext.Get(line, "event"))
	context := jsontext.Get(line, "context")
	switch name {
	case audit.EventMessage:
		var m audit.Message
		if err := json.Unmarshal(context, &m); err != nil {
			return err
		}
		p.attempts[m.Turn] = max(p.attempts[m.Turn], m.Attempt)
		p.asked[m.Turn], p.calls = m.Parts, nil
	case toolbox.EventCall, toolbox.EventResult:
		var c struct{ Tool, Input, Result string }
		if err := json.Unmarshal(context, &c); err != nil {
			return err
		}
		if name == toolbox.EventCall {
			p.calls = append(p.calls, "called "+c.Tool+" with "+c.Input)
		} else {
			p.calls = append(p.calls, "were told: "+c.Result)
		}
	case audit.EventReply:
		var r audit.Reply
		if err := json.Unmarshal(context, &r); err != nil {
			return err
		}
		reply := agent.Reply{
			Text: r.Text, Structured: r.Structured, Stopped: r.Stopped,
			Usage: transcript.Usage(r.Usage),
		}
		for _, u := range r.Uses {
			reply.Uses = append(reply.Uses, agent.ToolUse(u))
		}
		p.add(r.Turn, p.asked[r.Turn], reply)
	case audit.EventReceipt:
		var r audit.Receipt
		if err := json.Unmarshal(context, &r); err != nil {
			return err
		}
		if _, done := p.replies[r.Turn]; done {
			p.session = r.Session
		}
	}
	return nil
}

func (p *past) add(turn string, parts []audit.Part, r agent.Reply) {
	p.replies[turn] = r
	p.order = append(p.order, exchange{parts, p.calls, r.Text})
	p.calls = nil
}

// history is the conversation so far, for an agent whose session was lost: it
// must not wake up with amnesia.
func (p *past) history(fresh bool) string {
	if !fresh || len(p.order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Your session was interrupted and begins anew. This is the conversation so far, word for word; continue it.\n")
	for _, x := range p.order {
		b.WriteString("\n--- you were told:\n")
		for _, part := range x.parts {
			b.WriteString(part.Text + "\n")
		}
		for _, c := range x.calls {
			b.WriteString("\n--- you " + c + "\n")
		}
		b.WriteString("\n--- you said:\n" + x.reply + "\n")
	}
	return b.String()
}
