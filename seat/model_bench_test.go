package seat

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/model"
	"conclave/audit"
	"conclave/gateway"
	"conclave/internal/modelstub"
	"conclave/room"
)

// BenchmarkFirstTurnOfAModel asks a model directly and by the first turn of a
// seat, in turns, and reports what the seat adds: opening the desk, the gateway
// and the record on disk, the request, the answer, the receipt. "ms-added-first"
// is to the first words on a screen.
func BenchmarkFirstTurnOfAModel(b *testing.B) {
	for _, kind := range gateway.Kinds() {
		b.Run(string(kind), func(b *testing.B) { benchFirstTurn(b, kind) })
	}
}

func benchFirstTurn(b *testing.B, kind gateway.Kind) {
	stub := modelstub.New(func(modelstub.Request) modelstub.Reply {
		return modelstub.Answer(modelstub.Say("An answer of some words, which is long enough to be one."))
	})
	b.Cleanup(stub.Close)
	ws, base := b.TempDir(), filepath.Join(b.TempDir(), "rooms")
	made := model.New(model.Config{Kind: kind})
	n := 0
	seated := func() (first, whole time.Duration) {
		n++
		begin := time.Now()
		s, err := Open(b.Context(), Plan{
			Workspace: ws, Run: fmt.Sprintf("run-%d", n), Role: "cat", PromptName: "p", Agent: made, InProcess: true, Model: "m",
			System: "You are the Cat.", Upstream: &gateway.Upstream{Kind: kind, BaseURL: stub.URL()},
			Room: room.Plan{Base: base, Grants: []room.Grant{{Kind: "k", Name: "a.md", Bytes: []byte("# A\n")}}},
		})
		if err != nil {
			b.Fatal(err)
		}
		_, err = s.Take(b.Context(), Turn{ID: "t", Parts: []audit.Part{{Origin: audit.FromPerson, Text: "Go."}},
			Watch: func(e agent.Event) {
				if e.Delta != "" && first == 0 {
					first = time.Since(begin)
				}
			}})
		whole = time.Since(begin)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Leave(b.Context()); err != nil {
			b.Fatal(err)
		}
		return first, whole
	}
	seated()
	asked := stub.Requests()[0]
	direct := func() time.Duration {
		begin := time.Now()
		client := &http.Client{Transport: &http.Transport{}} // a first turn has no connection yet
		defer client.CloseIdleConnections()
		resp, err := client.Post(stub.URL()+asked.Path, "application/json", bytes.NewReader(asked.Body))
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(resp.Status, err)
		}
		return time.Since(begin)
	}
	var plain, first, whole []time.Duration
	for b.Loop() {
		plain = append(plain, direct())
		f, w := seated()
		first, whole = append(first, f), append(whole, w)
	}
	ms := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Microseconds()) / 1000
	}
	p := ms(plain)
	b.ReportMetric(p, "ms-direct")
	b.ReportMetric(ms(first)-p, "ms-added-first")
	b.ReportMetric(ms(whole)-p, "ms-added")
}
