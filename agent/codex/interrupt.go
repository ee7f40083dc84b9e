package codex

// checkTurns interrupts the turn when the model is about to be asked once too
// often: the last response called a tool, or the next one has begun. A call
// that no message shows (of a tool that does not exist) is noticed only by the
// latter.
func (t *turn) checkTurns(more bool) {
	limit := t.s.spec.Limits.Turns
	t.mu.Lock()
	reached := limit > 0 && t.responses >= limit && more
	t.mu.Unlock()
	if reached {
		t.Cut("turn limit", nil)
	}
}

// named sets the program's name for the turn, and sends an interruption that
// came before it was known.
func (t *turn) named(id string) {
	t.mu.Lock()
	if t.id == "" {
		t.id = id
	}
	t.mu.Unlock()
	if t.Why() != "" && !t.Over() {
		t.ask()
	}
}

// ask tells the program to stop the turn, those of the threads that it
// started, and the commands that they left running. It does so once, and not
// before the turn has a name.
func (t *turn) ask() {
	t.mu.Lock()
	id := t.id
	if t.asked || id == "" {
		t.mu.Unlock()
		return
	}
	t.asked = true
	t.mu.Unlock()
	s := t.s
	s.mu.Lock()
	running := map[string]string{t.thread: id}
	for thread, turn := range s.active {
		if thread != t.thread {
			running[thread] = turn
		}
	}
	s.mu.Unlock()
	// Its answer says nothing that the end of the turn does not; an error of
	// the pipe ends the session by itself.
	s.conn.Go(func() {
		ctx := s.conn.Context()
		for thread, turn := range running {
			_, _ = s.conn.Call(ctx, "turn/interrupt", map[string]string{"threadId": thread, "turnId": turn})
			_, _ = s.conn.Call(ctx, "thread/backgroundTerminals/clean", map[string]string{"threadId": thread})
		}
	})
}
