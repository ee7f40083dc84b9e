package shingle

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"hash"
)

// Window is the number of words in one shingle.
const Window = 8

// KeySize is the least number of bytes in a key.
const KeySize = 16

// Digest stands for one window of words.
type Digest [16]byte

// Hit is a run of consecutive windows of one source, found in a text.
type Hit struct {
	Source  string `json:"source"`  // the name the source was added under
	Line    int    `json:"line"`    // where the run begins in the text, from 1
	EndLine int    `json:"endLine"` // where its last word begins
	Windows int    `json:"windows"` // how many windows matched
	// From and To are the run's bytes in the text. SourceLine, SourceFrom and
	// SourceTo are where it stands in the source; 0 where only digests are known.
	From       int `json:"from"`
	To         int `json:"to"`
	SourceLine int `json:"sourceLine"`
	SourceFrom int `json:"sourceFrom"`
	SourceTo   int `json:"sourceTo"`
}

// Set holds the windows of forbidden sources. It is not safe for concurrent
// changes; any number of Find calls may run at once after the last change.
type Set struct {
	key     []byte
	digests map[Digest]origin
	// quick is a cheap first look, so that a text without a hit costs no HMAC,
	// and sieve one before it that stays in the processor's cache. They exist
	// only where the words themselves were seen (Add); a set loaded from digests
	// computes each one.
	quick map[uint64]struct{}
	sieve [1 << 12]uint64
	blind bool
	// written: only the first reading of a text counts, because the digests were
	// made when there was no other.
	written bool
}

// origin is where a window comes from.
type origin struct {
	source string
	at     place // of its first word, to the end of its last
}

// NewSet returns an empty set under a key of at least KeySize bytes.
func NewSet(key []byte) (*Set, error) {
	if len(key) < KeySize {
		return nil, errors.New("make fingerprint set: the key is shorter than 16 bytes")
	}
	return &Set{key: bytes.Clone(key), digests: map[Digest]origin{}, quick: map[uint64]struct{}{}}, nil
}

// Add puts every window of a forbidden text into the set and returns how many
// it has. The first source that holds a window keeps it.
func (s *Set) Add(source string, text []byte) int {
	n := 0
	mac := s.mac()
	windows(text, func(w *ring) {
		d := w.digest(mac)
		if _, there := s.digests[d]; !there {
			s.digests[d] = origin{source, w.span()}
		}
		s.expect(w.sum())
		n++
	})
	return n
}

// expect makes the first look let a window pass.
func (s *Set) expect(sum uint64) {
	s.quick[sum] = struct{}{}
	bit := sieveBit(sum)
	s.sieve[bit/64] |= 1 << (bit % 64)
}

// AddDigests puts digests made earlier, under the same key, into the set.
func (s *Set) AddDigests(source string, digests []Digest) {
	for _, d := range digests {
		if _, there := s.digests[d]; !there {
			s.digests[d] = origin{source: source}
		}
	}
	s.blind = s.blind || len(digests) > 0
}

// AsWritten makes the set look at texts only as they are written: its digests
// were made, and what was granted was subtracted, when there was no second
// reading.
func (s *Set) AsWritten() { s.written = true }

// Subtract removes every window that also stands in a granted text.
func (s *Set) Subtract(granted []byte) {
	mac := s.mac()
	windows(granted, func(w *ring) {
		if s.maybe(w) {
			delete(s.digests, w.digest(mac))
		}
	})
}

// maybe is the cheap first look.
func (s *Set) maybe(w *ring) bool {
	if s.blind {
		return true
	}
	sum := w.sum()
	if bit := sieveBit(sum); s.sieve[bit/64]&(1<<(bit%64)) == 0 {
		return false
	}
	_, ok := s.quick[sum]
	return ok
}

func sieveBit(sum uint64) uint64 { return (sum * 0x9E3779B97F4A7C15) >> (64 - 18) }

// Find looks for the set's windows in a text.
func (s *Set) Find(text []byte) []Hit {
	f := s.Finder()
	_, _ = f.Write(text) // it never fails
	return f.Hits()
}

// Finder looks for a set's windows in what is written to it, in constant memory
// but for the hits.
type Finder struct {
	set   *Set
	mac   hash.Hash
	words *reader
	at    int  // windows seen
	hitAt int  // the window of the last hit
	mixed bool // the last hit was seen in the second reading
	hits  []Hit
}

// Finder returns a new finder; the set must not change while it is used.
func (s *Set) Finder() *Finder {
	f := &Finder{set: s, mac: s.mac(), hitAt: -2}
	f.words = newReader(f.window)
	return f
}

// Write takes a piece of the text. It never fails.
func (f *Finder) Write(p []byte) (int, error) {
	if len(f.set.digests) > 0 {
		f.words.feed(p)
	}
	return len(p), nil
}

// Hits ends the text and returns what was found in it.
func (f *Finder) Hits() []Hit {
	f.words.close()
	return f.hits
}

func (f *Finder) window(w *ring, seen bool) {
	if !seen {
		f.at++
	}
	if seen && f.set.written || !f.set.maybe(w) {
		return
	}
	o, hit := f.set.digests[w.digest(f.mac)]
	if !hit {
		return
	}
	span, end := w.span(), w.end()
	if f.goesOn(span, o, seen) {
		h := &f.hits[len(f.hits)-1]
		h.EndLine, h.To = max(h.EndLine, end.line), max(h.To, span.to)
		h.SourceFrom, h.SourceTo = min(h.SourceFrom, o.at.from), max(h.SourceTo, o.at.to)
		h.Windows++
	} else {
		f.hits = append(f.hits, Hit{
			Source: o.source, Line: span.line, EndLine: end.line, Windows: 1, From: span.from, To: span.to,
			SourceLine: o.at.line, SourceFrom: o.at.from, SourceTo: o.at.to,
		})
	}
	f.mixed = seen
	if !seen {
		f.hitAt = f.at
	}
}

// goesOn says whether a window belongs to the last hit: it is the next one, or,
// where the two readings meet, it overlaps with it on both sides.
func (f *Finder) goesOn(span place, o origin, seen bool) bool {
	n := len(f.hits) - 1
	if n < 0 || f.hits[n].Source != o.source {
		return false
	}
	h := f.hits[n]
	if !seen && !f.mixed {
		return f.at == f.hitAt+1
	}
	return span.from < h.To && (o.at.to == 0 || o.at.from < h.SourceTo && h.SourceFrom < o.at.to)
}

func (s *Set) mac() hash.Hash { return hmac.New(sha256.New, s.key) }

// ring holds the last eight words.
type ring struct {
	words  [Window][]byte
	sums   [Window]uint64
	places [Window]place
	rolled uint64
	next   int
	full   bool
}

// step and out are what a word's sum is multiplied with when the next one comes,
// and when it has come through all eight places.
const step uint64 = 0x9E3779B97F4A7C15

var out = func() uint64 {
	h := uint64(1)
	for range Window {
		h *= step
	}
	return h
}()

func (w *ring) push(word []byte, at place) bool {
	i, sum := w.next, fnv(word)
	w.words[i] = append(w.words[i][:0], word...)
	w.rolled = w.rolled*step + sum - w.sums[i]*out
	w.places[i], w.sums[i] = at, sum
	w.next = (i + 1) % Window
	w.full = w.full || w.next == 0
	return w.full
}

// copy makes w what another ring is.
func (w *ring) copy(from *ring) {
	for i, word := range from.words {
		w.words[i] = append(w.words[i][:0], word...)
	}
	w.sums, w.places, w.rolled, w.next, w.full = from.sums, from.places, from.rolled, from.next, from.full
}

func (w *ring) end() place { return w.places[(w.next+Window-1)%Window] }

// span is from the first word to the end of the last.
func (w *ring) span() place {
	at := w.places[w.next]
	at.to = w.end().to
	return at
}

func (w *ring) sum() uint64 { return w.rolled }

func (w *ring) digest(mac hash.Hash) Digest {
	mac.Reset()
	for k := range Window {
		mac.Write(w.words[(w.next+k)%Window])
		mac.Write([]byte{' '}) // no word holds a space, so no two windows spell alike
	}
	var full [sha256.Size]byte
	var d Digest
	copy(d[:], mac.Sum(full[:0]))
	return d
}

func fnv(p []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range p {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
