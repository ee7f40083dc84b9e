package codex

import (
	"context"
	"fmt"
	"time"
)

// watch interrupts the turn when its time is over or nobody wants it.
func (t *turn) watch(ctx context.Context, wall time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.timers = append(t.timers, context.AfterFunc(ctx, func() { t.interrupt("interrupted", ctx.Err()) }))
	if wall > 0 {
		t.timers = append(t.timers, time.AfterFunc(wall, func() { t.interrupt("time limit", nil) }).Stop)
	}
}

// checkTurns interrupts the turn when the model is about to be asked once too
// often: the last response called a tool, or the next one has begun. A call
// that no message shows (of a tool that does not exist) is noticed only by the
// latter.
func (t *turn) checkTurns(more bool) {
	limit := t.s.spec.Limits.Turns
	t.mu.Lock()
	reached := limit > 0 && t.responses >= limit && more && !t.over
	t.mu.Unlock()
	if reached {
		t.interrupt("turn limit", nil)
	}
}

// named sets the program's name for the turn, and sends an interruption that
// came before it was known.
func (t *turn) named(id string) {
	t.mu.Lock()
	if t.id == "" {
		t.id = id
	}
	pending := t.why != "" && !t.asked && !t.over
	t.mu.Unlock()
	if pending {
		t.ask()
	}
}

// Interrupt asks the turn to stop.
func (t *turn) Interrupt(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.interrupt("interrupted", nil)
	return nil
}

// grace is how long the program may take to stop a turn before it is killed.
const grace = 15 * time.Second

func (t *turn) interrupt(why string, cause error) {
	t.mu.Lock()
	if t.over || t.why != "" {
		t.mu.Unlock()
		return
	}
	t.why, t.cause = why, cause
	known := t.id != ""
	t.timers = append(t.timers, time.AfterFunc(grace, func() {
		_ = t.s.fail(fmt.Errorf("codex did not stop its turn within %v and was killed", grace))
	}).Stop)
	t.mu.Unlock()
	if known {
		t.ask()
	}
}

// ask tells the program to stop the turn, those of the threads that it
// started, and the commands that they left running.
func (t *turn) ask() {
	t.mu.Lock()
	if t.asked {
		t.mu.Unlock()
		return
	}
	t.asked = true
	id := t.id
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
	s.work.Go(func() {
		for thread, turn := range running {
			_, _ = s.call(s.ctx, "turn/interrupt", map[string]string{"threadId": thread, "turnId": turn})
			_, _ = s.call(s.ctx, "thread/backgroundTerminals/clean", map[string]string{"threadId": thread})
		}
	})
}
