package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"conclave/gateway"
)

// account notes what it is asked for and told, and refuses on demand.
type account struct {
	refuse error
	tokens int64 // beyond which an answer is cut; 0: none is
	asked  []gateway.Call
	grown  []gateway.Usage
	told   []gateway.Usage
	usd    float64
}

func (a *account) Reserve(_ context.Context, c gateway.Call) (gateway.Held, error) {
	a.asked = append(a.asked, c)
	if a.refuse != nil {
		return nil, a.refuse
	}
	return a, nil
}

func (a *account) Grow(u gateway.Usage, _ float64) error {
	a.grown = append(a.grown, u)
	if a.tokens > 0 && u.Total() > a.tokens {
		return errors.New("the campaign's budget is spent; raise it there")
	}
	return nil
}

func (a *account) Settle(u gateway.Usage, usd float64) { a.told, a.usd = append(a.told, u), a.usd+usd }

// What a request can cost at most is asked for before it is sent, and what it
// did cost is told afterwards.
func TestAccountIsAskedAndTold(t *testing.T) { forKinds(t, accountIsAskedAndTold) }

func accountIsAskedAndTold(t *testing.T, s speech) {
	a := &account{}
	d := open(t, s.with(gateway.Options{Account: a, Models: []string{"*"}}), func(w http.ResponseWriter, r *http.Request) {
		if len(a.asked) == 0 {
			t.Error("the request was sent before the account was asked")
		}
		io.Copy(io.Discard, r.Body)
		s.spend(100, 10)(w, r)
	})
	for _, c := range []struct {
		model string
		most  int
		text  string
	}{{"claude-sonnet-4-5", 1000, strings.Repeat("x", 400)}, {"unheard-of", 7, ""}} {
		more := []string{fmt.Sprintf(s.most, c.most), fmt.Sprintf(s.user, c.text)}
		if got := d.call(t, s, c.model, more...); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if s.free != "" {
		d.ask(t, "POST", s.free, s.say("m")) // costs nothing
	}
	if len(a.asked) != 2 || len(a.told) != 2 {
		t.Fatalf("asked %+v, told %+v", a.asked, a.told)
	}
	priced, free := a.asked[0], a.asked[1]
	if in := priced.Most.Input; priced.Most.Output != 1000 || in < 100 || in > 160 || !priced.Priced ||
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
func TestAccountRefuses(t *testing.T) { forKinds(t, accountRefuses) }

func accountRefuses(t *testing.T, s speech) {
	a := &account{refuse: errors.New("the quest's budget is spent; raise it there")}
	d := open(t, s.with(gateway.Options{Account: a}), func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	got := d.call(t, s, "m")
	if kind, text := message(t, got); got.status != 402 || kind != s.error("billing_error") ||
		!strings.Contains(text, "the quest's budget is spent; raise it there") {
		t.Errorf("%d %s %s", got.status, kind, text)
	}
	// One that never left is given back whole.
	b := &account{}
	d = open(t, s.with(gateway.Options{Account: b, Budget: gateway.Budget{Tokens: 100}}), s.spend(95, 5))
	for _, want := range []int{200, 402} {
		if got := d.call(t, s, "m"); got.status != want {
			t.Errorf("%d, want %d", got.status, want)
		}
	}
	if len(b.told) != 2 || b.told[1].Total() != 0 {
		t.Errorf("told %+v", b.told)
	}
}
