package gateway

import "strings"

// place is where a search stands in a text: how much of a form was seen, and
// where in the stream each byte of it began.
type place struct {
	at   int32
	from []int64
}

// take goes on by one byte, and says whether a form is whole.
func (p *place) take(n *needles, c byte, from int64) bool {
	if p.at = n.step(p.at, c); p.at == 0 {
		p.from = p.from[:0]
		return false
	}
	p.from = append(p.from, from)
	if depth := int(n.nodes[p.at].depth); depth < len(p.from) {
		p.from = p.from[:copy(p.from, p.from[len(p.from)-depth:])]
	}
	return n.nodes[p.at].whole
}

// set goes to where another search stands.
func (p *place) set(other *place) {
	p.at, p.from = other.at, append(p.from[:0], other.from...)
}

// text is a search that takes off escapes on the way: those of JSON, of JSON
// within JSON however deep, and of addresses.
type text struct {
	n *needles
	place
	escape, digits int   // within \uXXXX or \x: 1 after the backslash, 2 after u
	value          byte  // of the digits so far, as far as it fits a byte
	large          bool  // it does not
	since          int64 // where the escape began

	percent int // 1 after %, 2 after its first digit
	high    byte
	begun   int64

	last int64 // where in the stream the last byte was; see deltas
}

// set goes to where another search stands.
func (t *text) set(other *text) {
	own := t.place
	own.set(&other.place)
	*t = *other
	t.place = own
}

// idle says that nothing has begun.
func (t *text) idle() bool { return t.at == 0 && !t.within() }

// within says that an escape has begun.
func (t *text) within() bool { return t.escape != 0 || t.percent != 0 }

// holds says whether a form is whole somewhere in a text.
func (t *text) holds(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if t.idle() {
			if i += skip(&t.n.dull, b[i:]); i == len(b) {
				break
			}
		}
		if t.take(b[i], int64(i)) {
			return true
		}
	}
	return false
}

// take goes on by one byte of the stream.
func (t *text) take(c byte, from int64) bool {
	switch {
	case t.escape == 0 && c == '\\':
		t.escape, t.since = 1, from
	case t.escape == 0:
		return t.plain(c, from)
	case t.escape == 1 && c == '\\': // JSON in JSON: the same escape, deeper
	case t.escape == 1 && c == 'u':
		t.escape, t.digits, t.value, t.large = 2, 0, 0, false
	case t.escape == 1:
		t.escape = 0
		return t.plain(unescaped(c), t.since)
	default:
		return t.digit(c, from)
	}
	return false
}

// unescaped is what a letter stands for behind a backslash.
func unescaped(c byte) byte {
	if i := strings.IndexByte("nrtbf", c); i >= 0 {
		return "\n\r\t\b\f"[i]
	}
	return c
}

// digit takes one of the four of \uXXXX.
func (t *text) digit(c byte, from int64) bool {
	v, ok := hexDigit(c)
	if !ok { // it was none
		t.escape = 0
		return t.plain(c, from)
	}
	t.large = t.large || t.value >= 16
	t.value = t.value<<4 | v
	if t.digits++; t.digits < 4 {
		return false
	}
	t.escape = 0
	if t.large {
		t.value = 0 // no letter of a key
	}
	return t.plain(t.value, t.since)
}

// plain takes a byte without its backslashes.
func (t *text) plain(c byte, from int64) bool {
	v, ok := hexDigit(c)
	switch {
	case t.percent == 0 && c == '%':
		t.percent, t.begun = 1, from
		return false
	case t.percent == 0:
		return t.letter(c, from)
	case t.percent == 1 && ok:
		t.percent, t.high = 2, v
		return false
	case t.percent == 2 && ok:
		if t.percent = 0; t.high<<4|v == '%' { // an address in an address
			t.percent = 1
			return false
		}
		return t.letter(t.high<<4|v, t.begun)
	}
	t.percent = 0
	return t.plain(c, from)
}

// letter passes over the breaks that long base64 has.
func (t *text) letter(c byte, from int64) bool {
	if c == '\n' || c == '\r' {
		return false
	}
	return t.place.take(t.n, c, from)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
