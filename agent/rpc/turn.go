package rpc

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"conclave/agent"
)

// Turn is the answer to one message. It implements agent.Turn and
// agent.Interrupter; everything else is for the driver.
type Turn struct {
	conn *Conn
	ask  func() // tells the program to stop the turn; must not wait

	mu     sync.Mutex
	change *sync.Cond
	queue  []agent.Event
	over   bool
	err    error // what Next returns in place of io.EOF
	reply  agent.Reply
	texts  []string
	why    string // it was asked to stop, for this reason
	cause  error  // of a cancelled context
	timers []func() bool
}

// Turn begins a turn, and records what happened before the first one. ask tells
// the program to stop the turn. A driver that has more to remember of a turn is
// given it by claimed, before anything of it is recorded; nil is for one that has
// not.
func (c *Conn) Turn(ctx context.Context, ask func(), claimed func(*Turn)) (*Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("send to %s: %w", c.name, err)
	}
	t, err := c.claim(ask)
	if err != nil {
		return nil, err
	}
	if claimed != nil {
		claimed(t)
	}
	if err := c.begin(); err != nil {
		return nil, fmt.Errorf("send to %s: %w", c.name, err)
	}
	return t, nil
}

// claim makes a turn the session's running one.
func (c *Conn) claim(ask func()) (*Turn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return nil, fmt.Errorf("send to %s: %w", c.name, c.err)
	case c.ctx.Err() != nil:
		return nil, agent.ErrStopped
	case c.turn != nil && !c.turn.Over():
		return nil, agent.ErrBusy
	}
	t := &Turn{conn: c, ask: ask}
	t.change = sync.NewCond(&t.mu)
	c.turn = t
	return t, nil
}

// Running is the turn that is under way, nil when none is.
func (c *Conn) Running() *Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn == nil || c.turn.Over() {
		return nil
	}
	return c.turn
}

// Watch interrupts the turn when its time is over or nobody wants it.
func (t *Turn) Watch(ctx context.Context, wall time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.timers = append(t.timers, context.AfterFunc(ctx, func() { t.Cut("interrupted", ctx.Err()) }))
	if wall > 0 {
		t.timers = append(t.timers, time.AfterFunc(wall, func() { t.Cut("time limit", nil) }).Stop)
	}
}

// Interrupt implements agent.Interrupter.
func (t *Turn) Interrupt(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.Cut("interrupted", nil)
	return nil
}

// grace is how long the program may take to stop a turn before it is killed.
const grace = 15 * time.Second

// Cut asks the program once to stop the turn, and kills it when it does not. The
// turn then ends with that reason, or with the cause.
func (t *Turn) Cut(why string, cause error) {
	t.mu.Lock()
	if t.over || t.why != "" {
		t.mu.Unlock()
		return
	}
	t.why, t.cause = why, cause
	t.timers = append(t.timers, time.AfterFunc(grace, func() {
		_ = t.conn.Fail(fmt.Errorf("%s did not stop its turn within %v and was killed", t.conn.name, grace))
	}).Stop)
	t.mu.Unlock()
	t.ask()
}

// Why says why the turn was asked to stop, "" when it was not.
func (t *Turn) Why() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}

// Next implements agent.Turn.
func (t *Turn) Next() (agent.Event, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 && !t.over {
		t.change.Wait()
	}
	if len(t.queue) > 0 {
		e := t.queue[0]
		t.queue = t.queue[1:]
		return e, nil
	}
	if t.err != nil {
		return agent.Event{}, t.err
	}
	return agent.Event{}, io.EOF
}

// Reply implements agent.Turn.
func (t *Turn) Reply() agent.Reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reply
}

// Over says that the turn has ended.
func (t *Turn) Over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// Push shows an event.
func (t *Turn) Push(e agent.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.queue = append(t.queue, e)
		t.change.Signal()
	}
}

// Says adds a block to the answer.
func (t *Turn) Says(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.texts = append(t.texts, text)
}

// Uses adds the call of a tool.
func (t *Turn) Uses(tool string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reply.Uses = append(t.reply.Uses, agent.ToolUse{Name: tool, Said: len(strings.Join(t.texts, "\n\n"))})
}

// Change changes the reply.
func (t *Turn) Change(f func(*agent.Reply)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.reply)
}

// Texts are the blocks of the answer so far.
func (t *Turn) Texts() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.texts[:len(t.texts):len(t.texts)]
}

// Forget takes the blocks of the answer back: the agent is asked for them again.
func (t *Turn) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.texts = nil
}

// End ends the turn early.
func (t *Turn) End(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finish(err)
}

// Finish ends the turn as the program says it ended: cut short if stopped. One
// that was cancelled ends with the cause in any case.
func (t *Turn) Finish(stopped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stopped {
		if t.reply.Stopped = t.why; t.why == "" {
			t.reply.Stopped = "interrupted" // of its own accord
		}
	}
	if t.cause != nil {
		t.finish(fmt.Errorf("%s turn: %w", t.conn.name, t.cause))
		return
	}
	t.finish(nil)
}

// finish is called with mu held.
func (t *Turn) finish(err error) {
	if t.over {
		return
	}
	t.over, t.err = true, err
	for _, stop := range t.timers {
		stop()
	}
	t.reply.Text = strings.Join(t.texts, "\n\n")
	t.change.Broadcast()
}
