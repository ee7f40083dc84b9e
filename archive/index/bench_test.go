package index

import (
	"bytes"
	"testing"
)

// BenchmarkBag is the words of a text as a tool gives it back, in a loop over one
// that is longer than the caches.
func BenchmarkBag(b *testing.B) {
	const line = "    if err := w.flushRows(); err != nil { // Größe 42, see archive/rows.go:128 and TestKilled\n"
	text := bytes.Repeat([]byte(line), 200)
	var bag Bag
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		bag.Reset()
		bag.AddText(text)
	}
}
