package shingle

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// MaxWindows is how many windows of one text Printer.Print keeps. A longer text
// is thinned: one window in two, in four and so on is kept, chosen by its keyed
// digest. A copied paragraph is found all the same; a copied sentence may not
// be.
const MaxWindows = 1 << 14

// Print is the windows of one text, for a record.
type Print struct {
	Size   int // of the text, in bytes
	SHA256 [sha256.Size]byte
	Rate   int // of its thinnest part, one window in so many was kept
	part   Part
}

// Part is the windows of a piece of a text, in the order of their digests,
// which says nothing about the text.
type Part []window

type window struct {
	sum    uint64 // cheap, to rule out most comparisons
	digest Digest
}

// kept says whether a window stays when one in rate does; rate is a power of
// two.
func (w window) kept(rate int) bool {
	return int(binary.BigEndian.Uint16(w.digest[len(w.digest)-2:]))&(rate-1) == 0
}

// Printer makes prints under one key. It is safe for concurrent use.
type Printer struct{ key []byte }

// NewPrinter returns a printer with a key of its own.
func NewPrinter() *Printer {
	key := make([]byte, KeySize)
	rand.Read(key) // ends the program rather than return an error
	return &Printer{key}
}

// Key is what the digests are made with.
func (p *Printer) Key() []byte { return bytes.Clone(p.key) }

// Part digests a piece of a text.
func (p *Printer) Part(text []byte) Part {
	set := Set{key: p.key}
	mac := set.mac()
	var part Part
	windows(text, func(r *ring) {
		part = append(part, window{r.sum(), r.digest(mac)})
	})
	return part.sorted()
}

func (p Part) sorted() Part {
	slices.SortFunc(p, func(a, b window) int { return bytes.Compare(a.digest[:], b.digest[:]) })
	return slices.CompactFunc(p, func(a, b window) bool { return a.digest == b.digest })
}

// Thin keeps one window in rate.
func (p Part) Thin(rate int) Part {
	return slices.DeleteFunc(slices.Clone(p), func(w window) bool { return !w.kept(rate) })
}

// Print digests a whole text.
func (p *Printer) Print(text []byte) Print {
	part, rate := p.Part(text), 1
	for len(part) > MaxWindows {
		rate *= 2
		part = part.Thin(rate)
	}
	return Assemble(text, rate, part)
}

// Assemble makes the print of a text from the parts of its pieces, of which one
// window in rate or more was kept. Windows that span pieces are not in it.
func Assemble(text []byte, rate int, parts ...Part) Print {
	p := Print{Size: len(text), SHA256: sha256.Sum256(text), Rate: rate, part: parts[0]}
	if len(parts) > 1 {
		p.part = slices.Concat(parts...).sorted()
	}
	return p
}

// Digests are the windows of each print that stand in none of the granted
// texts, sorted.
func (p *Printer) Digests(prints []Print, granted [][]byte) [][]Digest {
	shared := p.shared(prints, granted)
	out := make([][]Digest, len(prints))
	for i, print := range prints {
		for _, w := range print.part {
			if _, both := shared[w.digest]; !both {
				out[i] = append(out[i], w.digest)
			}
		}
	}
	return out
}

// shared finds the windows of granted texts that also stand in prints. Most do
// not, and cost no HMAC and no memory.
func (p *Printer) shared(prints []Print, granted [][]byte) map[Digest]struct{} {
	set := Set{key: p.key, quick: map[uint64]struct{}{}}
	for _, print := range prints {
		for _, w := range print.part {
			set.expect(w.sum)
		}
	}
	found := map[Digest]struct{}{}
	mac := set.mac()
	for _, text := range granted {
		windows(text, func(r *ring) {
			if set.maybe(r) {
				found[r.digest(mac)] = struct{}{}
			}
		})
	}
	return found
}
