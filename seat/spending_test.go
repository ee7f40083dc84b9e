package seat_test

import (
	"testing"

	"conclave/internal/price"
	"conclave/seat"
	"conclave/transcript"
)

// What passed a gateway counts by its list price, also that of a turn that
// failed; where none was asked, the receipts tell.
func TestTallyPrefersWhatWasObserved(t *testing.T) {
	var tally seat.Tally
	for _, context := range []string{
		`{"id":"a-1","model":"claude-sonnet-4-5","usage":{"input_tokens":1000000,"output_tokens":0}}`,
		`{"id":"a-2","model":"unheard-of","usage":{"output_tokens":7}}`,
	} {
		if err := tally.Event("gateway.response", []byte(context)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tally.Event("something.else", []byte(`not even JSON`)); err != nil {
		t.Error(err)
	}
	if got := tally.Sum(&seat.History{}, nil); got != (seat.Spending{Tokens: 1_000_007, USD: 3}) {
		t.Errorf("observed %+v", got)
	}
	own := price.List{"unheard-of": {Output: 1e6}, "claude-sonnet-4-5": {Input: 1}}
	if got := tally.Sum(&seat.History{}, own); got != (seat.Spending{Tokens: 1_000_007, USD: 8}) {
		t.Errorf("observed %+v by the person's own prices", got)
	}
	var long seat.Tally
	for range 2 { // each is short of what costs more, and their sum is not
		if err := long.Event("gateway.response", []byte(`{"id":"b","model":"claude-haiku-5-5","usage":{"input_tokens":100000}}`)); err != nil {
			t.Fatal(err)
		}
	}
	if got := long.Sum(&seat.History{}, nil); got.USD < 0.0199 || got.USD > 0.0201 {
		t.Errorf("two short prompts cost %+v", got)
	}
	if got := seat.Told(transcript.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CostUSD: 5}); got != (seat.Spending{Tokens: 10, USD: 5}) {
		t.Errorf("told %+v", got)
	}
}
