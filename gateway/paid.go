package gateway

import (
	"log/slog"
	"net/http"
	"slices"
	"sync"
)

// Answered is a call that the record has whole: what was asked, by its digest, and
// what came back.
type Answered struct {
	Exchange
	Body []byte
}

// EventReplayed is the event of a request that was answered from the record; its
// context is a Replay.
const EventReplayed = "gateway.replayed"

// Replay is a request that an earlier attempt of the same turn has sent already,
// word for word, and was answered: the answer is the same, and nothing is paid.
type Replay struct {
	ID            string `json:"id"`
	Of            string `json:"of"` // the exchange that was paid for
	Model         string `json:"model"`
	RequestSHA256 string `json:"request_sha256"`
}

// answers are those of an attempt that was cut, each to be given once.
type answers struct {
	mu   sync.Mutex
	left []Answered
}

// take finds the answer to a request, by its very bytes.
func (a *answers) take(x *exchange) (Answered, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.left, func(p Answered) bool {
		return p.Method == x.Method && p.Path == x.Path && p.RequestSHA256 == x.RequestSHA256
	})
	if !x.paid || i < 0 {
		return Answered{}, false
	}
	p := a.left[i]
	a.left = slices.Delete(a.left, i, i+1)
	return p, true
}

// replay gives an answer that was paid for.
func (g *Gateway) replay(w http.ResponseWriter, r *http.Request, x *exchange, p Answered) {
	err := g.event(slog.LevelInfo, EventReplayed, "a request was answered from the record",
		Replay{ID: x.ID, Of: p.ID, Model: x.Model, RequestSHA256: x.RequestSHA256})
	if err != nil {
		writeRefusal(w, g.family(r), g.broken(err))
		return
	}
	g.ledger.replayed()
	w.Header().Set("Content-Type", p.ContentType)
	w.WriteHeader(p.Status)
	_, _ = w.Write(p.Body) // whoever hangs up has had enough
}
