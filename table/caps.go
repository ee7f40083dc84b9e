package table

import (
	"fmt"
	"time"
)

// Caps are the limits of a table. A zero field takes its default.
type Caps struct {
	Prompt         int64 // bytes
	Response       int64
	QuickSoft      int // characters of a QUICK_REACTION before it is noted as long
	Notes          int64
	GMContext      int64
	Narrative      int64
	Sheet          int64
	PartyKnowledge int64 // also the world primer
	JournalContext int64 // of a journal, into a player's context; the file has no limit
	Party          int
	Parallel       int
	PlayerTimeout  time.Duration
	GMTimeout      time.Duration
	JournalTimeout time.Duration
	Retries        int
	Repairs        int // of a malformed prompt, per character and cycle
	SubCycles      int
	Calls          int // of players, per human turn
}

// WithDefaults fills the zero fields.
func (c Caps) WithDefaults() Caps {
	const kib = 1 << 10
	set(&c.Prompt, 64*kib)
	set(&c.Response, 64*kib)
	set(&c.QuickSoft, 600)
	set(&c.Notes, 32*kib)
	set(&c.GMContext, 16*kib)
	set(&c.Narrative, 256*kib)
	set(&c.Sheet, 256*kib)
	set(&c.PartyKnowledge, 512*kib)
	set(&c.JournalContext, 48*kib)
	set(&c.Party, 12)
	set(&c.Parallel, 8)
	set(&c.PlayerTimeout, 180*time.Second)
	set(&c.GMTimeout, 300*time.Second)
	set(&c.JournalTimeout, 120*time.Second)
	set(&c.Retries, 1)
	set(&c.Repairs, 2)
	set(&c.SubCycles, 8)
	set(&c.Calls, 24)
	return c
}

func set[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// CapError says that a text is larger than its cap. Nothing is ever cut to fit.
type CapError struct {
	What        string
	Size, Limit int64
}

func (e *CapError) Error() string {
	return fmt.Sprintf("%s: %d bytes, limit %d", e.What, e.Size, e.Limit)
}
