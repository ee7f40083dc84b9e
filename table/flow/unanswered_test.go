package flow

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/agent/model"
	"conclave/engine"
	"conclave/gateway"
	"conclave/policy"
	"conclave/seat"
	"conclave/table/journal"
	"conclave/table/seating"
	"conclave/table/told"
)

// failing is a server that counts what it is asked, and how often each who asks
// it by itself does so.
type failing struct {
	name  string
	agent int64                 // requests of one turn, by agent/model's own rule
	table map[policy.Role]int64 // turns that a table asks for; 1 each where there is nothing to hope for
	serve http.HandlerFunc
}

func refuses(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"type":"error","error":{"type":"stub_error","message":"not today"}}`)
	}
}

// streams answers with events of the Messages API.
func streams(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

func messageStart() string {
	return `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"stub-1",` +
		`"content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`
}

var failings = []failing{
	{"a key that is refused", 1, nil, refuses(http.StatusUnauthorized)},
	{"a model that is not there", 1, nil, refuses(http.StatusNotFound)},
	{"an account without money", 1, nil, refuses(http.StatusPaymentRequired)},
	{"a limit of requests", 5, nil, refuses(http.StatusTooManyRequests)},
	{"overload", 5, nil, refuses(529)},
	{"an error in the stream", 1, nil, streams(messageStart(),
		`{"type":"error","error":{"type":"permission_error","message":"not today"}}`)},
	{"a request that is not understood", 1, map[policy.Role]int64{policy.GM: 3, policy.Player: 2, policy.JournalKeeper: 3},
		refuses(http.StatusBadRequest)},
	{"an empty answer", 1, map[policy.Role]int64{policy.GM: 3, policy.Player: 2, policy.JournalKeeper: 3},
		streams(messageStart(), `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`,
			`{"type":"message_stop"}`)},
}

// A model's server that gives no answer is asked as often as the agent asks, and
// not three times that: the table says what happened, and stops as it does when
// it has asked for the last time. An answer that cannot stand is asked for again.
func TestWhoAsksAgain(t *testing.T) {
	t.Parallel()
	for _, f := range failings {
		for _, role := range []policy.Role{policy.GM, policy.Player, policy.JournalKeeper} {
			t.Run(f.name+" for "+string(role), func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int64
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					_, _ = io.Copy(io.Discard, r.Body)
					f.serve(w, r)
				}))
				defer server.Close()
				r := failingRig(t, role, server.URL)
				r.open()
				_, err := r.table.Say(t.Context(), start)
				switch role {
				case policy.GM:
					stopped(t, err, f)
				default:
					if err != nil {
						t.Fatal(err)
					}
				}
				r.drain()
				want := f.agent
				if n := f.table[role]; n > 0 {
					want *= n
				}
				eq(t, "requests", asked.Load(), want)
				switch role {
				case policy.Player:
					toldOf(t, r, f)
				case policy.JournalKeeper:
					parked, err := journal.Parked(r.dir, "ash")
					if err != nil || len(parked) != 1 {
						t.Errorf("%d entries are parked: %v", len(parked), err)
					}
				}
			})
		}
	}
}

// failingRig is a table at which one seat is a model behind a server.
func failingRig(t *testing.T, role policy.Role, url string) *rig {
	r := newRig(t, nil)
	r.scripts["gm"] = gmSays("session-start", "Rain.\n"+gmContext+prompt(tilda, "QUICK_REACTION")+
		"[AWAIT_AI_PLAYERS: "+tilda+"]") + gmSays("Event: responses", "Done.")
	cast := r.opts.Cast
	r.opts.Cast = func(asked policy.Role, character string, stepIn bool) (seating.Actor, error) {
		if asked != role || character != tilda && role != policy.GM {
			return cast(asked, character, stepIn)
		}
		a := model.New(model.Config{Kind: gateway.Anthropic})
		return seating.Actor{Agent: a, InProcess: true, Dress: func(p *seat.Plan) {
			p.Model, p.Upstream = "stub-1", &gateway.Upstream{Kind: gateway.Anthropic, BaseURL: url}
		}}, nil
	}
	return r
}

// stopped wants the table to wait, and to say why.
func stopped(t *testing.T, err error, f failing) {
	t.Helper()
	if !errors.As(err, new(*engine.CutError)) {
		t.Fatalf("the table does not wait: %v", err)
	}
	has(t, "why", err.Error(), "the GM gives no answer, the table waits")
	if f.table == nil {
		has(t, "why", err.Error(), "the model gave no answer: ")
		has(t, "why", err.Error(), "not today")
	}
}

// toldOf wants a player's failure to be told in words where asking its model is
// what failed.
func toldOf(t *testing.T, r *rig, f failing) {
	t.Helper()
	e := r.lastCommit()
	has(t, "the answer", outcome(e, tilda).Response, "[ERROR: No response]")
	var why []string
	for _, thing := range told.OfEvent(e) {
		if thing.Kind == told.Unanswered {
			why = append(why, thing.Text)
		}
	}
	if f.table == nil {
		has(t, "what is told", strings.Join(why, "; "), "not today")
	} else if len(why) > 0 {
		t.Errorf("of an answer that could not stand is told: %q", why)
	}
}
