package engine

import (
	"context"
	"sync"
)

// live is an interaction that was asked for in this process.
type live struct {
	id, flow string
	parent   string // set for a background child
	resumed  bool   // some of it may be in the database already

	ctx    context.Context // ends when the interaction is cut
	cancel context.CancelCauseFunc
	// stopped is closed when the interaction has ended, or was cut and none of
	// its steps is running any more.
	stopped chan struct{}
	// returned is closed when the flow's function has returned in order.
	returned chan struct{}

	mu       sync.Mutex
	active   int // running steps
	cutErr   error
	sealed   bool // the outcome is decided: too late to cut
	isOver   bool // stopped is closed
	reported bool // by Drain
	err      error
	original error // what the flow returned, with its type
	result   outcome
}

func newLive(id, flow, parent string) *live {
	l := &live{id: id, flow: flow, parent: parent,
		stopped: make(chan struct{}), returned: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// enter begins a step; it is false once the interaction was cut.
func (l *live) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cutErr != nil {
		return false
	}
	l.active++
	return true
}

func (l *live) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
	l.settle()
}

// cut stops the interaction where it stands. The first reason counts.
func (l *live) cut(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cutErr != nil || l.sealed {
		return
	}
	l.cutErr = reason
	l.cancel(reason)
	l.settle()
}

func (l *live) settle() {
	if l.cutErr != nil && l.active == 0 {
		l.over()
	}
}

func (l *live) over() {
	if !l.isOver {
		l.isOver = true
		close(l.stopped)
	}
}

// seal decides that the flow has ended with err; it is false when it was cut.
func (l *live) seal(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cutErr != nil {
		return false
	}
	l.sealed, l.original = true, err
	close(l.returned)
	return true
}

// finish notes the recorded outcome. An error means that there is none.
func (l *live) finish(o outcome, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result, l.err = o, err
	if err != nil && l.cutErr == nil {
		l.cutErr = err
	}
	l.cancel(context.Canceled)
	l.over()
}

func (l *live) cutReason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cutErr
}

// parked says whether the interaction was cut and waits for its session's end.
func (l *live) parked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cutErr != nil && l.isOver
}

// unreported is why a background child was cut, the first time it is asked.
func (l *live) unreported() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.parent == "" || l.reported {
		return nil
	}
	l.reported = true
	return l.cutErr
}
