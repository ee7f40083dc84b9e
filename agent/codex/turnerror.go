package codex

import (
	"encoding/json"

	"conclave/internal/jsontext"
)

// TurnError is a turn that the program gave up.
type TurnError struct {
	Message string
	Status  int // of HTTP, when that was the reason; 0 when not
	// Info is the program's own classification, a JSON string or object.
	Info json.RawMessage
}

func (e *TurnError) Error() string { return "codex turn failed: " + e.Message }

// HTTPStatus implements agent.ModelError.
func (e *TurnError) HTTPStatus() int { return e.Status }

func newTurnError(obj []byte) *TurnError {
	m := jsontext.Members(obj, "message", "codexErrorInfo")
	info := m[1]
	e := &TurnError{Message: jsontext.Text(m[0]), Info: append(json.RawMessage(nil), info...)}
	if e.Message == "" {
		e.Message = "no reason was given"
	}
	// {"httpConnectionFailed":{"httpStatusCode":401}}, under several names.
	_ = jsontext.Walk(info, func(_, value []byte) error {
		_ = json.Unmarshal(jsontext.Get(value, "httpStatusCode"), &e.Status) // absent or null is 0
		return nil
	}) // a string has no members
	return e
}
