package audit

import (
	"encoding/json"
	"fmt"
	"io"

	"conclave/internal/jsontext"
	"conclave/record"
)

// Told is everything that a record holds of who knew what in one turn: what lay
// in its room, what was kept out and why, what it was told and by whom, what it
// said, and the receipt. Of a turn that was asked several times it is the last
// attempt.
type Told struct {
	Run      string    `json:"run"`
	Turn     string    `json:"turn"`
	Role     string    `json:"role"`
	Given    []Item    `json:"given"`
	LeftOut  []LeftOut `json:"left_out"`
	Denied   []Source  `json:"denied"`
	Parts    []Part    `json:"parts"`
	Attempts int       `json:"attempts"`
	Reply    *Reply    `json:"reply,omitempty"`
	Failed   string    `json:"failed,omitempty"`  // why the last attempt had no answer
	Receipt  *Receipt  `json:"receipt,omitempty"` // nil: there is none, and nothing shows what held
	Turns    []string  `json:"turns"`             // all of the run, in order
}

// TellTurn reads what a record tells of one turn. It judges nothing: Judge does.
// Keys and canaries of a room stay in the record.
func TellTurn(src io.ReaderAt, turn string) (*Told, error) {
	t := &Told{Turn: turn, Given: []Item{}, LeftOut: []LeftOut{}, Denied: []Source{}, Parts: []Part{}, Turns: []string{}}
	var room Room
	found := false
	r := record.NewReader(src)
	for r.Next() {
		f := r.Frame()
		if f.Kind != record.KindLog || f.Withheld {
			continue
		}
		at, err := t.take(f.Payload, &room)
		if err != nil {
			return nil, err
		}
		found = found || at
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	t.Run = r.Header().Run
	if !found {
		return nil, &NoTurnError{Turn: turn, Turns: t.Turns}
	}
	return t, nil
}

// NoTurnError names a turn that a record does not have, and those that it has.
type NoTurnError struct {
	Turn  string
	Turns []string
}

func (e *NoTurnError) Error() string {
	return fmt.Sprintf("the record has no turn %q; it has %v", e.Turn, e.Turns)
}

// take reads one log record, and says whether it is of the turn.
func (t *Told) take(line []byte, room *Room) (bool, error) {
	event, _ := jsontext.String(jsontext.Get(line, "event"))
	context := jsontext.Get(line, "context")
	switch event {
	case EventRoom:
		*room = Room{}
		return false, read(event, context, room)
	case EventMessage, EventReply, EventFailed, EventReceipt:
	default:
		return false, nil
	}
	id, _ := jsontext.String(jsontext.Get(context, "turn"))
	if event == EventMessage && (len(t.Turns) == 0 || t.Turns[len(t.Turns)-1] != id) {
		t.Turns = append(t.Turns, id)
	}
	if id != t.Turn {
		return false, nil
	}
	return true, t.event(event, context, *room)
}

func (t *Told) event(event string, context []byte, room Room) error {
	switch event {
	case EventMessage:
		var m Message
		if err := read(event, context, &m); err != nil {
			return err
		}
		t.Role, t.Attempts, t.Reply, t.Failed = room.Role, m.Attempt, nil, ""
		t.Parts = append([]Part{}, m.Parts...)
		t.Given, t.Denied = append([]Item{}, room.Given...), append([]Source{}, room.Denied...)
		t.LeftOut = append([]LeftOut{}, room.LeftOut...)
		return nil
	case EventReply:
		t.Reply = &Reply{}
		return read(event, context, t.Reply)
	case EventFailed:
		var f Failed
		err := read(event, context, &f)
		t.Failed = f.Error
		return err
	}
	t.Receipt = &Receipt{}
	return read(event, context, t.Receipt)
}

func read(event string, context []byte, v any) error {
	if err := json.Unmarshal(context, v); err != nil {
		return fmt.Errorf("%s cannot be read: %w", event, err)
	}
	return nil
}
