package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

func TestReconstructRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store := &lineStore{}
		e := newEmitter(t, Options{Store: store})
		var want []Entry
		for range rapid.IntRange(1, 20).Draw(rt, "entries") {
			detail, err := json.Marshal(map[string]any{"text": rapid.String().Draw(rt, "text")})
			if err != nil {
				rt.Fatal(err)
			}
			item := Item{
				Type:      rapid.SampledFrom(Types()).Draw(rt, "type"),
				Source:    rapid.SampledFrom([]string{Main, "subagent:a", "subagent:agent_1", "subagent:agent_10"}).Draw(rt, "source"),
				SessionID: rapid.SampledFrom([]string{"", "s1"}).Draw(rt, "session"),
				Detail:    detail,
				Raw:       rapid.SliceOf(rapid.Byte()).Draw(rt, "raw"),
			}
			want = append(want, emit(t, e, item))
		}
		got := Reconstruct(slices.Values(store.lines))
		if got.Skipped != 0 || got.Others != 0 {
			rt.Fatalf("skipped %d, others %d", got.Skipped, got.Others)
		}
		for i := range want {
			if !reflect.DeepEqual(got.Entries[i], want[i]) {
				rt.Fatalf("entry %d:\n%+v\nwant\n%+v", i, got.Entries[i], want[i])
			}
		}
	})
}

func TestReconstructIsLenient(t *testing.T) {
	lines := strings.Split(`{"event":"transcript.start","context":{}}
not json
{"event":"transcript.entry"}
{"event":"transcript.entry","context":{"prompt_name":"p","adapter":"a","entry_type":"thinking","sequence_number":1,"source":"main"}}
{"event":"transcript.entry","context":{"prompt_name":"p","adapter":"a","entry_type":"thinking","sequence_number":1,"source":"main","timestamp":"yesterday"}}
{"event":"transcript.entry","context":{"prompt_name":"p","adapter":"a","entry_type":"thinking","sequence_number":1,"source":"main","timestamp":"2024-01-15T10:30:00.123+00:00"}}
{"no":"event"}
{"event":"other","context":{}}`, "\n")
	got := Reconstruct(func(yield func([]byte) bool) {
		for _, l := range lines {
			if !yield([]byte(l)) {
				return
			}
		}
	})
	if len(got.Entries) != 1 || got.Skipped != 5 || got.Others != 2 {
		t.Errorf("entries %d, skipped %d, others %d; want 1, 5, 2", len(got.Entries), got.Skipped, got.Others)
	}
	if at := got.Entries[0].Timestamp; !at.Equal(time.Date(2024, 1, 15, 10, 30, 0, 123e6, time.UTC)) {
		t.Errorf("time = %v", at)
	}
}

func TestLinesEndAtNewlineOnly(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	text := "a\u2028b\u0085c\fd\re\n\n" + long + "\nlast without newline"
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
	} {
		var got []string
		var err error
		for line := range Lines(r, &err) {
			got = append(got, string(line))
		}
		if err != nil || !slices.Equal(got, strings.Split(text, "\n")) {
			t.Errorf("%s: %d lines, %v", name, len(got), err)
		}
	}
	var err error
	for range Lines(iotest.ErrReader(errors.ErrUnsupported), &err) {
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a reader's error is %v", err)
	}
}

// FuzzReconstruct: no input makes it panic, and what it could read is read
// the same from what it prints.
func FuzzReconstruct(f *testing.F) {
	f.Add([]byte(`{"event":"transcript.entry","context":{"prompt_name":"p","adapter":"a","entry_type":"thinking","sequence_number":1,"source":"main","timestamp":"2024-01-15T10:30:00.123+00:00","detail":{"a": 1},"raw":"x"}}`))
	f.Add([]byte("{\"event\":\"transcript.stop\",\"context\":{}}\nnot json\n"))
	f.Add([]byte(`{"event":"transcript.entry","context":{"prompt_name":"\ud800","adapter":"a","entry_type":"t","sequence_number":9223372036854775807,"source":"s","timestamp":"0000-01-01T00:00:00Z","raw":"","raw_base64":"/w=="}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var err error
		first := Reconstruct(Lines(bytes.NewReader(data), &err))
		var printed []byte
		for i := range first.Entries {
			printed = append(AppendEntry(printed, &first.Entries[i]), '\n')
		}
		second := Reconstruct(Lines(bytes.NewReader(printed), &err))
		if err != nil || second.Skipped > 0 || second.Others > 0 {
			t.Fatalf("%v: skipped %d of what was printed: %s", err, second.Skipped, printed)
		}
		var again []byte
		for i := range second.Entries {
			again = append(AppendEntry(again, &second.Entries[i]), '\n')
		}
		if !bytes.Equal(printed, again) {
			t.Fatalf("printed\n%s\nthen\n%s", printed, again)
		}
		for i, e := range first.Entries {
			if !bytes.Equal(e.Raw, second.Entries[i].Raw) || !bytes.Equal(e.Detail, second.Entries[i].Detail) {
				t.Fatalf("entry %d changed: %+v, %+v", i, e, second.Entries[i])
			}
		}
	})
}
