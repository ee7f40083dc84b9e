package collect

import (
	"runtime/debug"

	"conclave/internal/jsontext"
	"conclave/transcript"
)

// giant is the length from which on a line is on the record once and not
// twice: its bytes are in raw, and the members of detail that repeat them are
// null and named in detail.in_raw. An entry that holds a line of a hundred
// megabytes twice costs seven times its size in memory while it is recorded.
const giant = 16 << 20

// small is the largest member of a giant line's detail that is kept.
const small = 64 << 10

// slim takes out of an item's detail what its raw has.
func slim(it *transcript.Item) {
	if len(it.Detail) <= small {
		return
	}
	var out, names []byte
	err := jsontext.Walk(it.Detail, func(key, value []byte) error {
		if len(out) > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), key...), '"', ':')
		if len(value) <= small {
			out = append(out, value...)
			return nil
		}
		if out = append(out, "null"...); len(names) > 0 {
			names = append(names, ',')
		}
		names = append(append(append(names, '"'), key...), '"')
		return nil
	})
	if err != nil {
		return // the emitter will say so
	}
	out = append(append(append([]byte{'{'}, out...), `,"in_raw":[`...), names...)
	it.Detail = append(out, ']', '}')
}

// giantLine records a line of that length. Memory is given back at once: the
// next collection may be far away, and the next line as long.
func (s *source) giantLine() error {
	for i := range s.items {
		slim(&s.items[i])
	}
	debug.FreeOSMemory()
	defer debug.FreeOSMemory()
	return s.all()
}

// all takes the items at hand.
func (s *source) all() error {
	for i := range s.items {
		if err := s.item(s.items[i]); err != nil {
			return err
		}
		s.items[i] = transcript.Item{} // a long line must not stay in memory
	}
	return nil
}
