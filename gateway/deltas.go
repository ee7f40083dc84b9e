package gateway

// deltas puts together what a stream of events tells in pieces: the strings
// that stand at the same place of one event after the other. It follows JSON
// byte by byte, because nothing waits for the end of an event; a line begins
// anew.
type deltas struct {
	n      *needles
	sse    bool
	depth  int
	path   [maxPath]uint64 // of the object or array at each depth, by the names that lead there
	array  [maxPath]bool
	name   uint64 // of the member whose value comes
	str    strState
	texts  map[uint64]*text
	active *text // the text of the string that is open
	joined bool  // it is where the search stands that knows of no events
}

type strState int

const (
	outside strState = iota
	inKey
	inKeyEscape
	inValue
	inValueEscape
)

const (
	maxPath  = 64  // deeper ones are taken for one
	maxTexts = 512 // more of them are taken for one

	deltaReach = 16 << 10 // of stream between two pieces of one text

	hashSeed, hashPrime = 14695981039346656037, 1099511628211
)

// take goes on by one byte, and says whether the key is whole. main is the
// search that knows of no events, before it takes that byte.
func (d *deltas) take(c byte, from int64, main *text) bool {
	if c == '\n' {
		d.breakLine()
		return false
	}
	switch d.str {
	case inKey:
		switch c {
		case '"':
			d.str = outside
		case '\\':
			d.str = inKeyEscape
		default:
			d.name = (d.name ^ uint64(c)) * hashPrime
		}
	case inKeyEscape:
		d.str = inKey
	case inValue:
		if c == '"' {
			d.close(from, main)
			return false
		}
		if c == '\\' {
			d.str = inValueEscape
		}
		return !d.joined && d.active.take(c, from)
	case inValueEscape:
		d.str = inValue
		return !d.joined && d.active.take(c, from)
	default:
		d.between(c)
	}
	return false
}

// join notes when the text of this string is as far as main: from there to the
// end of the string both are the same, and one of them is enough.
func (d *deltas) join(main *text) {
	if (d.str == inValue || d.str == inValueEscape) && !d.joined &&
		d.active.at == main.at && !d.active.within() && !main.within() {
		d.joined = true
		d.active.place = place{}
	}
}

// close ends a value. What it ends with may go on in the next event.
func (d *deltas) close(from int64, main *text) {
	if d.joined {
		d.active.set(main)
	}
	d.active.last, d.str = from, outside
}

// dull are the bytes that change nothing here, as long as main is idle.
func (d *deltas) dull() *[256]bool {
	switch {
	case d.str == outside:
		return &d.n.blank
	case d.str == inValue && d.joined:
		return &d.n.dull
	}
	return &none
}

var none [256]bool

// suspect is where the earliest text begins that may become the key. One that
// nothing was added to for long is over.
func (d *deltas) suspect(end int64) int64 {
	at := end
	for _, t := range d.texts {
		if end-t.last > deltaReach && !(t == d.active && d.str != outside) {
			t.place = place{}
		}
		at = t.place.earlier(at)
	}
	return at
}

// breakLine ends every string, and in a stream of events all there is.
func (d *deltas) breakLine() {
	d.str = outside
	if d.sse {
		d.depth, d.name = 0, hashSeed
	}
}

// between follows what stands between strings.
func (d *deltas) between(c byte) {
	switch c {
	case '{', '[':
		if d.depth++; d.depth < maxPath {
			d.path[d.depth], d.array[d.depth] = d.name, c == '['
		}
		d.name = 0
	case '}', ']':
		d.depth = max(d.depth-1, 0)
		d.name = 0
	case ',':
		d.name = 0
	case '"':
		d.open()
	}
}

// open begins a string: the name of a member, or a value.
func (d *deltas) open() {
	at := min(d.depth, maxPath-1)
	if d.depth > 0 && !d.array[at] && d.name == 0 {
		d.str, d.name = inKey, d.path[at]*hashPrime^hashSeed
		return
	}
	where := d.name
	if d.array[at] {
		where = d.path[at] ^ hashSeed
	}
	if _, ok := d.texts[where]; !ok && len(d.texts) >= maxTexts {
		where = 0
	}
	if d.texts[where] == nil {
		if d.texts == nil {
			d.texts = map[uint64]*text{}
		}
		d.texts[where] = &text{n: d.n}
	}
	d.str, d.active, d.joined = inValue, d.texts[where], false
}
