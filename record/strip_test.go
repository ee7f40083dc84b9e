package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestStripped: whatever stands on a record and wherever its payloads stand,
// the stripped form gives it back, byte for byte, and what is withheld is gone.
func TestStripped(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "r.record")
		w, err := Create(path, Header{Run: "r"})
		if err != nil {
			t.Fatal(err)
		}
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for n := range rapid.IntRange(0, 12).Draw(t, "frames") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				check(w.AppendBlob("c", rapid.SliceOf(rapid.Byte()).Draw(t, "blob")))
			case 1:
				check(w.Commit())
			default:
				text := rapid.SampledFrom([]string{"{}", " ", "\r", "twice", "twice\r", "\x00\xff", string(line(n))}).Draw(t, "line")
				check(w.AppendLog([]byte(text)))
			}
		}
		sealed := rapid.Bool().Draw(t, "sealed")
		if sealed {
			_, err := w.Seal("done")
			check(err)
		}
		check(w.Close())
		data, err := os.ReadFile(path)
		check(err)
		check(os.Remove(path))

		hidden := rapid.IntRange(0, 3).Draw(t, "hidden") // one in as many, 0: none
		var log [][]byte
		keep := func(f Frame) Kept {
			k := Kept{Withheld: hidden > 0 && int(f.Number)%hidden == 0}
			if k.Line = f.Kind == KindLog && rapid.Bool().Draw(t, "told"); k.Line {
				text := bytes.Clone(f.Payload)
				if k.Same = rapid.Bool().Draw(t, "same"); !k.Same || k.Withheld {
					text = []byte("something else")
				}
				log = append(log, text)
			}
			return k
		}
		var got bytes.Buffer
		withheld, stripped, err := stripThen(&got, data, keep, func() [][]byte { return log })
		check(err)
		if withheld == 0 && !bytes.Equal(got.Bytes(), data) {
			t.Fatalf("%d bytes come back of %d", got.Len(), len(data))
		}
		before, err := VerifyReader(bytes.NewReader(data))
		check(err)
		after, err := VerifyReader(bytes.NewReader(got.Bytes()))
		check(err)
		if after.Sound() != nil || after.Head != before.Head || after.Frames != before.Frames || int(after.Withheld) != withheld || after.TornBytes != 0 {
			t.Fatalf("%+v, it was %+v", after, before)
		}
		// Cut anywhere, or with one bit changed, it is refused or gives what
		// does not verify to the same head.
		at := rapid.IntRange(0, len(stripped)-1).Draw(t, "at")
		changed := bytes.Clone(stripped)
		changed[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		for _, bad := range [][]byte{changed, stripped[:at]} {
			var out bytes.Buffer
			if err := Restore(&out, bytes.NewReader(bad), linesOf(log)); err != nil {
				continue
			}
			rep, err := VerifyReader(bytes.NewReader(out.Bytes()))
			if err == nil && rep.Sound() == nil && rep.Head == before.Head && rep.Frames == before.Frames &&
				rep.Durable >= before.Durable && !bytes.Equal(out.Bytes(), got.Bytes()[:out.Len()]) {
				t.Fatalf("a change at byte %d passes", at)
			}
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	_, data := sample(t, true)
	var log [][]byte
	var out bytes.Buffer
	_, stripped, err := stripThen(&out, data, func(f Frame) Kept {
		if f.Kind == KindLog {
			log = append(log, bytes.Clone(f.Payload))
		}
		return Kept{Line: f.Kind == KindLog, Same: true}
	}, func() [][]byte { return log })
	must(t, err)
	if len(stripped) >= len(data) || bytes.Contains(stripped, []byte(`"event":"test"`)) {
		t.Errorf("%d bytes are left of %d", len(stripped), len(data))
	}
	lean := bytes.Clone(stripped)
	putPrefix(lean[len(strippedMagic):], KindHeader, flagLean|flagLine, 2, Hash{})
	for what, c := range map[string]struct {
		stripped []byte
		log      [][]byte
		want     string
	}{
		"a record":         {data, log, "no stripped record"},
		"nothing":          {nil, log, "no stripped record"},
		"a newer one":      {[]byte("CONCFRM\x02"), log, "no stripped record"},
		"too few lines":    {stripped, log[:2], "unexpected EOF"},
		"another line":     {stripped, [][]byte{[]byte("x")}, "has 1 bytes"},
		"a cut":            {stripped[:len(stripped)-1], log, "unexpected EOF"},
		"a lean header":    {lean, log, "contradict"},
		"a torn beginning": {stripped[:len(strippedMagic)+5], log, "unexpected EOF"},
	} {
		err := Restore(&bytes.Buffer{}, bytes.NewReader(c.stripped), linesOf(c.log))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}
