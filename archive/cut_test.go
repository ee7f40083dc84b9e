package archive

import (
	"bytes"
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
