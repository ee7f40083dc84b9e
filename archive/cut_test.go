package archive

import (
	"bytes"
	"conclave/session"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

// seenLines is a feed that remembers what it was given.
type seenLines struct{ lines []string }

func (f *seenLines) add(dst []item, line []byte, _ int) []item {
	f.lines = append(f.lines, string(line))
	return dst
}

func (*seenLines) opened()     {}
func (*seenLines) holds() bool { return false }

func (*seenLines) due(dst []item) []item { return dst }

func (f *seenLines) flush(dst []item, _, _ int) []item { return dst }

// TestLineThatIsTooLong is W21 in the archive: all bytes are kept, the lines
// around a line of any length are taken apart, and no part of it is, also when
// it is taken up again in its middle.
func TestLineThatIsTooLong(t *testing.T) {
	long := strings.Repeat("x", 3<<20) + `{"forged":1}`
	text := "before\n" + long + "\nafter\n" + long + long + "\nlast"
	for _, from := range []int{0, len("before\n") + 1<<20, strings.Index(text, `{"forged"`)} {
		var kept bytes.Buffer
		feed := &seenLines{}
		c := &cutter{feed: feed, longest: 1 << 20, pool: new(sync.Pool), emit: func(k *chunk) error {
			if int(k.pos) != from+kept.Len() {
				t.Errorf("a block begins at %d behind %d bytes", k.pos, from+kept.Len())
			}
			if len(k.raw) > 2<<20 {
				t.Errorf("a block of %d bytes", len(k.raw))
			}
			kept.Write(k.raw)
			return nil
		}}
		within, err := midLine(strings.NewReader(text), int64(from))
		if err != nil || within != (from > 0) {
			t.Fatalf("midLine(%d) = %v, %v", from, within, err)
		}
		if err := c.lines(iotest.HalfReader(strings.NewReader(text[from:])), int64(from), within); err != nil {
			t.Fatal(err)
		}
		if kept.String() != text[from:] {
			t.Errorf("from %d: %d bytes were kept of %d", from, kept.Len(), len(text)-from)
		}
		want := []string{"before", "after", "last"}
		if from > 0 {
			want = want[1:]
		}
		if strings.Join(feed.lines, "|") != strings.Join(want, "|") {
			t.Errorf("from %d: %d lines were taken apart, want %q", from, len(feed.lines), want)
		}
	}
}

// TestNoBlockEndsInAMessage: the usage of a message stands behind its last line in
// the archive, too, wherever blocks end.
func TestNoBlockEndsInAMessage(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	words := strings.Repeat("x", 9000)
	for i := range 120 {
		for range 3 {
			fmt.Fprintf(&text, `{"type":"assistant","uuid":"u","message":{"id":"m%d","content":[{"type":"text","text":"%s"}],`+
				`"stop_reason":"end_turn","usage":{"output_tokens":1}}}`+"\n", i, words)
		}
		text.WriteString(`{"type":"user","message":{"content":"go on"}}` + "\n")
	}
	feed := newSessionFeed(session.Unnamed("x.jsonl", session.OfName("claude")), indexer{off: true})
	if err := feed.identify(strings.NewReader(text.String())); err != nil {
		t.Fatal(err)
	}
	var got []string
	blocks := 0
	c := &cutter{feed: feed, pool: new(sync.Pool), emit: func(k *chunk) error {
		blocks++
		for _, it := range k.items {
			got = append(got, string(it.typ))
		}
		return nil
	}}
	if err := c.lines(strings.NewReader(text.String()), 0, false); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("assistant_message assistant_message assistant_message token_usage user_message ", 120)
	if strings.Join(got, " ")+" " != want || blocks < 5 {
		t.Errorf("in %d blocks: %.400s", blocks, strings.Join(got, " "))
	}
}
