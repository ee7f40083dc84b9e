package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"conclave/agent"
	"conclave/audit"
	"conclave/internal/jsontext"
	"conclave/policy"
	"conclave/quest"
	"conclave/record"
	"conclave/transcript"
)

// leaveTimeout bounds how long an agent may take to go.
const leaveTimeout = 10 * time.Second

// EventConversation puts on a seat's record which of its turns stand in which
// conversation file, and everything else that the file says.
const EventConversation = "quest.conversation"

// Filed is the stored form of that event. Within a version fields are only
// added.
type Filed struct {
	File     string `json:"file"` // the name that was free when it was planned
	Agent    string `json:"agent"`
	Skin     string `json:"skin,omitempty"`
	FilePart string `json:"file_part,omitempty"`
	Phase    int    `json:"phase"`
	Mode     string `json:"mode"`
	Start    string `json:"start"` // RFC 3339, with the zone it was drawn in
	Quest    string `json:"quest"`
	Purpose  string `json:"purpose"`
	Speaker  string `json:"speaker"` // the tag of whoever sat here
	// Turns are those whose words stand in the file, in order.
	Turns   []string `json:"turns"`
	Outcome string   `json:"outcome,omitempty"`
	// Runs are the records of a council whose words make up the file, in
	// order, this one last. Lead names that record in those of the others.
	Runs []string `json:"runs,omitempty"`
	Lead string   `json:"lead,omitempty"`
}

// recorded is what a flow takes from a record.
type recorded struct {
	header   record.Header
	sealed   bool
	filed    *Filed
	attempts map[string]int
	person   map[string]string // what the person said in a turn
	replies  map[string]agent.Reply
	receipts []audit.Receipt
	tools    []toolCall
	work     []audit.Item // a stage's, as the Guardian was given it
}

type toolCall struct {
	turn, tool, input string
	refused           bool
}

// readRecord reads a record. One that is being written is read as far as it
// goes.
func readRecord(path string) (*recorded, error) {
	r, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rec := &recorded{attempts: map[string]int{}, person: map[string]string{}, replies: map[string]agent.Reply{}}
	turn := ""
	for r.Next() {
		f := r.Frame()
		if f.Withheld {
			continue
		}
		switch f.Kind {
		case record.KindHeader:
			if err := json.Unmarshal(f.Payload, &rec.header); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if err := record.Named(path, rec.header); err != nil {
				return nil, err
			}
		case record.KindSeal:
			rec.sealed = true
		case record.KindLog:
			if err := rec.line(f.Payload, &turn); err != nil {
				return nil, fmt.Errorf("%s: frame %d: %w", path, f.Number, err)
			}
		}
	}
	return rec, r.Err()
}

func (rec *recorded) line(line []byte, turn *string) error {
	event, _ := jsontext.String(jsontext.Get(line, "event"))
	context := jsontext.Get(line, "context")
	switch event {
	case audit.EventRoom:
		var r audit.Room
		if err := json.Unmarshal(context, &r); err != nil {
			return err
		}
		rec.work = slices.DeleteFunc(r.Given, func(i audit.Item) bool { return i.Kind != string(policy.StageWork) })
	case audit.EventMessage:
		var m audit.Message
		if err := json.Unmarshal(context, &m); err != nil {
			return err
		}
		*turn = m.Turn
		rec.attempts[m.Turn] = max(rec.attempts[m.Turn], m.Attempt)
		rec.person[m.Turn] = personIn(m.Parts)
	case audit.EventReply:
		var r audit.Reply
		if err := json.Unmarshal(context, &r); err != nil {
			return err
		}
		rec.replies[r.Turn] = agent.Reply{Text: r.Text, Structured: r.Structured, Stopped: r.Stopped, Usage: transcript.Usage(r.Usage)}
	case audit.EventReceipt:
		var r audit.Receipt
		if err := json.Unmarshal(context, &r); err != nil {
			return err
		}
		r.Given, r.Enforced.Probes = nil, nil
		rec.receipts = append(rec.receipts, r)
	case EventConversation:
		f := &Filed{}
		if err := json.Unmarshal(context, f); err != nil {
			return err
		}
		rec.filed = f
	case "tool.call", "tool.result":
		return rec.toolLine(event, context, *turn)
	}
	return nil
}

func (rec *recorded) toolLine(event string, context []byte, turn string) error {
	var c struct {
		Tool, Input string
		IsError     bool `json:"is_error"`
	}
	if err := json.Unmarshal(context, &c); err != nil {
		return err
	}
	if event == "tool.call" {
		rec.tools = append(rec.tools, toolCall{turn: turn, tool: c.Tool, input: c.Input})
	} else if n := len(rec.tools); n > 0 { // tools run one at a time
		rec.tools[n-1].refused = c.IsError
	}
	return nil
}

// personIn is what the person said, without the words of the engine around it.
func personIn(parts []audit.Part) string {
	for _, p := range parts {
		if p.Origin == audit.FromPerson {
			return p.Text
		}
	}
	return ""
}

// sealRecord notes on the record of a run what its conversation is, and ends
// it. The seat need not be open: sealing furnishes no room.
func (h *House) sealRecord(run, reason string, f Filed) error {
	h.mu.Lock()
	s := h.seats[run]
	delete(h.seats, run)
	h.mu.Unlock()
	if s != nil {
		f.Outcome = quest.Stamped(f.Outcome, s.Weaker())
		ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		defer cancel()
		if err := s.Event(EventConversation, "conversation", f); err != nil {
			return errors.Join(err, s.Leave(ctx))
		}
		_, err := s.Close(ctx, reason)
		return err
	}
	path, err := record.Path(h.opts.Root, run)
	if err != nil {
		return err
	}
	return sealFile(path, reason, f)
}

func sealFile(path, reason string, f Filed) error {
	var header record.Header
	var entries []transcript.Entry
	w, _, err := record.ResumeEach(path, func(fr record.Frame) error {
		switch fr.Kind {
		case record.KindHeader:
			return json.Unmarshal(fr.Payload, &header)
		case record.KindLog:
			if e, err := transcript.ParseEntry(fr.Payload); err == nil {
				e.Detail, e.Raw = nil, nil
				entries = append(entries, e)
			}
		}
		return nil
	})
	if errors.Is(err, record.ErrSealed) {
		return nil
	}
	if err != nil {
		return err
	}
	summary := transcript.Summarise(entries)
	em, err := transcript.NewEmitter(transcript.Options{
		PromptName: header.Attributes["prompt_name"], Adapter: header.Attributes["adapter"], Store: w, Continue: &summary,
	})
	if err == nil {
		err = errors.Join(em.Event(slog.LevelInfo, EventConversation, "conversation", f), em.Stop())
	}
	if err == nil {
		_, err = w.Seal(reason)
	}
	return errors.Join(err, w.Close())
}

// hasRecord reports whether a run came as far as a record.
func (h *House) hasRecord(run string) bool {
	if h.opened(run) != nil {
		return true
	}
	path, err := record.Path(h.opts.Root, run)
	if err != nil {
		return false
	}
	r, err := record.Open(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer r.Close()
	// What is wrong with a record is found when it is read.
	return r.Next() || r.Err() != nil
}
