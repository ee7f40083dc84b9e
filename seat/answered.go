package seat

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"conclave/audit"
	"conclave/gateway"
	"conclave/internal/jsontext"
	"conclave/record"
)

// maxAnswered bounds what is kept of an attempt that was cut.
const maxAnswered = 64 << 20

// answered collects the calls of a turn that is not over, while its record is
// read: what was paid for in an attempt that was cut. An attempt that failed by
// itself is not kept: whoever asks again wants another answer.
type answered struct {
	bodies map[string][]byte // of exchanges that have not ended
	calls  []gateway.Answered
	size   int
}

func (a *answered) take(f record.Frame) {
	switch {
	case f.Withheld:
	case f.Kind == record.KindBlob:
		channel, data := f.Blob()
		id, ok := strings.CutPrefix(channel, gateway.ResponseChannel+"/")
		if a.size += len(data); !ok || a.size > maxAnswered {
			return
		}
		if a.bodies == nil {
			a.bodies = map[string][]byte{}
		}
		a.bodies[id] = append(a.bodies[id], data...)
	case f.Kind == record.KindLog:
		a.event(f.Payload)
	}
}

func (a *answered) event(line []byte) {
	event, _ := jsontext.String(jsontext.Get(line, "event"))
	context := jsontext.Get(line, "context")
	switch event {
	case audit.EventReply:
		*a = answered{}
	case audit.EventFailed:
		var failed audit.Failed
		if json.Unmarshal(context, &failed) != nil || !failed.Cut {
			*a = answered{}
		}
	case gateway.EventResponse:
		var x gateway.Exchange
		if json.Unmarshal(context, &x) != nil {
			return
		}
		body := a.bodies[x.ID]
		delete(a.bodies, x.ID)
		whole := x.Status == http.StatusOK && x.Error == "" && !x.Failed && !x.Estimated &&
			int64(len(body)) == x.ResponseBytes
		if whole && x.ContentType != "" {
			a.calls = append(a.calls, gateway.Answered{Exchange: x, Body: bytes.Clone(body)})
		}
	}
}
