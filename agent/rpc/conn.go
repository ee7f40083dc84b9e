// Package rpc has the mechanics of agents that are programs which speak JSON-RPC
// over their pipes: what crosses is recorded, calls find their answers, turns are
// pulled, and nothing that was started is left.
//
// A driver gives what its program's lines mean (Heard, Said), what it does with a
// message that is on the record (Handle), and the words of its protocol; this
// package knows no protocol. One goroutine reads what the program writes, records
// it and hands it on; it ends when the program does. What a driver answers it
// works out in goroutines of its own (Conn.Go), so that nobody's slowness stops
// the record.
//
// It promises that a line is on the record before it is sent or acted upon, that
// a record which refuses ends the session, that the last words of a program that
// died are in the error, and that Stop returns when nothing is left. It starts no
// program and stores nothing.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"conclave/agent"
	"conclave/internal/jsonrpc"
	"conclave/transcript"
)

// Driver is what a connection asks of whoever drives the program. Its methods
// but Handle are called with the record held, one at a time.
type Driver interface {
	// Heard and Said are what a line means that the program wrote, or was sent.
	Heard(line []byte) []transcript.Item
	Said(line []byte) []transcript.Item
	// Rest is what was held back for a line that did not come.
	Rest() []transcript.Item
	// Entry is told what was recorded.
	Entry(e transcript.Entry)
	// Handle acts on a request or a notification that is on the record. It must
	// not wait.
	Handle(m jsonrpc.Message)
}

// Conn is a program at the other end of two pipes.
type Conn struct {
	name   string
	driver Driver
	spec   agent.Spec
	proc   agent.Process
	out    *jsonrpc.Writer
	line   func([]byte) []byte

	ctx    context.Context // ends with the session
	cancel context.CancelFunc
	work   sync.WaitGroup
	calls  jsonrpc.Calls

	rec   sync.Mutex // held while a line is mapped and recorded
	begun bool
	early []transcript.Item // of the time before the first message

	mu      sync.Mutex
	turn    *Turn
	err     error  // why the session is of no further use
	stderr  []byte // its last bytes, for messages
	readEnd chan struct{}
	errEnd  chan struct{}
	stopped sync.Once
	stopErr error
}

// Open reads what the program writes from now on. name is the program's in
// messages and channels. Each line that is sent passes through line first, unless
// that is nil: it gives the built line the form that the program wants.
func Open(name string, d Driver, spec agent.Spec, p agent.Process, line func([]byte) []byte) *Conn {
	c := &Conn{name: name, driver: d, spec: spec, proc: p, out: jsonrpc.NewWriter(p.Stdin()), line: line,
		readEnd: make(chan struct{}), errEnd: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.work.Go(c.readErrors)
	go c.read() // Stop waits for readEnd
	return c
}

// Context ends with the session.
func (c *Conn) Context() context.Context { return c.ctx }

// Go runs work that Stop waits for.
func (c *Conn) Go(work func()) { c.work.Go(work) }

// answerTime bounds how long the program may take to acknowledge a request.
const answerTime = 60 * time.Second

// Call sends a request and waits for its answer. Secrets in it are withheld from
// the record.
func (c *Conn) Call(ctx context.Context, method string, params any, secrets ...string) (jsonrpc.Message, error) {
	answer, err := c.Begin(method, params, secrets...)
	if err != nil {
		return jsonrpc.Message{}, err
	}
	timer := time.NewTimer(answerTime)
	defer timer.Stop()
	select {
	case m, ok := <-answer:
		return c.answered(method, m, ok)
	case <-ctx.Done():
		if c.ctx.Err() != nil {
			return jsonrpc.Message{}, c.Ended()
		}
		return jsonrpc.Message{}, fmt.Errorf("%s: %w", method, ctx.Err())
	case <-timer.C:
		return jsonrpc.Message{}, fmt.Errorf("%s: no answer within %v%s", method, answerTime, c.lastSaid())
	}
}

// Begin sends a request; the channel gives its answer, or is closed without one.
func (c *Conn) Begin(method string, params any, secrets ...string) (<-chan jsonrpc.Message, error) {
	id, answer := c.calls.Begin()
	line, err := jsonrpc.NewRequest(id, method, params)
	if err != nil {
		return nil, err
	}
	return answer, c.Send(line, secrets...)
}

// Await waits for the answer to a request as long as the session lasts.
func (c *Conn) Await(method string, answer <-chan jsonrpc.Message) (jsonrpc.Message, error) {
	m, ok := <-answer
	return c.answered(method, m, ok)
}

func (c *Conn) answered(method string, m jsonrpc.Message, ok bool) (jsonrpc.Message, error) {
	if !ok {
		return m, c.Ended()
	}
	if err := m.Err(); err != nil {
		return m, fmt.Errorf("%s: %w", method, err)
	}
	return m, nil
}

// withheld stands on the record where a secret went to the program.
const withheld = "[withheld]"

// Send records a line, without the secrets in it, and then writes it.
func (c *Conn) Send(line []byte, secrets ...string) error {
	if c.line != nil {
		line = c.line(line)
	}
	shown := string(line)
	for _, s := range secrets {
		if s != "" {
			shown = strings.ReplaceAll(shown, s, withheld)
		}
	}
	if err := c.record("stdin", []byte(shown), c.driver.Said); err != nil {
		return err
	}
	if err := c.out.WriteLine(line); err != nil {
		// A pipe breaks because the program is going: let it say why.
		within(lastWords, c.readEnd)
		return fmt.Errorf("write to %s: %w", c.name, c.Ended())
	}
	return nil
}

// lastWords is how long the last words of a dying program are waited for.
const lastWords = 2 * time.Second

func within(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// read hands on what the program writes, until it ends.
func (c *Conn) read() {
	defer close(c.readEnd)
	lines := jsonrpc.NewReader(c.proc.Stdout())
	for {
		line, err := lines.Next()
		if err != nil {
			c.programEnded()
			return
		}
		if c.record("stdout", line, c.driver.Heard) != nil {
			continue
		}
		m, err := jsonrpc.Parse(line)
		switch {
		case err != nil: // it is on the record as what it is
		case m.Kind == jsonrpc.Response:
			c.calls.Settle(m)
		default:
			c.driver.Handle(m)
		}
	}
}

// programEnded records what was left unfinished and ends the turn.
func (c *Conn) programEnded() {
	c.Late(c.driver.Rest)
	within(lastWords, c.errEnd)
	within(lastWords, c.proc.Done())
	said := c.lastSaid()
	c.mu.Lock()
	if c.err == nil {
		c.err = agent.ErrStopped
		if c.ctx.Err() == nil {
			if end := c.proc.Err(); end != nil {
				c.err = fmt.Errorf("%w: the program ended: %w", agent.ErrStopped, end)
			}
			c.err = fmt.Errorf("%w%s", c.err, said)
		}
	}
	err, t := c.err, c.turn
	c.mu.Unlock()
	c.calls.Close(err)
	if t != nil {
		t.End(err)
	}
}

// lastSaid is what the program last wrote to stderr, for an error.
func (c *Conn) lastSaid() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if tail := strings.TrimSpace(string(c.stderr)); tail != "" {
		return "; " + c.name + " said last: " + tail
	}
	return ""
}

// readErrors keeps what the program writes to stderr.
func (c *Conn) readErrors() {
	defer close(c.errEnd)
	lines := jsonrpc.NewReader(c.proc.Stderr())
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		if c.spec.Blobs != nil {
			c.rec.Lock()
			err = c.spec.Blobs.AppendBlob(c.name+".stderr", append(line, '\n'))
			c.rec.Unlock()
			if err != nil {
				_ = c.Fail(fmt.Errorf("record what %s complained of: %w", c.name, err))
			}
		}
		if len(strings.TrimSpace(string(line))) == 0 {
			continue
		}
		c.mu.Lock()
		c.stderr = append(c.stderr[:0], line[:min(len(line), 500)]...)
		c.mu.Unlock()
	}
}

// record keeps a line, maps it and records what it means. An error is the end
// of the session: what cannot be recorded does not happen.
func (c *Conn) record(channel string, line []byte, mapLine func([]byte) []transcript.Item) error {
	c.rec.Lock()
	defer c.rec.Unlock()
	if c.spec.Blobs != nil {
		if err := c.spec.Blobs.AppendBlob(c.name+"."+channel, append(line[:len(line):len(line)], '\n')); err != nil {
			return c.Fail(fmt.Errorf("record what %s and we said: %w", c.name, err))
		}
	}
	return c.emit(mapLine(line))
}

// emit is called with rec held.
func (c *Conn) emit(items []transcript.Item) error {
	if !c.begun {
		c.early = append(c.early, items...)
		return nil
	}
	for _, item := range items {
		entry, err := c.spec.Emitter.Emit(item)
		if err != nil {
			return c.Fail(err)
		}
		c.driver.Entry(entry)
	}
	return nil
}

// Late records what f gives, which is of no line: of one that came earlier and was
// held back.
func (c *Conn) Late(f func() []transcript.Item) {
	c.rec.Lock()
	defer c.rec.Unlock()
	if !c.broken() {
		_ = c.emit(f()) // an error is kept by Fail
	}
}

// Record lets f look at what the driver's mapping knows, between two lines.
func (c *Conn) Record(f func()) {
	c.rec.Lock()
	defer c.rec.Unlock()
	f()
}

// begin records what happened before the first message: a message that cannot
// be recorded fails, not the start before it.
func (c *Conn) begin() error {
	c.rec.Lock()
	defer c.rec.Unlock()
	c.begun = true
	early := c.early
	c.early = nil
	return c.emit(early)
}

// Fail ends the session because of err: the program is killed, and what waits
// for it is told. It returns err.
func (c *Conn) Fail(err error) error {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = err
	}
	t := c.turn
	c.mu.Unlock()
	if t != nil {
		t.End(err)
	}
	if first {
		c.cancel()
		c.work.Go(func() { _ = c.proc.Stop(c.ctx) }) // c.ctx has ended: kill; Stop reports what is left
	}
	return err
}

func (c *Conn) broken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

// Ended says why the session is of no further use.
func (c *Conn) Ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return agent.ErrStopped
}

// Stop ends the program and everything it started, and completes the record.
// It is idempotent.
func (c *Conn) Stop(ctx context.Context) error {
	c.stopped.Do(func() {
		c.cancel()
		if c.stopErr = c.proc.Stop(ctx); c.stopErr != nil {
			within(lastWords, c.readEnd) // what is left may hold the pipes
			return
		}
		<-c.readEnd
		c.work.Wait()
		if errors.Is(c.Ended(), agent.ErrStopped) {
			c.stopErr = c.begin()
		} // else whoever sent the message was told
	})
	return c.stopErr
}
