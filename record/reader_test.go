package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"
)

func TestReadFromAnyCursor(t *testing.T) {
	path, data := sample(t, true)
	all, cursors, r := readAll(bytes.NewReader(data))
	must(t, r.Err())
	for i, c := range append([]Cursor{{}}, cursors...) {
		text, err := json.Marshal(c) // as it would be kept elsewhere
		must(t, err)
		var kept Cursor
		must(t, json.Unmarshal(text, &kept))
		r, err := openAt(path, kept)
		must(t, err)
		var rest []seen
		for r.Next() {
			f := r.Frame()
			rest = append(rest, seen{f.Kind, f.Withheld, string(f.Payload)})
		}
		if r.Err() != nil || len(rest) != len(all)-i || (len(rest) > 0 && !reflect.DeepEqual(rest, all[i:])) {
			t.Errorf("from cursor %d: %d frames, %v; want %d", i, len(rest), r.Err(), len(all)-i)
		}
		must(t, r.Close())
		must(t, r.Close())
	}
}

func TestWrongCursorIsFoundOut(t *testing.T) {
	path, data := sample(t, true)
	_, cursors, _ := readAll(bytes.NewReader(data))
	c := cursors[2]
	for name, bad := range map[string]Cursor{
		"another head":   {c.Offset, Hash{1}, c.Count},
		"another count":  {c.Offset, c.Head, c.Count + 1},
		"within a frame": {c.Offset + 1, c.Head, c.Count},
		"past the end":   {int64(len(data)) + 1, c.Head, c.Count},
		"within magic":   {3, c.Head, c.Count},
		"no frames":      {c.Offset, c.Head, 0},
	} {
		r, err := openAt(path, bad)
		if err != nil {
			continue
		}
		for r.Next() {
		}
		if r.Err() == nil {
			t.Errorf("%s: read to the end without an error", name)
		}
		must(t, r.Close())
	}
}

// growing is a file of which a reader sees ever more.
type growing struct {
	data []byte
	size int
}

func (g *growing) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(g.data[:g.size]).ReadAt(p, off)
}

// A reader that is asked after every single byte finds each frame as soon as
// it is whole, and never an error.
func TestEndOfFileMeansNotYet(t *testing.T) {
	_, data := sample(t, true)
	all, cursors, _ := readAll(bytes.NewReader(data))
	src := &growing{data: data}
	r := NewReader(src)
	found := 0
	for ; src.size <= len(data); src.size++ {
		for r.Next() {
			if got := (seen{r.Frame().Kind, false, string(r.Frame().Payload)}); got != all[found] || r.Cursor() != cursors[found] {
				t.Fatalf("at %d bytes: frame %+v, want %+v", src.size, got, all[found])
			}
			found++
		}
		must(t, r.Err())
		if found < len(all) && cursors[found].Offset <= int64(src.size) {
			t.Fatalf("at %d bytes: frame %d is whole and was not found", src.size, found)
		}
	}
	if found != len(all) {
		t.Errorf("%d frames, want %d", found, len(all))
	}
}

func TestFileThatShrinksIsDamage(t *testing.T) {
	_, data := sample(t, false)
	src := &growing{data: data, size: len(data)}
	r := NewReader(src)
	for r.Next() {
	}
	must(t, r.Err())
	src.size -= 100
	if r.Next() || asDamage(r.Err()) == nil {
		t.Errorf("shorter file: %v, want *Damage", r.Err())
	}
}

// A reader that saw a torn tail goes on after the writer's Resume replaced it.
func TestReaderSurvivesACut(t *testing.T) {
	path, data := sample(t, false)
	must(t, os.WriteFile(path, append(bytes.Clone(data), data[len(magic):len(magic)+40]...), 0o600))
	r, err := Open(path)
	must(t, err)
	defer r.Close()
	for r.Next() {
	}
	must(t, r.Err())
	w, rec, err := Resume(path)
	must(t, err)
	if rec.TornBytes != 40 {
		t.Errorf("recovery = %v", rec)
	}
	must(t, w.AppendLog([]byte(`{"new":1}`)))
	must(t, w.Close())
	var last string
	for r.Next() {
		last = string(r.Frame().Payload)
	}
	if r.Err() != nil || last != `{"new":1}` {
		t.Errorf("after the cut: %q, %v", last, r.Err())
	}
}

// Followers from the beginning, from a cursor, with and without hints, see
// everything while it is being written.
func TestFollowWhileWriting(t *testing.T) {
	const lines = 3000
	path := filepath.Join(t.TempDir(), "live.record")
	w := create(t, path)
	for n := range 10 {
		must(t, w.AppendLog(line(n)))
	}
	must(t, w.Commit())
	r, err := Open(path)
	must(t, err)
	for range 5 {
		r.Next()
	}
	middle := r.Cursor() // header and four lines
	must(t, r.Close())

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	hint := make(chan struct{}, 1)
	follow := func(c Cursor, first int, hint <-chan struct{}, poll time.Duration) error {
		r, err := openAt(path, c)
		if err != nil {
			return err
		}
		defer r.Close()
		next := first
		for r.Follow(ctx, hint, poll) {
			if f := r.Frame(); f.Kind == KindLog {
				if !bytes.Equal(f.Payload, line(next)) {
					return fmt.Errorf("line %d is %s", next, f.Payload)
				}
				next++
			}
		}
		if _, sealed := r.Sealed(); r.Err() != nil || !sealed || next != lines {
			return fmt.Errorf("ended at line %d, sealed %v: %w", next, sealed, r.Err())
		}
		return nil
	}
	var wg sync.WaitGroup
	for _, f := range []func() error{
		func() error { return follow(Cursor{}, 0, hint, time.Hour) },
		func() error { return follow(Cursor{}, 0, nil, time.Millisecond) },
		func() error { return follow(middle, 4, nil, time.Microsecond) },
	} {
		wg.Go(func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
	}
	for n := 10; n < lines; n++ {
		must(t, w.AppendLog(line(n)))
		if n%7 == 0 {
			must(t, w.Flush())
		}
		select {
		case hint <- struct{}{}:
		default:
		}
	}
	_, err = w.Seal("done")
	must(t, err)
	close(hint) // with a poll of an hour, this is what ends the first follower
	wg.Wait()
}

func TestFollowEndsWithItsContext(t *testing.T) {
	path, _ := sample(t, false)
	r, err := Open(path)
	must(t, err)
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	for r.Follow(ctx, nil, time.Hour) {
		n++
	}
	if !errors.Is(r.Err(), context.Canceled) || n != int(r.Cursor().Count) || n == 0 {
		t.Errorf("%d frames, %v; want all that are there, then Canceled", n, r.Err())
	}
}

func TestVerifyAgainstAKnownHead(t *testing.T) {
	path, data := sample(t, true)
	_, cursors, _ := readAll(bytes.NewReader(data))
	for i, c := range cursors {
		rep, err := VerifyAgainst(path, c.Head)
		if err != nil || rep.Matched != uint64(i+1) {
			t.Errorf("head after frame %d: matched %d, %v", i+1, rep.Matched, err)
		}
	}
	// Cut back to a whole frame, it verifies by itself; the head tells.
	short := data[:cursors[3].Offset]
	rep, err := VerifyReader(bytes.NewReader(short))
	if err != nil || rep.Sound() != nil || rep.Sealed {
		t.Errorf("shortened record: %+v, %v", rep, err)
	}
	if _, err := VerifyReaderAgainst(bytes.NewReader(short), cursors[len(cursors)-1].Head); !errors.Is(err, ErrOtherHead) {
		t.Errorf("shortened record against its seal: %v, want ErrOtherHead", err)
	}
	var h Hash
	if err := h.UnmarshalText([]byte(cursors[0].Head.String())); err != nil || h != cursors[0].Head {
		t.Errorf("a hash read back: %v, %v", h, err)
	}
	if err := h.UnmarshalText([]byte("abc")); err == nil {
		t.Error("a hash of 3 digits was read")
	}
}

func TestWithheldCopyVerifies(t *testing.T) {
	for _, sealed := range []bool{true, false} {
		_, data := sample(t, sealed)
		before, err := VerifyReader(bytes.NewReader(data))
		must(t, err)
		var copied bytes.Buffer
		n, err := withhold(&copied, data, func(f Frame) bool { return f.Kind == KindBlob })
		must(t, err)
		if n != 2 || bytes.Contains(copied.Bytes(), []byte("evidence")) {
			t.Errorf("%d payloads withheld, want 2 and nothing of them left", n)
		}
		after, err := VerifyReader(bytes.NewReader(copied.Bytes()))
		must(t, err)
		if after.Sound() != nil || after.Withheld != 2 || after.Durable != before.Durable {
			t.Errorf("copy: %+v", after)
		}
		after.Withheld = 0
		if !reflect.DeepEqual(before, after) {
			t.Errorf("copy verifies to\n%+v, want\n%+v", after, before)
		}
		for i := range copied.Bytes() {
			copied.Bytes()[i] ^= 1
			if rep, err := VerifyReader(bytes.NewReader(copied.Bytes())); err != nil || rep.Damage == nil {
				t.Fatalf("sealed %v: byte %d of the copy flipped: not found (%+v, %v)", sealed, i, rep, err)
			}
			copied.Bytes()[i] ^= 1
		}
		// Withholding again adds to what is withheld.
		var twice bytes.Buffer
		n, err = withhold(&twice, copied.Bytes(), func(f Frame) bool { return f.Number == 2 })
		must(t, err)
		if rep, err := VerifyReader(bytes.NewReader(twice.Bytes())); err != nil || rep.Withheld != 3 || n != 3 || rep.Head != before.Head {
			t.Errorf("second copy: %+v, %v", rep, err)
		}
	}
}
