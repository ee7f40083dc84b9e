package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/gateway"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
)

// streaming is the members of a request that make its answer a stream which
// tells its usage.
var streaming = map[gateway.Kind][]string{
	gateway.Anthropic: {`"stream":true`}, gateway.OpenAI: {`"stream":true`},
	gateway.Chat: {`"stream":true`, `"stream_options":{"include_usage":true}`}, gateway.Gemini: nil,
}

// faulty is a gateway before a stub whose next answer can be set.
func faulty(t *testing.T, s speech, o gateway.Options, next *modelstub.Reply) *door {
	t.Helper()
	stub := modelstub.New(func(modelstub.Request) modelstub.Reply { return *next })
	t.Cleanup(stub.Close)
	o = s.with(o)
	o.Upstream.BaseURL = stub.URL()
	return openAt(t, o)
}

func (d *door) stream(t *testing.T, s speech) answer {
	t.Helper()
	return d.call(t, s, model, streaming[s.kind]...)
}

// all is an answer with everything in it: thoughts, words, two calls at once.
var all = modelstub.Reply{
	Blocks: []modelstub.Block{
		modelstub.Think("Let me think about it, zażółć."), modelstub.Say("Here is \"a\\b\" 🐉 and more."),
		modelstub.Call("f", "c1", `{"path":"a long enough path"}`), modelstub.Call("g", "c2", `{}`),
	},
	Usage: modelstub.Usage{Input: 1000, Output: 300, CacheRead: 50},
}

// A stream that is cut before any of its bytes: the program gets what came, the
// record has it, nothing is counted twice, and what was not told is an estimate
// that says so, of the size of what was said.
func TestCutAtEveryByte(t *testing.T) {
	forKinds(t, func(t *testing.T, s speech) {
		next := all
		whole := faulty(t, s, gateway.Options{}, &next).stream(t, s)
		if whole.err != nil || len(whole.body) < 500 {
			t.Fatalf("%q, %v", whole.body, whole.err)
		}
		estimates := 0
		picked := sample.Pick(t, len(whole.body), 12, 60)
		for some := range slices.Chunk(picked, 100) { // what a gateway has seen is looked through again and again
			estimates += cutAt(t, s, string(whole.body), some)
		}
		if estimates < len(picked)/2 {
			t.Errorf("%d of %d were estimated", estimates, len(picked))
		}
	})
}

// lastWord is what the last event that tells the usage holds: before its first
// letter has come, nobody can know.
var lastWord = map[gateway.Kind]string{
	gateway.Anthropic: "1000", gateway.OpenAI: "1050", gateway.Chat: "1050", gateway.Gemini: "300",
}

func cutAt(t *testing.T, s speech, whole string, places []int) (estimates int) {
	t.Helper()
	next := all
	a := &account{}
	d := faulty(t, s, gateway.Options{Account: a}, &next)
	d.stream(t, s)
	told := d.Settle(t.Context()).Exchanges[0]
	if want := (gateway.Usage{Input: 1000, Output: 300, CacheRead: 50}); told.Usage != want || told.Estimated || told.Error != "" {
		t.Fatalf("whole: %+v", told)
	}
	known := strings.LastIndex(whole, lastWord[s.kind])
	if known < 0 {
		t.Fatalf("the usage is not in %s", whole)
	}
	sum := told.Usage
	for n, at := range places {
		next.CutBefore = at + 1
		got := d.stream(t, s)
		x := d.Settle(t.Context()).Exchanges[n+1]
		if got.err == nil || len(got.body) != at || int64(at) != x.ResponseBytes {
			t.Fatalf("cut after %d: %d bytes came, %+v, %v", at, len(got.body), x, got.err)
		}
		if recorded := d.record.blobs["gateway.response/"+x.ID]; string(recorded) != string(got.body) {
			t.Fatalf("cut after %d: the record has %q", at, recorded)
		}
		if !x.Estimated && (at < known || x.Usage != told.Usage) || x.Error == "" || x.HungUp {
			t.Fatalf("cut after %d: %+v", at, x)
		}
		if x.Estimated {
			estimates++
			if most := int64(at+3)/4 + told.Usage.Output; x.Usage.Output > most || x.Usage.Input == 0 {
				t.Fatalf("cut after %d: %+v", at, x.Usage)
			}
		}
		if len(a.told) != n+2 || a.told[n+1] != x.Usage {
			t.Fatalf("cut after %d: the account was told %+v", at, a.told)
		}
		sum.Input, sum.Output, sum.CacheRead = sum.Input+x.Usage.Input, sum.Output+x.Usage.Output, sum.CacheRead+x.Usage.CacheRead
	}
	if s := d.Observed(); s.Usage != sum || s.Calls != len(places)+1 {
		t.Errorf("observed %d calls, %+v, want %+v", s.Calls, s.Usage, sum)
	}
	return estimates
}

// An answer that is an error passes with its status and its wait, and costs
// nothing.
func TestErrorsPassAndCostNothing(t *testing.T) {
	forKinds(t, func(t *testing.T, s speech) {
		var next modelstub.Reply
		d := faulty(t, s, gateway.Options{}, &next)
		for i, status := range []int{400, 401, 429, 500, 503, 529} {
			next = modelstub.Reply{Status: status, RetryAfter: 7 * time.Second, ErrorMessage: "not now"}
			got := d.stream(t, s)
			x := d.Settle(t.Context()).Exchanges[i]
			if got.status != status || got.header.Get("Retry-After") != "7" || !strings.Contains(string(got.body), "not now") ||
				x.Status != status || x.Usage.Total() != 0 || x.Estimated {
				t.Errorf("%d: %d %s, %+v", status, got.status, got.body, x)
			}
		}
	})
}

// What is wrong in the middle of a stream passes as it is and is counted as far
// as it can be read.
func TestOddStreams(t *testing.T) {
	forKinds(t, func(t *testing.T, s speech) {
		for name, c := range map[string]struct {
			spoil     func(*modelstub.Reply)
			estimated bool
		}{
			"an event that is no JSON":   {func(r *modelstub.Reply) { r.Malformed = true }, false},
			"an error in the middle":     {func(r *modelstub.Reply) { r.MidStreamError = true }, true},
			"cut after three events":     {func(r *modelstub.Reply) { r.CutAfter = 3 }, true},
			"a type that is no stream":   {func(r *modelstub.Reply) { r.ContentType = "text/html" }, true},
			"words behind a refusal":     {func(r *modelstub.Reply) { r.Blocks = append(r.Blocks, modelstub.Refuse("I will not.")) }, false},
			"an answer that was cut":     {func(r *modelstub.Reply) { r.StopReason = "max_tokens" }, false},
			"an answer without a word":   {func(r *modelstub.Reply) { r.Blocks = nil }, false},
			"thoughts that are not told": {func(r *modelstub.Reply) { r.Usage.Thoughts = 200 }, false},
		} {
			next := all
			c.spoil(&next)
			d := faulty(t, s, gateway.Options{}, &next)
			got := d.stream(t, s)
			x := d.Settle(t.Context()).Exchanges[0]
			if got.status != http.StatusOK || x.Estimated != c.estimated || (x.Error != "") != (next.CutAfter > 0) {
				t.Errorf("%s: %d, %+v", name, got.status, x)
			}
			if !c.estimated && (x.Usage.Input != 1000 || x.Usage.Output != 300 || x.Usage.CacheRead != 50) {
				t.Errorf("%s: %+v", name, x.Usage)
			}
			if c.estimated && (x.Usage.Total() == 0 || x.Usage.Output > 2000) {
				t.Errorf("%s: %+v", name, x.Usage)
			}
		}
	})
}

// A server that does not tell its usage is counted by its words, and it is said.
func TestServersThatDoNotCount(t *testing.T) {
	for _, kind := range []gateway.Kind{gateway.Chat, gateway.Gemini} {
		s := speechOf(t, kind)
		next := all
		next.NoUsage = true
		d := faulty(t, s, gateway.Options{}, &next)
		if got := d.stream(t, s); got.err != nil {
			t.Fatal(got.err)
		}
		sum := d.Settle(t.Context())
		// About a hundred bytes of words and calls.
		if x := sum.Exchanges[0]; !x.Estimated || !sum.Estimated || x.Error != "" || x.Usage.Output < 20 || x.Usage.Output > 60 {
			t.Errorf("%s: %+v", kind, x)
		}
	}
}
