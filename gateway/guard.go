package gateway

import "bytes"

const (
	guardLeast = 8 // how long a key must be to be told from ordinary text
	guardHold  = 4 // how much of the key's beginning may pass
)

// guard finds the key in a stream, also where it is cut into pieces. A piece
// that ends with the beginning of the key is held back by that much until it
// is clear whether the rest follows; every other byte goes on at once. The
// first three bytes of the key are not worth waiting for, and are let go, but
// remembered.
type guard struct {
	key    []byte
	rare   int // the place in key of the byte to look for
	buf    []byte
	used   int // bytes of buf that wait, or are remembered
	passed int // of these, how many have been passed on
	upTo   int // how many more are, with the piece that is on its way
}

func newGuard(key []byte, size int) *guard {
	return &guard{key: key, rare: rarest(key), buf: make([]byte, size)}
}

// rarest is the place of the byte of key that ordinary text has least. Keys
// begin like words, and looking for their beginning stops at every other one.
func rarest(key []byte) int {
	for _, c := range []byte("QZXJKVYWGUHBFMPDLCORNSTIEA7968354210zqxjkvyw") {
		if i := bytes.IndexByte(key, c); i >= 0 {
			return i
		}
	}
	return 0
}

// find is bytes.Index for the key.
func (g *guard) find(data []byte) int {
	for from := g.rare; from < len(data); from++ {
		i := bytes.IndexByte(data[from:], g.key[g.rare])
		if i < 0 {
			return -1
		}
		from += i
		if bytes.HasPrefix(data[from-g.rare:], g.key) {
			return from - g.rare
		}
	}
	return -1
}

// room is where the next bytes are to be read to.
func (g *guard) room() []byte { return g.buf[g.used:] }

// next takes n more bytes and returns what may go on. When the key was found,
// that ends before it.
func (g *guard) next(n int, last bool) (piece []byte, found bool) {
	g.used += n
	data := g.buf[:g.used]
	if len(g.key) == 0 {
		g.upTo = g.used
		return data, false
	}
	end := g.used
	if i := g.find(data); i >= 0 {
		end, found = i, true
	} else if o := overlap(data, g.key); o >= guardHold && !last {
		end = g.used - o
	}
	g.upTo = max(end, g.passed)
	return data[g.passed:g.upTo], found
}

// keep makes room: of what has passed, only what may be the beginning of the
// key is remembered.
func (g *guard) keep() {
	o := overlap(g.buf[:g.used], g.key)
	from := g.used - o
	g.passed = g.upTo - from
	g.used = copy(g.buf, g.buf[from:g.used])
}

// overlap is the length of the longest beginning of key, short of the whole,
// that data ends with.
func overlap(data, key []byte) int {
	for n := min(len(key)-1, len(data)); n > 0; n-- {
		if bytes.HasSuffix(data, key[:n]) {
			return n
		}
	}
	return 0
}
