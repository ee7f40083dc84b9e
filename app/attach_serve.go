package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"conclave/internal/wire"
)

// attached is a verb that runs here for a terminal elsewhere. It is that App's
// Show and Person.
type attached struct {
	conn *wire.Conn
	gone context.Context // ends when they leave, or the connection is lost
	end  context.CancelFunc

	mu      sync.Mutex
	last    int
	waiting map[int]chan wireAnswer
}

// server runs verbs for whoever comes to a socket.
type server struct {
	app      *App // of this process
	root     string
	listener *wire.Listener
	// admit refuses a call that is not for what is held here, and readies the App
	// that it runs on.
	admit func(a *App, args []reflect.Value) error

	ctx   context.Context
	end   context.CancelFunc
	serve sync.WaitGroup
}

// listenAt begins to take calls. Where that cannot be, nobody can come, and that
// is said if there is something to be done about it.
func (a *App) listenAt(
	ctx context.Context, socket, root string, admit func(*App, []reflect.Value) error,
) *server {
	l, err := wire.Listen(socket, a.program())
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			a.tell(fmt.Sprintf("no second terminal can join: %v", err))
		}
		return nil
	}
	s := &server{app: a, root: root, listener: l, admit: admit}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.serve.Go(s.accept)
	return s
}

func (s *server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.serve.Go(func() { s.talk(conn) })
	}
}

// stop takes no more calls; what runs goes on.
func (s *server) stop() {
	if s != nil {
		_ = s.listener.Close() // what is left there is replaced by the next
	}
}

// close waits until everybody was told, or has gone.
func (s *server) close() {
	if s != nil {
		s.stop()
		stop := time.AfterFunc(holderGrace, s.end) // who does not listen is not waited for
		s.serve.Wait()
		stop.Stop()
		s.end()
	}
}

// talk runs the verb of one connection.
func (s *server) talk(conn *wire.Conn) {
	defer conn.Close()
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	if err := s.listener.Greet(conn); err != nil {
		return // they know why, or are none of us
	}
	first, err := conn.Receive()
	var c call
	if err != nil || first.Kind != sayCall || json.Unmarshal(first.Body, &c) != nil {
		return
	}
	t := &attached{conn: conn, waiting: map[int]chan wireAnswer{}}
	t.gone, t.end = context.WithCancel(s.ctx)
	defer t.end()
	go t.listen()
	results, err := s.run(t, c)
	if errors.Is(err, errOver) {
		_ = conn.Send(sayOver, 0, nil)
		return
	}
	_ = conn.Send(sayResult, 0, wireResult{results, toWire(err)})
}

func (s *server) run(t *attached, c call) ([]json.RawMessage, error) {
	a := *s.app
	a.Show, a.Person, a.Dir, a.Root, a.Stdin = t.show, nil, c.Dir, s.root, strings.NewReader("")
	a.wire, a.seen, a.Literal = t, c.Seen, false // it is a command line
	if c.Person {
		a.Person = t
	}
	method, args, err := bind(t.gone, &a, c.Verb, c.Args)
	if err != nil {
		return nil, err
	}
	if !takesContext(method) {
		return nil, usageError("no verb is called %q", c.Verb)
	}
	if err := s.admit(&a, args); err != nil {
		return nil, err
	}
	return invoke(method, args)
}

// listen reads what the other terminal says until it is gone.
func (t *attached) listen() {
	defer t.end()
	for {
		m, err := t.conn.Receive()
		if err != nil || m.Kind == sayLeave {
			return
		}
		var answer wireAnswer
		if m.Kind != sayAnswer || json.Unmarshal(m.Body, &answer) != nil {
			continue
		}
		t.mu.Lock()
		to := t.waiting[m.ID]
		delete(t.waiting, m.ID)
		t.mu.Unlock()
		if to != nil {
			to <- answer
		}
	}
}

// send says something; who cannot be told is gone.
func (t *attached) send(kind string, id int, v any) {
	if t.conn.Send(kind, id, v) != nil {
		t.end()
	}
}

func (t *attached) show(e Event) {
	name := reflect.TypeOf(e).Name()
	if _, ok := carried[name]; !ok {
		return // no verb that runs for others shows it: TestEventsOnTheWire
	}
	data, err := json.Marshal(e)
	if err == nil {
		t.send(sayEvent, 0, wireEvent{name, data})
	}
}

// begun tells them that from here on it is done, or half done.
func (t *attached) begun() {
	if t != nil {
		t.send(sayBegun, 0, nil)
	}
}

// seen tells them how much of a cycle they were shown, for when they go on alone.
func (t *attached) seen(s seen) {
	if t != nil {
		t.send(saySeen, 0, s)
	}
}

// errGone: the terminal that is asked is not there any more.
var errGone = errors.New("the terminal has gone")

// Ask implements Person. What was typed before a question was withdrawn is
// returned although the context has ended: nobody's words are dropped.
func (t *attached) Ask(ctx context.Context, q Question) (string, error) {
	t.mu.Lock()
	t.last++
	id, answered := t.last, make(chan wireAnswer, 1)
	t.waiting[id] = answered
	t.mu.Unlock()
	t.send(sayQuestion, id, wireQuestion{q.Question, q.Way})
	ended := ctx.Done()
	for {
		select {
		case answer := <-answered:
			switch answer.None {
			case "":
				return answer.Text, nil
			case noneEnd:
				return "", io.EOF
			}
			if ctx.Err() == nil {
				return "", errGone // they were interrupted
			}
			return "", context.Cause(ctx)
		case <-ended:
			t.send(sayWithdraw, id, nil)
			ended = nil
		case <-t.gone.Done():
			return "", errGone
		}
	}
}
