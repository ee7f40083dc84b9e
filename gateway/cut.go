package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// overrun says that an answer passed its budget while it streamed.
type overrun struct{ why error }

func (o *overrun) Error() string { return "the answer was cut: " + o.why.Error() }
func (o *overrun) Unwrap() error { return o.why }

// bounded says whether some budget can cut the answer of an exchange.
func (g *Gateway) bounded(t *tape) bool {
	return t.meter.sse && t.x.paid && (t.x.held != nil || g.opts.Budget != Budget{})
}

// sayCut ends a stream that a budget cuts with an error in the API's own form, so
// that who reads it does not take it for a connection that broke, and does not
// ask again. It is on the record as what the program was given; what the answer
// cost is not counted by it.
func (g *Gateway) sayCut(w http.ResponseWriter, t *tape, why *overrun) error {
	no := &refusal{ruleBudget, "conclave: " + g.scrub.Replace(why.Error()) +
		": end the turn with what there is, or have the budget raised"}
	name, body := g.api.cut(no)
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	event := "data: " + string(data) + "\n\n"
	if name != "" {
		event = "event: " + name + "\n" + event
	}
	if err := t.keep([]byte(event)); err != nil {
		g.broken(err)
		return err
	}
	if _, err = w.Write([]byte(event)); err == nil {
		err = http.NewResponseController(w).Flush()
	}
	return err
}

// wholeEvents passes a stream on event by event, so that what is cut is cut
// between two. One that is longer than events are is passed on as it comes, and
// what follows it, too.
type wholeEvents struct {
	on   bool
	held []byte
}

func (e *wholeEvents) next(piece []byte, last bool) []byte {
	if !e.on {
		return piece
	}
	b := append(e.held, piece...)
	end := max(bytes.LastIndex(b, []byte("\n\n"))+2, bytes.LastIndex(b, []byte("\n\r\n"))+3)
	switch {
	case last:
		end = len(b)
	case len(b)-end > chunkSize:
		e.on, end = false, len(b)
	case end < 3: // neither was found
		end = 0
	}
	e.held = bytes.Clone(b[end:])
	return b[:end]
}
