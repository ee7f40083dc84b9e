package record

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sampled "conclave/internal/sample"
)

// lastMark returns where the last mark of an intact record begins.
func lastMark(t testing.TB, data []byte) int {
	t.Helper()
	at := 0
	for off := len(magic); off < len(data); {
		f, reason := parseHeader(data[off:])
		if reason != "" {
			t.Fatalf("byte %d: %s", off, reason)
		}
		if f.Kind == kindMark {
			at = off
		}
		off += f.stored()
	}
	if at == 0 {
		t.Fatal("no mark")
	}
	return at
}

// Every byte before the end of the last mark, flipped: found, and neither
// Verify nor Resume calls it torn or changes the file.
func TestEveryFlippedByteIsFoundAndNeverCut(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		path, data := sample(t, sealed)
		end := lastMark(t, data) + prefixSize + saltSize + markSize
		if sealed {
			end = len(data)
		}
		for _, i := range sampled.Pick(t, end, 200, end/3) {
			bad := bytes.Clone(data)
			for _, mask := range []byte{0x01, 0x80, 0xff} {
				bad[i] = data[i] ^ mask
				rep, err := VerifyReader(bytes.NewReader(bad))
				must(t, err)
				if rep.Damage == nil {
					t.Fatalf("sealed %v: byte %d flipped by %#x: not found (%+v)", sealed, i, mask, rep)
				}
				if rep.Damage.Offset > int64(i) {
					t.Fatalf("byte %d flipped: damage reported at %d, behind it", i, rep.Damage.Offset)
				}
			}
			if sealed && i%7 != 0 {
				continue // Resume was tried at every byte of the open one
			}
			must(t, os.WriteFile(path, bad, 0o600))
			_, rec, err := Resume(path)
			if asDamage(err) == nil {
				t.Fatalf("byte %d flipped: Resume says %v (%v), want *Damage", i, err, rec)
			}
			after, err := os.ReadFile(path)
			must(t, err)
			if !bytes.Equal(after, bad) {
				t.Fatalf("byte %d flipped: Resume changed the file", i)
			}
		}
	}
}

// The same in a record that is too large to try every byte: a dense sample.
func TestFlippedByteInALargeRecordIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.record")
	w := create(t, path)
	for n := range 60 {
		must(t, w.AppendBlob("raw", bytes.Repeat([]byte{byte(n), 0}, 10_000)))
	}
	must(t, w.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	tried := 0
	for i := 0; i < len(data); i += 9973 {
		data[i] ^= 0x10
		rep, err := VerifyReader(bytes.NewReader(data))
		must(t, err)
		if rep.Damage == nil {
			t.Fatalf("byte %d flipped: not found", i)
		}
		data[i] ^= 0x10
		tried++
	}
	if tried < 100 {
		t.Fatalf("only %d bytes tried", tried)
	}
}

// A file cut at any byte past a mark is torn: it is recognised, Resume cuts it
// with a word, keeps every whole frame, and the record goes on and verifies.
func TestTruncationIsATornTail(t *testing.T) {
	t.Parallel()
	_, data := sample(t, false)
	whole, cursors, _ := readAll(bytes.NewReader(data))
	path := filepath.Join(t.TempDir(), "torn.record")
	first := int(cursors[0].Offset)
	for _, at := range sampled.Pick(t, len(data)-first, 150, len(data)-first) {
		size := first + at
		must(t, os.WriteFile(path, data[:size], 0o600))
		kept := 0
		for kept < len(cursors) && cursors[kept].Offset <= int64(size) {
			kept++
		}
		rep, err := Verify(path)
		must(t, err)
		if rep.Damage != nil || rep.Frames != uint64(kept) {
			t.Fatalf("cut at %d: %+v, want %d frames", size, rep, kept)
		}
		if size%3 == 0 || size == int(cursors[max(kept, 1)-1].Offset) {
			checkResumed(t, path, whole[:kept], rep.TornBytes)
		}
	}
}

// checkResumed resumes the record at path, appends to it, and checks that it
// holds what was kept, a word about the torn bytes if any, and the addition.
func checkResumed(t *testing.T, path string, kept []seen, torn int64) {
	t.Helper()
	visited := 0
	w, rec, err := ResumeEach(path, func(f Frame) error {
		if s := kept[visited]; s.Kind != f.Kind || s.Payload != string(f.Payload) {
			t.Fatalf("frame %d visited is %v, want %+v", visited, f, s)
		}
		visited++
		return nil
	})
	must(t, err)
	if rec.TornBytes != torn || visited != len(kept) || strings.Contains(rec.String(), "cut") != (torn > 0) {
		t.Fatalf("recovery = %v after %d frames, want %d torn bytes", rec, visited, torn)
	}
	must(t, w.AppendLog([]byte(`{"after":"all"}`)))
	must(t, w.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	got, _, r := readAll(bytes.NewReader(data))
	must(t, r.Err())
	word := 0
	if torn > 0 {
		word = 1
		if s := got[len(kept)]; s.Kind != KindLog || !strings.Contains(s.Payload, `"record.torn_tail"`) {
			t.Fatalf("no word about the cut: %+v", s)
		}
	}
	if len(got) != len(kept)+word+1 || got[len(got)-1].Payload != `{"after":"all"}` || r.durable != uint64(len(got)) {
		t.Fatalf("%d frames (%d durable) after resuming %d", len(got), r.durable, len(kept))
	}
}

// A power cut may leave the length without the content: zeros to the end,
// from where the writing began or from a sector border.
func TestZerosAfterAPowerCutAreTorn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "zeros.record")
	w := create(t, path)
	must(t, w.AppendLog(line(1)))
	must(t, w.Commit())
	must(t, w.AppendBlob("raw", bytes.Repeat([]byte("payload "), 512)))
	must(t, w.Flush())
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, w.Close())
	whole, cursors, _ := readAll(bytes.NewReader(data))
	begin := int(cursors[len(cursors)-1].Offset) - Frame{Size: 4 + 4096}.stored()

	border := (begin/sector + 2) * sector
	for name, c := range map[string]struct {
		from, to int
		torn     bool
	}{
		"from the frame's beginning":         {begin, len(data), true},
		"from a sector border":               {border, len(data), true},
		"from the last sector border":        {(len(data) - 1) / sector * sector, len(data), true},
		"within a sector":                    {border + 1, border + sector, false},
		"from a border, not to the end":      {border, len(data) - 1, false},
		"the last bytes, not from a border":  {len(data) - 1, len(data), false},
		"a sector in the middle":             {border, border + sector, false},
		"from before the last durable frame": {int(cursors[0].Offset) + 20, int(cursors[0].Offset) + 60, false},
	} {
		bad := bytes.Clone(data)
		clear(bad[c.from:c.to])
		must(t, os.WriteFile(path, bad, 0o600))
		rep, err := Verify(path)
		must(t, err)
		if (rep.Damage == nil) != c.torn || (rep.TornBytes > 0) != c.torn {
			t.Errorf("zeros %s: torn %d, damage %v; want torn %v", name, rep.TornBytes, rep.Damage, c.torn)
			continue
		}
		if c.torn {
			checkResumed(t, path, whole[:len(whole)-1], rep.TornBytes)
		} else if _, _, err := Resume(path); asDamage(err) == nil {
			t.Errorf("zeros %s: Resume: %v, want *Damage", name, err)
		}
	}
	for _, extra := range []int{1, 11, 12, 4096, 10_000} { // longer than the frame that was begun
		must(t, os.WriteFile(path, append(bytes.Clone(data[:begin]), make([]byte, extra)...), 0o600))
		checkResumed(t, path, whole[:len(whole)-1], int64(extra))
	}
}

func TestOtherTailsAreDamage(t *testing.T) {
	_, open := sample(t, false)
	_, sealed := sample(t, true)
	_, other := sample(t, false)
	_, cursors, _ := readAll(bytes.NewReader(open))
	c := cursors[len(cursors)-1]
	for name, data := range map[string][]byte{
		"garbage":                       append(bytes.Clone(open), "garbage garbage garbage"...),
		"zeros and garbage":             append(append(bytes.Clone(open), make([]byte, 600)...), 1),
		"bytes after the seal":          append(bytes.Clone(sealed), 0),
		"a record behind a record":      append(bytes.Clone(open), other...),
		"frames of another record":      append(bytes.Clone(open), other[cursors[0].Offset:]...),
		"a frame twice":                 append(bytes.Clone(open), open[len(magic):]...),
		"a file of something else":      []byte("PK\x03\x04 is how a zip begins"),
		"a newer version of the format": append([]byte("CONCREC\x02"), open[8:]...),
		"a frame removed":               append(bytes.Clone(open[:cursors[0].Offset]), open[cursors[1].Offset:]...),
		"a wrong mark":                  append(bytes.Clone(open), closingMark(chain{c.Count, c.Head}, 7)...),
	} {
		rep, err := VerifyReader(bytes.NewReader(data))
		must(t, err)
		if rep.Damage == nil {
			t.Errorf("%s: no damage found: %+v", name, rep)
		}
	}
}

func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	path, data := sample(t, true)
	if _, rec, err := Resume(path); !errors.Is(err, ErrSealed) || rec.Seal == nil || rec.Seal.Reason != "done" {
		t.Errorf("sealed record: %v, %+v", err, rec.Seal)
	}
	if _, _, err := Resume(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	for size := range 60 { // Create had not returned
		p := filepath.Join(dir, "early.record")
		must(t, os.WriteFile(p, data[:size], 0o600))
		if _, _, err := Resume(p); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "never began") {
			t.Fatalf("record of %d bytes: %v", size, err)
		}
		w, err := Create(p, Header{Run: "early"}) // its place is free again
		must(t, err)
		must(t, w.Close())
	}
	_, data = sample(t, false)
	var copied bytes.Buffer
	_, err := withhold(&copied, data, func(Frame) bool { return true })
	must(t, err)
	p := filepath.Join(dir, "copy.record")
	must(t, os.WriteFile(p, copied.Bytes(), 0o600))
	if _, _, err := Resume(p); err == nil || !strings.Contains(err.Error(), "withheld") {
		t.Errorf("withheld copy: %v", err)
	}
	stop := errors.New("stop")
	path, _ = sample(t, false)
	if _, _, err := ResumeEach(path, func(Frame) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("visit's error: %v", err)
	}
	w, _, err := Resume(path) // the lock was freed each time
	must(t, err)
	must(t, w.Close())
}

// endless is a file of zeros that counts what is read of it.
type endless struct{ read int64 }

func (e *endless) ReadAt(b []byte, off int64) (int, error) {
	const size = 8 << 30
	n := int(min(int64(len(b)), max(0, size-off)))
	clear(b[:n])
	e.read += int64(n)
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// A file of zeros without an end is no record that was cut off, and is not read
// to its end.
func TestZerosWithoutAnEnd(t *testing.T) {
	var src endless
	if rep, err := VerifyReader(&src); err == nil && rep.Sound() == nil {
		t.Errorf("8 GiB of zeros are %+v", rep)
	}
	if src.read > 3*maxPayload {
		t.Errorf("%d bytes were read", src.read)
	}
}
