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
	active *text
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

// search goes over a piece of the stream; when a form is whole it says where
// that began.
func (d *deltas) search(b []byte, begin int64) (int64, bool) {
	for i := 0; i < len(b); i++ {
		if d.str == inValue && d.active.idle() {
			if n := d.n.skip(b[i:]); n > 0 {
				i += n
				d.active.last = begin + int64(i) - 1
			}
			if i == len(b) {
				break
			}
		}
		if d.take(b[i], begin+int64(i)) {
			return d.active.from[0], true
		}
	}
	return 0, false
}

// take goes on by one byte, and says whether the key is whole.
func (d *deltas) take(c byte, from int64) bool {
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
			d.str = outside
			return false
		}
		if c == '\\' {
			d.str = inValueEscape
		}
		return d.say(c, from)
	case inValueEscape:
		d.str = inValue
		return d.say(c, from)
	default:
		d.between(c)
	}
	return false
}

// say goes on with the text that stands here.
func (d *deltas) say(c byte, from int64) bool {
	d.active.last = from
	return d.active.take(c, from)
}

// suspect is where the earliest text begins that may become the key. One that
// nothing was added to for long is over.
func (d *deltas) suspect(end int64) int64 {
	at := end
	for _, t := range d.texts {
		if end-t.last > deltaReach {
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
	d.str, d.active = inValue, d.texts[where]
}
