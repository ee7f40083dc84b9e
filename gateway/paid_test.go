package gateway_test

import (
	"io"
	"net/http"
	"testing"

	"conclave/gateway"
)

// What an attempt that was cut has paid for is given again, once, and only to who
// asks the same to the byte; it is on the record, and costs nothing.
func TestAnsweredIsNotPaidAgain(t *testing.T) {
	forKinds(t, func(t *testing.T, s speech) {
		asked := 0
		serve := func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, s.stream)
		}
		first := open(t, s.with(gateway.Options{}), serve)
		before := first.call(t, s, model)
		paid := first.Settle(t.Context())
		if asked != 1 || len(paid.Exchanges) != 1 || paid.Exchanges[0].ContentType != "text/event-stream" {
			t.Fatalf("%d asked, %+v", asked, paid.Exchanges)
		}
		whole := gateway.Answered{Exchange: paid.Exchanges[0], Body: first.record.bodies(gateway.ResponseChannel)[0]}

		d := open(t, s.with(gateway.Options{Answered: []gateway.Answered{whole}}), serve)
		other := d.call(t, s, model+"-other")
		if asked != 2 || other.status != http.StatusOK {
			t.Errorf("another request: %d asked, %d", asked, other.status)
		}
		again := d.call(t, s, model)
		if asked != 2 || again.status != http.StatusOK || string(again.body) != string(before.body) ||
			again.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("the same request: %d asked, %d %s", asked, again.status, again.body)
		}
		sum := d.Settle(t.Context())
		if sum.Replayed != 1 || sum.Calls != 1 || sum.Usage.Total() != 12 || d.record.count(gateway.EventReplayed) != 1 {
			t.Errorf("%+v", sum)
		}
		if d.call(t, s, model); asked != 3 {
			t.Errorf("an answer is given once: %d asked", asked)
		}
		poor := open(t, s.with(gateway.Options{Answered: []gateway.Answered{whole},
			Budget: gateway.Budget{Tokens: 1}}), serve)
		if a := poor.call(t, s, model); a.status != http.StatusOK || asked != 3 {
			t.Errorf("what is paid for needs no budget: %d, %d asked", a.status, asked)
		}
	})
}
