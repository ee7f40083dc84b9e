package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"conclave/gateway"
)

// account notes what it is asked for and told, and refuses on demand.
type account struct {
	refuse error
	asked  []gateway.Call
	told   []gateway.Usage
	usd    float64
}

func (a *account) Reserve(_ context.Context, c gateway.Call) (func(gateway.Usage, float64), error) {
	a.asked = append(a.asked, c)
	if a.refuse != nil {
		return nil, a.refuse
	}
	return func(u gateway.Usage, usd float64) { a.told, a.usd = append(a.told, u), a.usd+usd }, nil
}

// What a request can cost at most is asked for before it is sent, and what it
// did cost is told afterwards.
func TestAccountIsAskedAndTold(t *testing.T) {
	a := &account{}
	d := open(t, gateway.Options{Account: a, Models: []string{"*"}}, func(w http.ResponseWriter, r *http.Request) {
		if len(a.asked) == 0 {
			t.Error("the request was sent before the account was asked")
		}
		io.Copy(io.Discard, r.Body)
		spend(100, 10)(w, r)
	})
	for _, body := range []string{
		`{"model":"claude-sonnet-4-5","max_tokens":1000,"x":"` + strings.Repeat("x", 400) + `"}`,
		`{"model":"unheard-of","max_output_tokens":7}`,
	} {
		if got := d.ask(t, "POST", "/v1/messages", body); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	d.ask(t, "POST", "/v1/messages/count_tokens", call("m")) // costs nothing
	if len(a.asked) != 2 || len(a.told) != 2 {
		t.Fatalf("asked %+v, told %+v", a.asked, a.told)
	}
	priced, free := a.asked[0], a.asked[1]
	if in := priced.Most.Input; priced.Most.Output != 1000 || in < 100 || in > 130 || !priced.Priced ||
		priced.USD != (float64(in)*3+1000*15)/1e6 {
		t.Errorf("asked for %+v", priced)
	}
	if free.Most.Output != 7 || free.Priced || free.USD != 0 {
		t.Errorf("asked for %+v", free)
	}
	if a.told[0].Total() != 110 || a.usd < 0.000449 || a.usd > 0.000451 {
		t.Errorf("told %+v, $%v", a.told, a.usd)
	}
}

// A refusal of the account is one of the gateway, and nothing is sent.
func TestAccountRefuses(t *testing.T) {
	a := &account{refuse: errors.New("the quest's budget is spent; raise it there")}
	d := open(t, gateway.Options{Account: a}, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	got := d.ask(t, "POST", "/v1/messages", call("m"))
	if kind, text := message(t, got); got.status != 402 || kind != "billing_error" ||
		!strings.Contains(text, "the quest's budget is spent; raise it there") {
		t.Errorf("%d %s %s", got.status, kind, text)
	}
	// One that never left is given back whole.
	b := &account{}
	d = open(t, gateway.Options{Account: b, Budget: gateway.Budget{Tokens: 1}}, spend(5, 5))
	for _, want := range []int{200, 402} {
		if got := d.ask(t, "POST", "/v1/messages", call("m")); got.status != want {
			t.Errorf("%d, want %d", got.status, want)
		}
	}
	if len(b.told) != 2 || b.told[1].Total() != 0 {
		t.Errorf("told %+v", b.told)
	}
}
