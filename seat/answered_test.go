package seat

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"conclave/audit"
	"conclave/gateway"
	"conclave/internal/price"
	"conclave/record"
)

func logFrame(t *testing.T, event string, context any) record.Frame {
	t.Helper()
	line, err := json.Marshal(map[string]any{"event": event, "context": context})
	if err != nil {
		t.Fatal(err)
	}
	return record.Frame{Kind: record.KindLog, Payload: line}
}

func blobFrame(channel string, data []byte) record.Frame {
	payload := append([]byte{byte(len(channel))}, channel...)
	return record.Frame{Kind: record.KindBlob, Payload: append(payload, data...)}
}

func exchange(id string, bytes int, change func(*gateway.Exchange)) gateway.Exchange {
	x := gateway.Exchange{ID: id, Method: "POST", Path: "/v1/messages", Status: 200, RequestSHA256: "digest of " + id,
		ResponseBytes: int64(bytes), ContentType: "text/event-stream"}
	if change != nil {
		change(&x)
	}
	return x
}

// Only what was answered whole, in an attempt that was cut, is given again.
func TestAnsweredOfACutAttempt(t *testing.T) {
	const body = "data: {}\n\n"
	one := func(change func(*gateway.Exchange)) []record.Frame {
		return []record.Frame{
			blobFrame(gateway.ResponseChannel+"/a", []byte(body[:4])),
			blobFrame(gateway.ResponseChannel+"/a", []byte(body[4:])),
			logFrame(t, gateway.EventResponse, exchange("a", len(body), change)),
		}
	}
	for name, c := range map[string]struct {
		frames []record.Frame
		want   int
	}{
		"killed":           {one(nil), 1},
		"not whole":        {one(func(x *gateway.Exchange) { x.Error = "the model's server broke off" }), 0},
		"an error":         {one(func(x *gateway.Exchange) { x.Status = 529 }), 0},
		"a guess":          {one(func(x *gateway.Exchange) { x.Estimated = true }), 0},
		"a piece is lost":  {one(func(x *gateway.Exchange) { x.ResponseBytes++ }), 0},
		"an older version": {one(func(x *gateway.Exchange) { x.ContentType = "" }), 0},
		"the turn is over": {append(one(nil), logFrame(t, audit.EventReply, audit.Reply{Turn: "1"})), 0},
		"it failed":        {append(one(nil), logFrame(t, audit.EventFailed, audit.Failed{Turn: "1"})), 0},
		"it was stopped":   {append(one(nil), logFrame(t, audit.EventFailed, audit.Failed{Turn: "1", Cut: true})), 1},
	} {
		var a answered
		for _, f := range c.frames {
			a.take(f)
		}
		if len(a.calls) != c.want || c.want == 1 && string(a.calls[0].Body) != body {
			t.Errorf("%s: %+v", name, a.calls)
		}
	}
}

// A request whose answer nobody has seen was paid for all the same; what was sent
// before a point in time does not count from there on.
func TestTally(t *testing.T) {
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	events := func(tally *Tally) {
		for i, e := range []struct {
			name string
			x    gateway.Exchange
		}{
			{gateway.EventRequest, gateway.Exchange{ID: "a", Model: "m", RequestBytes: 4000, Sent: noon}},
			{gateway.EventResponse, gateway.Exchange{ID: "a", Model: "m", Usage: gateway.Usage{Input: 70, Output: 30}, Sent: noon}},
			{gateway.EventRequest, gateway.Exchange{ID: "b", Model: "m", RequestBytes: 400, Sent: noon.Add(time.Hour)}},
		} {
			context, err := json.Marshal(e.x)
			if err == nil {
				err = tally.Event(e.name, context)
			}
			if err != nil {
				t.Fatal(fmt.Errorf("event %d: %w", i, err))
			}
		}
	}
	for since, want := range map[time.Time]int64{
		{}: 200, noon: 200, noon.Add(time.Minute): 100, noon.Add(2 * time.Hour): 0,
	} {
		tally := Tally{since: since}
		events(&tally)
		if got := tally.Sum(&History{}, price.List{"m": {Input: 1}}); got.Tokens != want {
			t.Errorf("since %s: %+v, want %d tokens", since, got, want)
		}
	}
}
