package shingle

import "unicode/utf8"

// reader turns bytes into windows of words. It is fed piece by piece, so that a
// file of any size is read in constant memory.
//
// A text is read twice: as it is written, and as somebody sees it for whom it is
// shown (sight). The second reading runs only where there is something in the
// text that can tell the two apart.
type reader struct {
	each    func(w *ring, seen bool)
	rest    []byte // an unfinished UTF-8 sequence at the end of the last piece
	written tokeniser
	last    ring
	sight   sight
}

func newReader(each func(w *ring, seen bool)) *reader {
	r := &reader{each: each}
	r.written = tokeniser{line: 1, emit: func(word []byte, at place) {
		if r.last.push(word, at) {
			each(&r.last, false)
		}
	}}
	r.sight.words.emit = func(word []byte, at place) {
		full := r.sight.last.push(word, at)
		if r.sight.fresh > 0 {
			r.sight.fresh--
			if full {
				each(&r.sight.last, true)
			}
		}
	}
	return r
}

func (r *reader) feed(p []byte) {
	for len(r.rest) > 0 && len(p) > 0 {
		r.rest = append(r.rest, p[0])
		p = p[1:]
		if !utf8.FullRune(r.rest) {
			continue
		}
		whole := r.rest
		r.rest = nil
		r.runes(whole, false)
	}
	r.runes(p, false)
}

// close ends the last word.
func (r *reader) close() {
	rest := r.rest
	r.rest = nil
	r.runes(rest, true)
	if r.sight.on {
		r.sight.words.pos = r.written.pos
		r.sight.words.flush()
	}
	r.written.flush()
}

func (r *reader) runes(p []byte, last bool) {
	for len(p) > 0 {
		if n := r.plain(p); n > 0 {
			p = p[n:]
			continue
		}
		if !last && !utf8.FullRune(p) {
			r.rest = append([]byte(nil), p...)
			return
		}
		c, n := utf8.DecodeRune(p)
		if r.sight.on || isHyphen(c) {
			r.sight.take(c, &r.written, &r.last)
		}
		if c == utf8.RuneError && n == 1 {
			r.written.flush()
		} else {
			r.written.wide(c)
		}
		r.written.pos += n
		p = p[n:]
	}
}

// plain takes the ASCII that a piece begins with, which is nearly all of it, and
// returns how much that is.
func (r *reader) plain(p []byte) int {
	for i, c := range p {
		if c >= utf8.RuneSelf {
			return i
		}
		if low := letters[c]; low != 0 && !r.sight.on {
			r.written.put(low)
			r.written.pos++
			continue
		}
		if r.sight.on || marks[c] && (c != '-' || len(r.written.word) > 0) {
			r.sight.take(rune(c), &r.written, &r.last)
		}
		r.written.ascii(c)
		r.written.pos++
	}
	return len(p)
}

// windows calls each for every window of a text.
func windows(text []byte, each func(*ring)) {
	r := newReader(func(w *ring, _ bool) { each(w) })
	r.feed(text)
	r.close()
}
