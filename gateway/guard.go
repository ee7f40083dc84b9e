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
	text    text
	deltas  deltas
	// raw takes what begins like an escape to the letter, until it is as far as
	// text; else it is where that is.
	raw     place
	escaped bool

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

// search goes over a piece; when a form is whole it says where that began.
func (g *guard) search(b []byte, begin int64) (int64, bool) {
	for i := 0; i < len(b); i++ {
		if g.text.idle() && !g.escaped {
			if i += skip(g.deltas.dull(), b[i:]); i == len(b) {
				break
			}
		}
		if from, found := g.take(b[i], begin+int64(i)); found {
			return from, true
		}
	}
	return 0, false
}

func (g *guard) take(c byte, at int64) (int64, bool) {
	if (c == '\\' || c == '%') && !g.escaped {
		g.raw.set(&g.text.place)
		g.escaped = true
	}
	if g.escaped && g.raw.take(g.needles, c, at) {
		return g.raw.from[0], true
	}
	if g.deltas.take(c, at, &g.text) {
		return g.deltas.active.from[0], true
	}
	if g.text.take(c, at) {
		return g.text.from[0], true
	}
	g.deltas.join(&g.text)
	if g.escaped && g.raw.at == 0 && !g.text.within() {
		g.escaped = false
	}
	return 0, false
}

// suspect is where something begins that may become the key: the end of what
// was read, if nothing does.
func (g *guard) suspect() int64 {
	end := g.begin + int64(g.used)
	at := g.text.place.earlier(g.deltas.suspect(end))
	if g.escaped {
		at = g.raw.earlier(at)
	}
	return at
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
