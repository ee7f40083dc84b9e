package seat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"conclave/agent"
	"conclave/audit"
	"conclave/transcript"
)

// Agent is who sits here.
func (s *Seat) Agent() agent.Agent { return s.plan.Agent }

// Free says that whoever sits here asks no model: the embedded party.
func (s *Seat) Free() bool { return s.plan.Agent.Adapter() == transcript.AdapterOffline }

// History tells what the run's record says of its turns so far.
func (s *Seat) History() *History { return s.history }

// Take takes a turn. A reply that is durable is returned as it was given; an
// unfinished turn is asked again. When Take returns a reply, its last byte is
// durable, and so is its receipt.
func (s *Seat) Take(ctx context.Context, t Turn) (agent.Reply, error) {
	past := s.history.Turn(t.ID)
	if past.Finished {
		return past.Reply, nil
	}
	if s.history.Sealed() || s.closed {
		return agent.Reply{}, fmt.Errorf("take the turn %s: the run %s is over", t.ID, s.plan.Run)
	}
	if t.ID == "" || len(t.Parts) == 0 {
		return agent.Reply{}, errors.New("take a turn: it needs an id and something to say")
	}
	if err := s.affordLogin(); err != nil {
		return agent.Reply{}, err
	}
	started := time.Now()
	s.toolbox.BeginTurn()
	message := audit.Message{Turn: t.ID, Attempt: past.Attempts + 1, Parts: t.Parts}
	if s.session == nil && !s.remembers() {
		if told := s.history.retold(); told != "" {
			message.Parts = append([]audit.Part{{Origin: audit.FromEngine, Text: told}}, t.Parts...)
		}
	}
	if err := s.Event(audit.EventMessage, "message", message); err != nil {
		return agent.Reply{}, err
	}
	s.history.add(message)
	reply, err := s.ask(ctx, message.Parts, t)
	err = s.overrun(started, err)
	if counting := s.count(&reply); counting != nil {
		err = errors.Join(err, counting)
	}
	reply, err = s.withoutLogin(reply, err)
	err = s.unanswered(ctx, started, err)
	if s.gateway == nil && s.plan.Account != nil {
		s.plan.Account.Spend(Told(reply.Usage))
	}
	receipt := s.receipt(message, reply, started)
	if err != nil {
		failed := audit.Failed{Turn: t.ID, Attempt: message.Attempt, Error: err.Error(), Cut: s.cut(ctx)}
		failed.Files, _ = s.handedIn() // what can be read of it
		s.history.add(failed)
		return reply, errors.Join(err, s.note(audit.EventFailed, "turn failed", failed),
			s.note(audit.EventReceipt, "receipt", receipt))
	}
	said := audit.Reply{
		Turn: t.ID, Attempt: message.Attempt, Text: reply.Text, Uses: stored(reply.Uses), Structured: reply.Structured,
		Stopped: reply.Stopped, Usage: audit.Usage(reply.Usage),
	}
	if said.Files, err = s.handedIn(); err != nil {
		return agent.Reply{}, err
	}
	if err := errors.Join(s.note(audit.EventReply, "reply", said), s.Event(audit.EventReceipt, "receipt", receipt)); err != nil {
		return agent.Reply{}, err
	}
	s.history.add(said)
	s.history.add(receipt)
	return reply, nil
}

// cut says whether a turn failed because it was stopped, or because the model's
// server did not answer: who asks again does not want another answer then.
func (s *Seat) cut(ctx context.Context) bool {
	if ctx.Err() != nil {
		return true
	}
	if s.gateway == nil {
		return false
	}
	calls := s.gateway.Observed().Exchanges
	return len(calls) > 0 && (calls[len(calls)-1].Error != "" || calls[len(calls)-1].Status != http.StatusOK)
}

// maxHandedIn bounds what of one file stands on the record.
const maxHandedIn = 256 << 10

// handedIn is what the agent left in its outbox since it was last emptied. What
// is lost with this process before the reply is on the record is handed in
// again: the turn is then asked again.
func (s *Seat) handedIn() ([]audit.HandedIn, error) {
	files, left, err := s.roomOrDesk.TakeOutbox()
	if err != nil {
		return nil, err
	}
	var out []audit.HandedIn
	for _, f := range files {
		h := audit.HandedIn{Name: string(s.lent.Clean([]byte(f.Name)))}
		switch {
		case s.lent.In(f.Data) || s.lent.In([]byte(f.Name)):
			h.Fault = "it repeats the credential that was lent to this room"
		case len(f.Data) > maxHandedIn:
			h.Fault = fmt.Sprintf("it has %d bytes, limit %d", len(f.Data), maxHandedIn)
		case !utf8.Valid(f.Data):
			h.Fault = "it is not valid UTF-8"
		default:
			h.Text = string(f.Data)
		}
		out = append(out, h)
	}
	for _, l := range left {
		name := s.lent.Clean([]byte(strings.TrimPrefix(l.Path, agent.OutboxDir+"/")))
		out = append(out, audit.HandedIn{Name: string(name), Fault: l.Why})
	}
	return out, nil
}

// toolEvents puts the calls of tools on the record, and into the history.
type toolEvents struct{ s *Seat }

func (t toolEvents) Event(level slog.Level, event, message string, context any) error {
	if err := t.s.emitter.Event(level, event, message, context); err != nil {
		return err
	}
	t.s.history.add(context)
	return nil
}

// remembers says whether the agent finds its place again by its session's id.
// The embedded party does not: it has to be told what was said.
func (s *Seat) remembers() bool {
	return s.plan.InProcess && !s.Free()
}

func (s *Seat) note(event, message string, context any) error {
	return s.emitter.Event(slog.LevelInfo, event, message, context)
}

func (s *Seat) ask(ctx context.Context, parts []audit.Part, t Turn) (agent.Reply, error) {
	if s.session == nil {
		if err := s.start(ctx); err != nil {
			return agent.Reply{}, err
		}
	}
	turn, err := s.session.Send(ctx, agent.Message{Text: joined(parts), Images: t.Images, Schema: json.RawMessage(t.Schema)})
	if err != nil {
		return agent.Reply{}, err
	}
	for {
		e, err := turn.Next()
		if errors.Is(err, io.EOF) {
			return turn.Reply(), nil
		}
		if err != nil {
			return turn.Reply(), err
		}
		if t.Watch == nil {
			continue
		}
		if e.Delta != "" {
			// What somebody has heard is not lost with this process.
			if err := errors.Join(s.writer.AppendBlob(audit.HeardChannel, []byte(e.Delta)), s.writer.Flush()); err != nil {
				return turn.Reply(), err
			}
		}
		t.Watch(e)
	}
}

func (s *Seat) start(ctx context.Context) error {
	spec := agent.Spec{
		Role: s.plan.Role, System: s.plan.System, Limits: s.plan.Limits,
		Model:   agent.Model{Name: s.plan.Model},
		Tools:   agent.Tools{Builtin: s.plan.Builtin, Caller: s.toolbox, Offers: s.toolbox.Offers()},
		Emitter: s.emitter, Blobs: s.blobs(),
	}
	if s.plan.InProcess {
		spec.Files, spec.HandIn = s.desk.Files(), s.desk.HandIn
		spec.Resume, spec.Past = s.history.session, s.history.past()
	} else {
		spec.Place, spec.Launcher = s.room.Place(), s.room
	}
	switch {
	case s.gateway == nil:
	case s.plan.InProcess:
		spec.Model.BaseURL, spec.Model.Token, spec.Model.Dial = deskGateway, s.gateway.Token(), s.gateway.Dial
	default:
		spec.Model.BaseURL, spec.Model.Token = s.room.GatewayURL(), s.gateway.Token()
		if len(s.plan.Tools) > 0 {
			spec.Tools.MCP = []agent.MCPServer{s.roomTools(s.gateway.Token())}
		}
	}
	if s.forwarder != nil {
		s.lend(&spec)
	}
	session, err := s.plan.Agent.Start(ctx, spec)
	if err != nil {
		return fmt.Errorf("start %s for %s: %w", s.plan.Agent.Adapter(), s.plan.Role, err)
	}
	s.session = session
	return nil
}

// deskGateway is the gateway's address for an agent in this process, which dials
// it by a function.
const deskGateway = "http://gateway"

// roomTools is where a program finds the tools of its room.
func (s *Seat) roomTools(token string) agent.MCPServer {
	return agent.MCPServer{Name: "room", URL: s.room.GatewayURL() + "/mcp", Token: token, Tools: s.toolbox.Names()}
}

func (s *Seat) receipt(m audit.Message, reply agent.Reply, started time.Time) audit.Receipt {
	r := audit.Receipt{
		Turn: m.Turn, Attempts: m.Attempt, Role: s.plan.Role, Adapter: s.plan.Agent.Adapter(),
		InProcess: s.plan.InProcess, ModelInput: audit.InputNone,
		Usage: audit.Usage(reply.Usage), Started: started.UTC(), Ended: time.Now().UTC(), Stamps: s.plan.Stamps,
	}
	if s.session != nil {
		info := s.session.Info()
		r.Program, r.Version, r.Session, r.PID = info.Program, info.Version, info.SessionID, info.PID
		r.Model, r.Login = info.Model, info.Login
	}
	if s.gateway != nil {
		o := s.settled()
		r.ModelInput, r.Calls, r.Refused, r.Replayed = audit.InputObserved, o.Calls, o.Refused, o.Replayed
		r.Estimated = o.Estimated
	}
	switch {
	case s.forwarder != nil:
		s.receiptOfLogin(&r)
	case s.gateway == nil && s.plan.DirectModel:
		r.ModelInput = audit.InputNotObserved
	}
	for _, c := range s.toolbox.Calls() {
		r.Tools = append(r.Tools, c.Tool)
	}
	// Both are plain data of the same form; a difference would be a fault of
	// this package, and is tested for.
	_ = recast(s.roomOrDesk.Manifest().Items, &r.Given)
	if !s.plan.InProcess {
		_ = recast(s.room.Enforcement(), &r.Enforced)
	}
	return r
}

func stored(uses []agent.ToolUse) []audit.ToolUse {
	var out []audit.ToolUse
	for _, u := range uses {
		out = append(out, audit.ToolUse(u))
	}
	return out
}

// recast turns a value into another type with the same JSON form: the
// mechanism's own types into the stored ones.
func recast(from, to any) error {
	b, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}
