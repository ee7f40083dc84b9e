package collect

import "errors"

// together is how many records are closed at a time. A disk takes as long for the
// syncs of many files as for that of one, if they are asked for at once.
const together = 32

// endings are records on their way to being closed, beside reading.
type endings struct {
	c    *Collector
	list []ending // the oldest first
}

type ending struct {
	sess    *recording
	sources []*source // to be forgotten with it
	done    chan error
}

// add says that collecting has ended for a session, and begins to close its record.
func (e *endings) add(sess *recording, sources []*source) error {
	if err := sess.stop(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- sess.closeWriter() }() // wait waits for it
	e.list = append(e.list, ending{sess, sources, done})
	return e.wait(together)
}

// wait waits until no more than so many are on their way, and lets go of what was
// held for those that are done: only what is durable goes into the index.
func (e *endings) wait(most int) (err error) {
	for len(e.list) > most {
		end := e.list[0]
		e.list = e.list[1:]
		if failed := <-end.done; failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		for _, s := range end.sources {
			if e.c.index.keep(s) {
				s.letGo()
			}
		}
		if end.sources != nil {
			end.sess.letGo()
		}
	}
	return err
}
