package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"conclave/engine"
	"conclave/internal/lockfile"
	"conclave/internal/screen"
	"conclave/internal/wire"
)

// A verb that needs what another process of the person holds is run there: the
// holder listens beside its lock (internal/wire), is sent the name of the method
// with its arguments, and calls it on an App whose Show and Person are the
// connection. What it shows, asks and returns comes back as data.

// What is said on the wire. The one who came says:
const (
	sayCall   = "call"   // a call; the first message, and the only one of its kind
	sayAnswer = "answer" // to the question of that number
	sayLeave  = "leave"  // they have had enough
)

// And the one who holds it:
const (
	sayEvent    = "event"    // an Event
	sayQuestion = "question" // a Question
	sayWithdraw = "withdraw" // the question of that number need not be answered; an answer is still awaited
	sayBegun    = "begun"    // the verb has begun to change something
	saySeen     = "seen"     // how much of the newest cycle was shown
	sayResult   = "result"   // the end
	sayOver     = "over"     // the end: the holder ends, and did not do it
)

// call is a verb as it is sent to who holds what it needs.
type call struct {
	Verb   string            `json:"verb"` // a method of App
	Args   []json.RawMessage `json:"args"` // after the context
	Dir    string            `json:"dir"`  // where the person is
	Person bool              `json:"person"`
	Seen   seen              `json:"seen"`
}

// wireEvent is an event with the name of its type.
type wireEvent struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// wireQuestion is a Question without what cannot be sent.
type wireQuestion struct {
	Question engine.Question `json:"question"`
	Way      Way             `json:"way"`
}

// wireAnswer is what was typed, or why nothing was.
type wireAnswer struct {
	Text string `json:"text"`
	None string `json:"none,omitempty"` // the input has ended, or the question was withdrawn
}

const (
	noneEnd       = "end"
	noneWithdrawn = "withdrawn"
)

// wireResult is what a verb returns.
type wireResult struct {
	Results []json.RawMessage `json:"results"` // without the error
	Error   *wireError        `json:"error,omitempty"`
}

// wireError is an error with its kind, and its own words told from foreign ones.
type wireError struct {
	Kind  Kind        `json:"kind"`
	Said  bool        `json:"said,omitempty"`
	Words string      `json:"words"`
	Text  screen.Text `json:"text"`
}

func toWire(err error) *wireError {
	if err == nil {
		return nil
	}
	return &wireError{KindOf(err), Said(err), err.Error(), screen.Sprintf("%v", err)}
}

func (e *wireError) error() error {
	switch {
	case e == nil:
		return nil
	case e.Said:
		return &Error{Kind: e.Kind}
	}
	return &Error{e.Kind, errors.New(e.Words), e.Text}
}

// carried are the events that a verb may show on the wire.
var carried = typesByName(Warning{}, Aside{}, Note{}, Remark{}, Passage{}, ClearScreen{}, Progress{})

func typesByName(events ...Event) map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, e := range events {
		t := reflect.TypeOf(e)
		m[t.Name()] = t
	}
	return m
}

func (w wireEvent) event() (Event, error) {
	t, ok := carried[w.Type]
	if !ok {
		return nil, fmt.Errorf("an event %q is not known", w.Type)
	}
	v := reflect.New(t)
	if err := json.Unmarshal(w.Data, v.Interface()); err != nil {
		return nil, fmt.Errorf("event %s: %w", w.Type, err)
	}
	return v.Elem().Interface().(Event), nil
}

// verb is a call of a method of App, for whoever holds what it needs: its
// arguments, and where its results go, but for the error.
type verb struct {
	method  string
	args    []any
	results []any
	repeats bool // it can be begun again wherever it was cut
	screen  *tableScreen
}

// errOver: the process that was asked ends, and has not done it.
var errOver = errors.New("the process that held it has ended")

// holderGrace is how long a holder may take to listen, or to be gone.
const holderGrace = 2 * time.Second

// reach runs a verb here, or where the lock is held that it needs. wait says that
// the person would rather wait for the lock.
func (a *App) reach(ctx context.Context, socket string, v verb, here func() error) error {
	var since time.Time
	for {
		err := here()
		if held := (*lockfile.HeldError)(nil); !errors.As(err, &held) || a.at != nil {
			return err
		}
		conn, away := wire.Dial(socket, a.program())
		switch {
		case away == nil:
			since = time.Time{}
			if err := a.runThere(ctx, conn, v); !errors.Is(err, errOver) {
				return err
			}
			a.tookOver(v)
			continue
		case errors.Is(away, errors.ErrUnsupported):
			return environmentError("%w\non this system a second terminal cannot join: nothing tells who asks", err)
		case !errors.Is(away, wire.ErrNobody) && !errors.Is(away, io.EOF):
			return environmentError("%w\nit cannot be reached: %w", err, away)
		}
		// It has only just come, or just gone; or it is one that does not listen.
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) > holderGrace {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func (a *App) tookOver(v verb) {
	if v.screen != nil {
		a.aside("%s", "Who held the table has left it; it goes on in this terminal.")
	}
}

// program is what both ends must be.
func (a *App) program() string { return "conclave " + a.Version }

// runThere has a verb run by the process at the other end.
func (a *App) runThere(ctx context.Context, conn *wire.Conn, v verb) error {
	defer conn.Close()
	c := call{Verb: v.method, Dir: a.Dir, Person: a.Person != nil}
	if v.screen != nil {
		c.Seen = v.screen.state()
	}
	for _, arg := range v.args {
		raw, err := json.Marshal(arg)
		if err != nil {
			return environmentError("%w", err)
		}
		c.Args = append(c.Args, raw)
	}
	if err := conn.Send(sayCall, 0, c); err != nil {
		return errOver
	}
	r := &remoteRun{app: a, conn: conn, verb: v, questions: make(chan wire.Message, 16)}
	return r.run(ctx)
}

// remoteRun is a verb of ours that runs elsewhere.
type remoteRun struct {
	app       *App
	conn      *wire.Conn
	verb      verb
	begun     bool
	questions chan wire.Message // and what is withdrawn
}

func (r *remoteRun) run(ctx context.Context) error {
	asking, stop := context.WithCancel(ctx)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.answer(asking)
	}()
	received := make(chan wire.Message)
	lost := make(chan error, 1)
	go func() {
		for {
			m, err := r.conn.Receive()
			if err != nil {
				lost <- err
				return
			}
			select {
			case received <- m:
			case <-answered:
				return
			}
		}
	}()
	defer func() { stop(); r.conn.Close(); <-answered }()
	left, patience := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case m := <-received:
			if done, err := r.hear(m); done {
				if ctx.Err() != nil && (err == nil || errors.Is(err, errOver)) {
					err = interruptedThere()
				}
				return err
			}
		case <-lost:
			return r.lostIt(ctx)
		case <-left:
			_ = r.conn.Send(sayLeave, 0, nil) // gone is gone, too
			left, patience = nil, time.After(holderGrace)
		case <-patience:
			return interruptedThere()
		}
	}
}

func interruptedThere() error {
	return environmentError("interrupted: this terminal has left, and what runs in the other one goes on")
}

// lostIt: the other process is gone without a word.
func (r *remoteRun) lostIt(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return interruptedThere()
	case r.begun && !r.verb.repeats:
		return environmentError("the process that did this for you was killed while it did: " +
			"look whether it was done (conclave table status, conclave quest status)")
	}
	return errOver
}

func (r *remoteRun) hear(m wire.Message) (done bool, err error) {
	switch m.Kind {
	case sayEvent:
		var w wireEvent
		if err := json.Unmarshal(m.Body, &w); err != nil {
			return true, environmentError("%w", err)
		}
		e, err := w.event()
		if err != nil {
			return true, environmentError("%w", err)
		}
		r.app.show(e)
	case saySeen:
		var s seen
		if json.Unmarshal(m.Body, &s) == nil && r.verb.screen != nil {
			r.verb.screen.resume(s)
		}
	case sayQuestion, sayWithdraw:
		r.questions <- m
	case sayBegun:
		r.begun = true
	case sayOver:
		return true, errOver
	case sayResult:
		return true, r.result(m.Body)
	}
	return false, nil
}

func (r *remoteRun) result(body json.RawMessage) error {
	var w wireResult
	if err := json.Unmarshal(body, &w); err != nil {
		return environmentError("%w", err)
	}
	for i, to := range r.verb.results {
		if i >= len(w.Results) {
			break
		}
		if err := json.Unmarshal(w.Results[i], to); err != nil {
			return environmentError("%w", err)
		}
	}
	return w.Error.error()
}

// answer puts the questions to the person, one after the other.
func (r *remoteRun) answer(ctx context.Context) {
	for {
		select {
		case m := <-r.questions:
			if m.Kind == sayQuestion {
				r.answerOne(ctx, m)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (r *remoteRun) answerOne(ctx context.Context, m wire.Message) {
	var w wireQuestion
	reply := wireAnswer{None: noneEnd}
	if err := json.Unmarshal(m.Body, &w); err == nil && r.app.Person != nil {
		reply = r.ask(ctx, m.ID, w)
	}
	_ = r.conn.Send(sayAnswer, m.ID, reply) // who reads the connection learns that it is gone
}

// ask asks until there is an answer or the question is withdrawn.
func (r *remoteRun) ask(ctx context.Context, id int, w wireQuestion) wireAnswer {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan wireAnswer, 1)
	go func() {
		text, err := r.app.Person.Ask(asking, Question{Question: w.Question, Way: w.Way})
		switch {
		case err == nil:
			done <- wireAnswer{Text: text}
		case errors.Is(err, io.EOF):
			done <- wireAnswer{None: noneEnd}
		default:
			done <- wireAnswer{None: noneWithdrawn}
		}
	}()
	for {
		select {
		case reply := <-done:
			return reply
		case m := <-r.questions:
			if m.Kind == sayWithdraw && m.ID == id {
				cancel()
			}
		}
	}
}
