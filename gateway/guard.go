package gateway

const (
	guardLeast = 8       // how long a key must be to be told from ordinary text
	guardHold  = 4       // how much of a form's beginning may pass
	guardMost  = 1 << 20 // how much may wait
)

// guard finds the key in a stream: as it is, escaped, encoded, cut into pieces
// by the network, or told in pieces by one event after the other. A piece that
// ends with the beginning of the key is held back by that much until it is
// clear whether the rest follows; every other byte goes on at once. The first
// three bytes are not worth waiting for, and are let go, but remembered.
type guard struct {
	needles *needles // nil: there is nothing to look for
	raw     place
	text    text
	deltas  deltas

	buf   []byte
	used  int   // bytes of buf that wait
	begin int64 // where in the stream buf begins
	upTo  int   // of what waits, how much goes on
}

func newGuard(n *needles, size int, sse bool) *guard {
	return &guard{needles: n, text: text{n: n}, deltas: deltas{n: n, sse: sse, name: hashSeed}, buf: make([]byte, size)}
}

// room is where the next bytes are to be read to.
func (g *guard) room() []byte {
	if g.used == len(g.buf) {
		g.buf = append(g.buf, make([]byte, len(g.buf))...)
	}
	return g.buf[g.used:]
}

// next takes n more bytes and returns what may go on. When the key was found,
// that ends before it.
func (g *guard) next(n int, last bool) (piece []byte, found bool) {
	fresh := g.used
	g.used += n
	g.upTo = g.used
	if g.needles == nil {
		return g.buf[:g.used], false
	}
	if at, ok := g.search(g.buf[fresh:g.used], g.begin+int64(fresh)); ok {
		g.upTo = max(0, int(at-g.begin))
		return g.buf[:g.upTo], true
	}
	if last {
		return g.buf[:g.used], false
	}
	g.upTo = max(0, int(g.suspect()-g.begin))
	return g.buf[:g.upTo], g.used-g.upTo > guardMost
}

// search says where the first of those begins that became whole in a piece.
func (g *guard) search(b []byte, begin int64) (at int64, found bool) {
	for _, look := range []func() (int64, bool){
		func() (int64, bool) { return g.raw.search(g.needles, b, begin) },
		func() (int64, bool) { return g.text.search(b, begin) },
		func() (int64, bool) { return g.deltas.search(b, begin) },
	} {
		if from, ok := look(); ok && (!found || from < at) {
			at, found = from, true
		}
	}
	return at, found
}

// suspect is where something begins that may become the key: the end of what
// was read, if nothing does.
func (g *guard) suspect() int64 {
	end := g.begin + int64(g.used)
	return g.raw.earlier(g.text.place.earlier(g.deltas.suspect(end)))
}

func (p *place) earlier(at int64) int64 {
	if len(p.from) >= guardHold {
		return min(at, p.from[0])
	}
	return at
}

// keep makes room: what has passed is forgotten, but for how far the search has
// come.
func (g *guard) keep() {
	g.begin += int64(g.upTo)
	g.used = copy(g.buf, g.buf[g.upTo:g.used])
	g.upTo = 0
}
