package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// FuzzReader: whatever the bytes are, reading them neither panics nor
// allocates out of proportion; each frame that is read prints to the bytes it
// was read from; and reading on from any cursor gives the same rest.
func FuzzReader(f *testing.F) {
	for _, sealed := range []bool{false, true} {
		_, data := sample(f, sealed)
		f.Add(data)
		f.Add(data[:len(data)-9])
		f.Add(append(bytes.Clone(data[:len(data)-700]), make([]byte, 700)...))
		var copied bytes.Buffer
		_, err := withhold(&copied, data, func(Frame) bool { return true })
		must(f, err)
		f.Add(copied.Bytes())
	}
	f.Add([]byte(magic))
	f.Add([]byte(nil))
	huge := make([]byte, prefixSize)
	putPrefix(huge, KindHeader, 0, maxPayload, Hash{})
	f.Add(append([]byte(magic), huge...))

	f.Fuzz(checkReading)
}

// FuzzFrames states the same of frames whose checksums and digests are right
// and whose content is anything: each is a byte of kind, one of flags, one of
// length, and the payload.
func FuzzFrames(f *testing.F) {
	header := `{"format":1,"run":"x"}`
	start := "\x01\x00" + string(rune(len(header))) + header
	f.Add([]byte(start + "\x02\x00\x02{}" + "\x03\x00\x03\x01cd" + "\x02\x01\x09"))
	f.Add([]byte(start + "\x04\x00\x00" + "\x05\x00\x0b{\"count\":1}"))
	f.Add([]byte(start + "\x03\x00\x02\xffc" + "\x07\x00\x00" + "\x02\x80\x00" + "\x01\x01\x00"))
	f.Add([]byte("\x02\x00\x02{}"))
	f.Fuzz(func(t *testing.T, script []byte) {
		data := []byte(magic)
		for len(script) >= 3 {
			kind, flags, size := Kind(script[0]), script[1], int(script[2])
			payload := script[3:min(3+size, len(script))]
			script = script[3+len(payload):]
			at := len(data)
			var digest Hash
			data, digest = appendFrame(data, kind, make([]byte, saltSize), "", payload)
			putPrefix(data[at:], kind, flags, len(payload), digest)
			if flags&flagWithheld != 0 {
				data = data[:at+prefixSize]
			}
		}
		checkReading(t, data)
	})
}

func checkReading(t *testing.T, data []byte) {
	r := NewReader(bytes.NewReader(data))
	var printed []byte
	for r.Next() {
		fr := r.Frame()
		printed = appendRead(printed[:0], fr, Kept{Withheld: fr.Withheld}.flags())
		if from := data[fr.offset:]; !bytes.HasPrefix(from, printed) {
			t.Fatalf("frame %d at %d prints to other bytes", fr.Number, fr.offset)
		}
		fr.Blob()
		if cap(r.win.buf) > 2*len(data)+step {
			t.Fatalf("window of %d bytes for %d bytes of data", cap(r.win.buf), len(data))
		}
	}
	if d := asDamage(r.Err()); r.Err() != nil && (d == nil || d.Offset > int64(len(data))) {
		t.Fatalf("error %v is no damage in %d bytes", r.Err(), len(data))
	}
	checkEveryCursor(t, data)
}

func checkEveryCursor(t *testing.T, data []byte) {
	all, cursors, whole := readAll(bytes.NewReader(data))
	if len(cursors) > 50 {
		return
	}
	for i, c := range cursors {
		r, err := NewReaderAt(bytes.NewReader(data), c)
		must(t, err)
		n := i + 1
		for ; r.Next(); n++ {
			if r.Frame().Kind != all[n].Kind || string(r.Frame().Payload) != all[n].Payload {
				t.Fatalf("from cursor %d: frame %d differs", i, n)
			}
		}
		// Only a whole reading knows that the seal was the last frame.
		sealedHere := i == len(cursors)-1 && all[i].Kind == KindSeal
		if !sealedHere && (n != len(all) || r.Cursor() != whole.Cursor() || fmt.Sprint(r.Err()) != fmt.Sprint(whole.Err())) {
			t.Fatalf("from cursor %d: %d frames, %v; want %d, %v", i, n, r.Err(), len(all), whole.Err())
		}
	}
}

// Whatever is appended is read back, in order, across any pattern of commits,
// flushes, closings and resumptions.
func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		path := filepath.Join(dir, fmt.Sprint(runs))
		w, err := Create(path, Header{Run: "x"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		var want []seen
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"log": func(t *rapid.T) {
				s := rapid.StringMatching(`[^\n]+`).Draw(t, "line")
				check(w.AppendLog([]byte(s)))
				want = append(want, seen{KindLog, false, s})
			},
			"blob": func(t *rapid.T) {
				channel := rapid.StringN(1, 20, 255).Draw(t, "channel")
				data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
				check(w.AppendBlob(channel, data))
				want = append(want, seen{KindBlob, false, string([]byte{byte(len(channel))}) + channel + string(data)})
			},
			"flush": func(t *rapid.T) { check(w.Flush()) },
			"resume": func(t *rapid.T) {
				check(w.Close())
				var rec Recovery
				w, rec, err = Resume(path)
				check(err)
				if rec.TornBytes != 0 || rec.Unmarked != 0 || rec.Frames != uint64(len(want)+1) {
					t.Fatalf("recovery = %v for %d frames", rec, len(want)+1)
				}
			},
			"": func(t *rapid.T) {
				check(w.Flush())
				data, err := os.ReadFile(path)
				check(err)
				got, _, r := readAll(bytes.NewReader(data))
				check(r.Err())
				if len(got) != len(want)+1 {
					t.Fatalf("%d frames, want %d", len(got), len(want)+1)
				}
				for i := range want {
					if got[i+1] != want[i] {
						t.Fatalf("frame %d = %+v, want %+v", i+1, got[i+1], want[i])
					}
				}
				if head, n := w.Head(); r.Cursor().Head != head || r.Cursor().Count != n {
					t.Fatal("reader and writer disagree on the head")
				}
			},
		})
	})
	if runs == 0 {
		t.Fatal("no runs")
	}
}

// The format, written down once more by hand and without the package's own
// encoder: what docs/record-format.md says is what the reader reads.
func TestFormatByHand(t *testing.T) {
	file := []byte("CONCREC\x01")
	head := sha256.Sum256(file)
	frame := func(kind byte, salt, payload string, chained bool) {
		h := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
		h = append(h, kind, 0, 0, 0)
		h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, crc32.MakeTable(crc32.Castagnoli)))
		digest := sha256.Sum256([]byte(salt + payload))
		file = append(append(append(append(file, h...), digest[:]...), salt...), payload...)
		if chained {
			head = sha256.Sum256(append(append(append(head[:], h[:4]...), kind), digest[:]...))
		}
	}
	const salt = "sixteen bytes ok"
	frame(1, salt, `{"format":1,"run":"by-hand","created":"2026-01-02T15:04:05Z","later":"fields are skipped"}`, true)
	frame(2, salt, `{"event":"x"}`, true)
	frame(3, salt, "\x05stdin\x00\xff", true)
	mark := binary.LittleEndian.AppendUint64(nil, 3)
	mark = binary.LittleEndian.AppendUint64(mark, uint64(len(file)))
	frame(4, salt, string(append(mark, head[:]...)), false)
	frame(5, salt, fmt.Sprintf(`{"count":3,"head":"%x","reason":"done","sealed":"2026-01-02T15:04:06Z"}`, head), true)

	rep, err := VerifyReaderAgainst(bytes.NewReader(file), head)
	must(t, err)
	must(t, rep.Sound())
	if !rep.Sealed || rep.Frames != 4 || rep.Matched != 4 || rep.Logs != 1 || rep.Blobs != 1 || rep.Seal.Reason != "done" || rep.Header.Run != "by-hand" || rep.Seal.Head != head {
		t.Errorf("report = %+v", rep)
	}
	// A file from the first days of the format has to be read for good.
	const golden = "testdata/v1.record"
	old, err := os.ReadFile(golden)
	must(t, err)
	if !bytes.Equal(old, file) {
		t.Errorf("%s is not what the format says", golden)
	}
}
