package sessiongen

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestWrite(t *testing.T) {
	var a, b bytes.Buffer
	o := Options{Seed: 7, Bytes: 3 << 20, Hard: true}
	w, err := Write(&a, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(&b, o); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatalf("two runs of the same seed differ: %v", err)
	}
	if w.Bytes != int64(a.Len()) || w.Bytes < o.Bytes {
		t.Errorf("says %d bytes, wrote %d", w.Bytes, a.Len())
	}
	lines := bytes.Split(bytes.TrimSuffix(a.Bytes(), []byte("\n")), []byte("\n"))
	if int64(len(lines)) != w.Lines {
		t.Errorf("says %d lines, wrote %d", w.Lines, len(lines))
	}
	var bad, longest int
	for _, l := range lines {
		if !json.Valid(l) {
			bad++
		}
		longest = max(longest, len(l))
	}
	if int64(bad) != w.BadLines || bad == 0 {
		t.Errorf("%d lines are no JSON, %d were meant to be", bad, w.BadLines)
	}
	if longest < 1<<20 {
		t.Errorf("the longest line has %d bytes only", longest)
	}
}
