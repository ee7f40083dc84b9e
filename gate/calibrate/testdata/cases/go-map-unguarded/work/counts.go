// Package counts counts events by their names.
package counts

import "sync"

// Counts are numbers by name.
type Counts struct {
	mu sync.Mutex
	of map[string]int
}

// New returns counts that are all zero.
func New() *Counts { return &Counts{of: map[string]int{}} }

// Add counts n more events of a name.
func (c *Counts) Add(name string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[name] += n
}

// Total is the number of all events.
func (c *Counts) Total() int {
	sum := 0
	for _, n := range c.of {
		sum += n
	}
	return sum
}
