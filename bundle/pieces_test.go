package bundle

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"testing"

	"conclave/internal/pack"
)

// inPieces opens a bundle whose log is packed as given.
func inPieces(t *testing.T, packed []byte, size int, crc uint32) *Reader {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(name string, packed []byte, size int, crc uint32) {
		w, err := z.CreateRaw(&zip.FileHeader{Name: Root + "/" + name, Method: zip.Deflate, CRC32: crc,
			CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(size)})
		if err == nil {
			_, err = w.Write(packed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	manifest := []byte(`{"format_version":"1.0.0","bundle_id":"x"}`)
	put(manifestFile, deflated(t, manifest), len(manifest), crc32.ChecksumIEEE(manifest))
	put(logFile, packed, size, crc)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := newReader(bytes.NewReader(b.Bytes()), int64(b.Len()), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// deflated packs each text as a piece.
func deflated(t *testing.T, texts ...[]byte) (packed []byte) {
	t.Helper()
	var d pack.Deflater
	var err error
	for _, text := range texts {
		if packed, err = d.Append(packed, text); err != nil {
			t.Fatal(err)
		}
	}
	return append(packed, pack.End...)
}

func readPieces(r *Reader) (text []byte, pieces int, err error) {
	p, err := r.Pieces(logFile)
	if err != nil {
		return nil, 0, err
	}
	for {
		piece, err := p.Next(nil)
		if err != nil {
			return text, pieces, err
		}
		alone, err := ReadPiece(r.src, piece.Offset, piece.Packed, len(piece.Text))
		if err != nil || !bytes.Equal(alone, piece.Text) {
			return text, pieces, fmt.Errorf("piece %d read alone: %d bytes of %d: %w", pieces, len(alone), len(piece.Text), err)
		}
		text = append(text, piece.Text...)
		pieces++
	}
}

// The log of a bundle comes piece by piece as it comes whole.
func TestPieces(t *testing.T) {
	made := mustCreate(t, Options{NoRedact: true, Record: manyEntries(t, filepath.Join(t.TempDir(), "r.record"), 1000, 400)})
	r, err := Open(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want, err := r.ReadFile(logFile, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	got, pieces, err := readPieces(r)
	if err != io.EOF || pieces < 3 || !bytes.Equal(got, want) {
		t.Errorf("%d pieces of %d bytes, want %d: %v", pieces, len(got), len(want), err)
	}
}

func TestOddPieces(t *testing.T) {
	a, b := []byte("{\"a\":1}\n"), bytes.Repeat([]byte("{\"b\":2}\n"), 9)
	marks := append(bytes.Repeat(append(pack.Mark, 1, 2, 3), 3), '\n') // too odd to be packed: it is stored
	whole := bytes.Join([][]byte{a, marks, b}, nil)
	sum := crc32.ChecksumIEEE(whole)
	packed := deflated(t, a, marks, b)
	for name, c := range map[string]struct {
		packed []byte
		size   int
		crc    uint32
		want   error
	}{
		"marks in a piece":      {packed, len(whole), sum, io.EOF},
		"another checksum":      {packed, len(whole), sum + 1, zip.ErrChecksum},
		"longer than it is":     {packed, len(whole) + 1, sum, zip.ErrChecksum},
		"shorter than it is":    {packed, len(whole) - 1, sum, ErrNoPieces},
		"cut off":               {packed[:len(packed)-5], len(whole), sum, ErrNoPieces},
		"something behind it":   {append(bytes.Clone(packed), 1), len(whole), sum, ErrNoPieces},
		"half a line":           {deflated(t, a[:4], a[4:]), len(a), crc32.ChecksumIEEE(a), ErrNoPieces},
		"marks without an end":  {bytes.Repeat(pack.Mark, 1000), 1 << 20, 0, ErrNoPieces},
		"no pieces, only bytes": {bytes.Repeat([]byte{7}, 5<<20), 5 << 20, 0, ErrNoPieces},
	} {
		got, _, err := readPieces(inPieces(t, c.packed, c.size, c.crc))
		if !errors.Is(err, c.want) || c.want == io.EOF && !bytes.Equal(got, whole) {
			t.Errorf("%s: %d bytes, %v; want %v", name, len(got), err, c.want)
		}
	}
}
