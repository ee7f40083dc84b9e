package pack

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// TestPieces: pieces in any order and number are a stream that the standard
// library reads, too, and a piece is the same wherever it stands.
func TestPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var d Deflater
		text := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.StringOf(rapid.RuneFrom([]rune("ab \n"))),
			func(s string) []byte { return bytes.Repeat([]byte(s), 1000) }))
		var want, stream []byte
		for range rapid.IntRange(0, 4).Draw(t, "pieces") {
			src := text.Draw(t, "text")
			piece, err := d.Append(nil, src)
			if err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(0, 2).Draw(t, "times") {
				want, stream = append(want, src...), append(stream, piece...)
			}
		}
		stream = append(stream, End...)
		for _, r := range []io.Reader{flate.NewReader(bytes.NewReader(stream)), Inflate(bytes.NewReader(stream))} {
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes come out of %d: %v", len(got), len(want), err)
			}
		}
		if _, err := io.ReadAll(Inflate(bytes.NewReader(stream[:len(stream)-1]))); err == nil {
			t.Fatal("a stream without its end is whole")
		}
		packed := Squeeze(nil, want)
		if got, err := Expand(packed, len(want)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes expand to %d: %v", len(want), len(got), err)
		}
	})
}
