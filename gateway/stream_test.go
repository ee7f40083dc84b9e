package gateway_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"conclave/gateway"
	"conclave/internal/sample"
)

const stream = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n" +
	"data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"zażółć gęślą 🐉 \u2028 \x00\xff\"}}\n\n: ping\n\n" +
	"data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":7}}\n\ndata: {\"type\":\"message_stop\"}\n\n"

// play answers with the pieces, each sent on its way by itself.
func play(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, p := range pieces {
			io.WriteString(w, p)
			http.NewResponseController(w).Flush()
		}
	}
}

// Whatever the pieces, the program gets the same bytes, the record has the same
// bytes, and the usage is read.
func TestStreamsPassByteForByte(t *testing.T) { forKinds(t, streamsPassByteForByte) }

func streamsPassByteForByte(t *testing.T, s speech) {
	stream := s.stream
	var pieces []string
	d := open(t, s.with(gateway.Options{}), func(w http.ResponseWriter, r *http.Request) { play(pieces...)(w, r) })
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := stream
		if rapid.Bool().Draw(rt, "odd") {
			text = string(rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(rt, "bytes")) + stream
		}
		rest := text
		pieces = nil
		for rest != "" {
			k := min(len(rest), rapid.IntRange(1, 200).Draw(rt, "piece"))
			pieces, rest = append(pieces, rest[:k]), rest[k:]
		}
		a := d.call(t, s, model)
		if a.err != nil || string(a.body) != text {
			rt.Fatalf("got %q (%v), want %q", a.body, a.err, text)
		}
		n++
		got := d.record.bodies("gateway.response")
		if len(got) != n || string(got[n-1]) != text {
			rt.Fatalf("the record has %q", got[len(got)-1])
		}
		x := d.Observed().Exchanges[n-1]
		sum := sha256.Sum256([]byte(text))
		if x.ResponseSHA256 != hex.EncodeToString(sum[:]) || x.ResponseBytes != int64(len(text)) {
			rt.Fatalf("observed %+v", x)
		}
		if text == stream && (x.Usage != gateway.Usage{Input: 5, Output: 7} || x.Estimated) {
			rt.Fatalf("usage %+v", x)
		}
	})
}

// A piece reaches the program before the next one is even written, and it is
// on the record by then. Were anything held back, this would never end.
func TestNothingWaitsForMore(t *testing.T) {
	pieces := []string{"d", "ata: half a \xf0\x9f", "\x90\x89", "sk-", "s", "\n", "\ndata: x\n\n", strings.Repeat("y", 200_000), "."}
	next := make(chan struct{})
	d := open(t, gateway.Options{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		http.NewResponseController(w).Flush()
		for _, p := range pieces {
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
			io.WriteString(w, p)
			http.NewResponseController(w).Flush()
		}
	})
	resp, err := d.client.Do(d.request(t, "POST", "/v1/messages", hello))
	if err != nil {
		t.Fatal(err) // the head came without any piece
	}
	defer resp.Body.Close()
	var all string
	for _, p := range pieces {
		next <- struct{}{}
		got := make([]byte, len(p))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != p {
			t.Fatalf("got %q (%v), want %q", got, err, p)
		}
		all += p
		if recorded := d.record.bodies("gateway.response"); string(recorded[0]) != all {
			t.Fatal("a piece was passed on before it was recorded")
		}
	}
}

// A stream that the model's server cut is cut for the program, not ended.
func TestCutStreamIsCut(t *testing.T) { forKinds(t, cutStreamIsCut) }

func cutStreamIsCut(t *testing.T, s speech) {
	stream := s.stream
	d := open(t, s.with(gateway.Options{}), func(w http.ResponseWriter, r *http.Request) {
		play(stream[:100])(w, r)
		panic(http.ErrAbortHandler)
	})
	a := d.call(t, s, model)
	if a.err == nil || string(a.body) != stream[:100] {
		t.Errorf("got %q, %v", a.body, a.err)
	}
	eventually(t, "the end of the exchange", func() bool { return len(d.Observed().Exchanges) == 1 })
	x := d.Observed().Exchanges[0]
	if x.Error == "" || x.ResponseBytes != 100 || !x.Estimated || x.HungUp || x.Usage.Output == 0 {
		t.Errorf("observed %+v", x)
	}
	if got := d.record.bodies("gateway.response"); len(got) != 1 || string(got[0]) != stream[:100] {
		t.Errorf("the record has %q", got)
	}
}

func TestHugeBodies(t *testing.T) {
	big := strings.Repeat("zażółć ", sample.Count(1<<17, 1<<20, 1<<20)) // 11 MB
	var got [32]byte
	d := open(t, gateway.Options{}, func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		io.Copy(h, r.Body)
		h.Sum(got[:0])
		for range 2 {
			io.WriteString(w, big)
		}
	})
	body := `{"model":"m","x":"` + big + `"}`
	a := d.ask(t, "POST", "/v1/messages", body)
	if a.status != 200 || a.err != nil || string(a.body) != big+big {
		t.Fatalf("%d, %v, %d bytes", a.status, a.err, len(a.body))
	}
	if got != sha256.Sum256([]byte(body)) || string(d.record.bodies("gateway.request")[0]) != body {
		t.Error("the request differs")
	}
	if !bytes.Equal(d.record.bodies("gateway.response")[0], a.body) {
		t.Error("the record differs")
	}
}

// A program that does not read holds up its own answer and nobody else's.
func TestSlowClient(t *testing.T) {
	const size = 8 << 20
	wrote := make(chan struct{})
	d := open(t, gateway.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if b, _ := io.ReadAll(r.Body); bytes.Contains(b, []byte("slow")) {
			w.Write(make([]byte, size))
			close(wrote)
		}
	})
	mine, theirs := net.Pipe() // holds no byte by itself
	served := make(chan struct{})
	go func() { defer close(served); d.ServeConn(theirs) }()
	body := `{"model":"m","x":"slow"}`
	go fmt.Fprintf(mine, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", d.Token(), len(body), body)
	first := make([]byte, 1)
	if _, err := io.ReadFull(mine, first); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if a := d.ask(t, "POST", "/v1/messages", hello); a.status != 200 {
			t.Fatalf("beside it: %d", a.status)
		}
	}
	rest, err := io.ReadAll(mine)
	if err != nil || len(rest) < size {
		t.Errorf("%d bytes, %v", len(rest), err)
	}
	<-wrote
	<-served
}

func TestConcurrentRequests(t *testing.T) {
	d := open(t, gateway.Options{}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; i < len(b); i += 50 {
			w.Write(b[i:min(len(b), i+50)])
			http.NewResponseController(w).Flush()
		}
	})
	const n = 40
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			body := fmt.Sprintf(`{"model":"m","x":"%s"}`, strings.Repeat(fmt.Sprint(i, " "), 500))
			if a := d.ask(t, "POST", "/v1/messages", body); a.err != nil || string(a.body) != body {
				t.Errorf("request %d: %v, %d bytes", i, a.err, len(a.body))
			}
		})
	}
	wg.Wait()
	s := d.Observed()
	if s.Calls != n || len(s.Exchanges) != n || s.BytesSent != s.BytesReceived {
		t.Errorf("observed %d calls, %d exchanges, %d bytes out and %d in", s.Calls, len(s.Exchanges), s.BytesSent, s.BytesReceived)
	}
	ids := map[string]bool{}
	for _, x := range s.Exchanges {
		ids[x.ID] = true
		in, out := d.record.blobs["gateway.request/"+x.ID], d.record.blobs["gateway.response/"+x.ID]
		if len(in) == 0 || !bytes.Equal(in, out) || x.RequestSHA256 != x.ResponseSHA256 {
			t.Errorf("%s: the record mixes requests up", x.ID)
		}
	}
	if len(ids) != n {
		t.Errorf("%d ids for %d exchanges", len(ids), n)
	}
}

func TestHangingUpCancels(t *testing.T) {
	begun, gone := make(chan struct{}), make(chan struct{})
	d := open(t, gateway.Options{}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		play("data: x\n\n")(w, r)
		close(begun)
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := d.client.Do(d.request(t, "POST", "/v1/messages", hello).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-begun
	impatient, stop := context.WithCancel(context.Background())
	stop()
	if s := d.Settle(impatient); len(s.Exchanges) != 0 {
		t.Errorf("settled too early: %+v", s.Exchanges)
	}
	cancel()
	<-gone
	eventually(t, "the end of the exchange", func() bool { return len(d.Observed().Exchanges) == 1 })
	if x := d.Observed().Exchanges[0]; !x.HungUp || !x.Estimated || x.Usage.Input == 0 || x.Error == "" {
		t.Errorf("observed %+v", x)
	}
}

// Codex hangs up on the last event: its answer is whole all the same.
func TestHangingUpAfterTheEnd(t *testing.T) { forKinds(t, hangingUpAfterTheEnd) }

func hangingUpAfterTheEnd(t *testing.T, with speech) {
	stream := with.stream
	d := open(t, with.with(gateway.Options{}), func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		play(stream)(w, r)
		<-r.Context().Done()
	})
	resp, err := d.client.Do(d.request(t, "POST", with.path(model), with.say(model)))
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, len(stream)))
	resp.Body.Close()
	s := d.Settle(t.Context())
	if len(s.Exchanges) != 1 {
		t.Fatalf("settled with %d exchanges", len(s.Exchanges))
	}
	if x := s.Exchanges[0]; !x.HungUp || x.Estimated || x.Error != "" || x.Usage.Output != 7 {
		t.Errorf("observed %+v", x)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	begun := make(chan struct{}, 2)
	d := open(t, gateway.Options{}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		begun <- struct{}{}
		<-r.Context().Done()
	})
	for range 2 { // one connection that waits for the model, one that says nothing
		mine, theirs := net.Pipe()
		defer mine.Close()
		served := make(chan struct{})
		go func() { defer close(served); d.ServeConn(theirs) }()
		defer func() { <-served }()
	}
	asked := make(chan error, 1)
	go func() {
		_, err := d.client.Do(d.request(t, "POST", "/v1/messages", hello))
		asked <- err
	}()
	<-begun
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if err := <-asked; err == nil {
		t.Error("a request was answered after Close")
	}
	if s := d.Observed(); len(s.Exchanges) != 1 || !strings.HasPrefix(s.Exchanges[0].Error, "the room was closed") {
		t.Errorf("observed %+v", s.Exchanges)
	}
	mine, theirs := net.Pipe()
	d.ServeConn(theirs) // returns at once
	if _, err := mine.Read(make([]byte, 1)); err == nil {
		t.Error("a connection was served after Close")
	}
}
