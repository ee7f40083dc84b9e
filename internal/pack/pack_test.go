package pack

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
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

// TestUnzstd: what comes out is what went in, up to the bound and not beyond; what is
// cut off, and what wants more memory than it may have, is refused.
func TestUnzstd(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("Where is the dragon? Asleep.\n"), 5000)
	packed := func(window int) []byte {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(window), zstd.WithSingleSegment(false))
		if err != nil {
			t.Fatal(err)
		}
		for _, half := range [][]byte{text[:len(text)/2], text[len(text)/2:]} {
			if _, err := w.Write(half); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	usual := packed(8 << 20)
	for _, c := range []struct {
		name string
		src  []byte
		most int64
		ok   bool
	}{
		{"whole", usual, 1 << 30, true},
		{"as much as it may", usual, int64(len(text)), true},
		{"a byte too much", usual, int64(len(text)) - 1, false},
		{"cut off", usual[:len(usual)-3], 1 << 30, false},
		{"no such file", []byte("Where is the dragon?"), 1 << 30, false},
		{"too wide a window", packed(2 * zstdWindow), 1 << 30, false},
	} {
		var out bytes.Buffer
		err := Unzstd(&out, bytes.NewReader(c.src), c.most)
		if (err == nil) != c.ok || c.ok && !bytes.Equal(out.Bytes(), text) || int64(out.Len()) > c.most {
			t.Errorf("%s: %d bytes, %v", c.name, out.Len(), err)
		}
	}
}
