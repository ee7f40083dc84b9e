// Package hits counts visits of a page.
package hits

import "sync"

// Counter counts, safely for use by several goroutines.
type Counter struct {
	mu sync.Mutex
	n  int
}

// Hit counts one visit.
func (c Counter) Hit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

// Count is how many visits there were.
func (c *Counter) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
