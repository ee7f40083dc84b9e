package claude

import "time"

// Under load the older program writes an answer before the question: the first
// lines of a new file come from several writers. Each line names the one that
// it follows, so a line whose predecessor has not come is held back until it
// does. In all other files each predecessor comes first, and nothing waits.
type order struct {
	came map[string]bool     // uuids of lines that were passed on
	held map[string][]waiter // by the uuid that they wait for
}

type waiter struct {
	uuid  string
	line  []byte
	since time.Time
}

// holdWait is how long a line waits; its predecessor comes within
// milliseconds, or never.
const holdWait = 250 * time.Millisecond

func newOrder(came map[string]bool) *order {
	if came == nil {
		came = map[string]bool{}
	}
	return &order{came: came, held: map[string][]waiter{}}
}

// next returns the lines that may be passed on now that this one came.
func (o *order) next(line []byte, uuid, parent string) [][]byte {
	if parent != "" && !o.came[parent] {
		o.held[parent] = append(o.held[parent], waiter{uuid, line, time.Now()})
		return nil
	}
	return o.release(nil, waiter{uuid: uuid, line: line})
}

func (o *order) release(out [][]byte, w waiter) [][]byte {
	out = append(out, w.line)
	if w.uuid == "" {
		return out
	}
	o.came[w.uuid] = true
	after := o.held[w.uuid]
	delete(o.held, w.uuid)
	for _, w := range after {
		out = o.release(out, w)
	}
	return out
}

// late returns the lines that have waited long enough, or all of them.
func (o *order) late(all bool) (out [][]byte) {
	for parent, ws := range o.held {
		if all || time.Since(ws[0].since) > holdWait {
			delete(o.held, parent)
			for _, w := range ws {
				out = o.release(out, w)
			}
		}
	}
	return out
}
