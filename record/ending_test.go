package record_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"conclave/record"
)

// The last frames of a record lead to its head, whatever was before them, and a
// change of any byte of them leads elsewhere.
func TestEnding(t *testing.T) {
	for _, logs := range []int{1, 2, 40} {
		path := filepath.Join(t.TempDir(), "r.record")
		w, err := record.Create(path, record.Header{Run: "r"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range logs {
			if err := w.AppendLog(fmt.Appendf(nil, `{"event":"n","context":{"i":%d}}`, i)); err != nil {
				t.Fatal(err)
			}
		}
		seal, err := w.Seal("done")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := record.ReadEnding(bytes.NewReader(data), 2)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Follow()
		if err != nil || got.Head != seal.Head || got.Frames != seal.Frames || got.Reason != "done" {
			t.Fatalf("%d logs: follows to %+v, %v; sealed %+v", logs, got, err, seal)
		}
		for name, change := range map[string]func(*record.Ending){
			"before":  func(e *record.Ending) { e.Before[3] ^= 1 },
			"count":   func(e *record.Ending) { e.Count++ },
			"salt":    func(e *record.Ending) { e.Frames[0].Salt[0] ^= 1 },
			"payload": func(e *record.Ending) { e.Frames[0].Payload[4] ^= 1 },
			"kind":    func(e *record.Ending) { e.Frames[0].Kind = record.KindBlob },
			"seal":    func(e *record.Ending) { e.Frames[1].Salt[0] ^= 1 },
			"order":   func(e *record.Ending) { e.Frames[0], e.Frames[1] = e.Frames[1], e.Frames[0] },
			"short":   func(e *record.Ending) { e.Frames = e.Frames[:1] },
			"none":    func(e *record.Ending) { e.Frames = nil },
		} {
			changed, err := record.ReadEnding(bytes.NewReader(data), 2)
			if err != nil {
				t.Fatal(err)
			}
			change(&changed)
			if s, err := changed.Follow(); err == nil && s.Head == seal.Head {
				t.Errorf("%d logs: a changed %s still leads to the head", logs, name)
			}
		}
		if _, err := record.ReadEnding(bytes.NewReader(data), logs+3); err == nil {
			t.Error("more frames than there are were found")
		}
		if _, err := record.ReadEnding(bytes.NewReader(data[:len(data)-1]), 2); err == nil {
			t.Error("a record without its seal has an end")
		}
	}
}
