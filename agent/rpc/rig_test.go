package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"conclave/agent"
	"conclave/internal/jsonrpc"
	"conclave/transcript"
)

// program is one in this process: a test reads what it is sent and says what it
// answers.
type program struct {
	in, out, errs    *io.PipeReader
	toIn, say, moans *io.PipeWriter
	lines            *jsonrpc.Reader
	done             chan struct{}
	once             sync.Once
	err              error
}

func newProgram() *program {
	p := &program{done: make(chan struct{})}
	p.in, p.toIn = io.Pipe()
	p.out, p.say = io.Pipe()
	p.errs, p.moans = io.Pipe()
	p.lines = jsonrpc.NewReader(p.in)
	return p
}

func (p *program) Stdin() io.WriteCloser { return p.toIn }
func (p *program) Stdout() io.Reader     { return p.out }
func (p *program) Stderr() io.Reader     { return p.errs }
func (p *program) PID() int              { return 1 }
func (p *program) Done() <-chan struct{} { return p.done }
func (p *program) Err() error            { return p.err }

func (p *program) Stop(context.Context) error {
	p.die(nil)
	return nil
}

// die ends the program, as a kill would.
func (p *program) die(err error) {
	p.once.Do(func() {
		p.err = err
		p.in.Close()
		p.say.Close()
		p.moans.Close()
		close(p.done)
	})
}

// says writes lines to the program's stdout.
func (p *program) says(t *testing.T, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.say, l+"\n"); err != nil {
			t.Errorf("say %.40q: %v", l, err)
		}
	}
}

// hears is the next message that the program is sent.
func (p *program) hears(t *testing.T) jsonrpc.Message {
	t.Helper()
	line, err := p.lines.Next()
	if err != nil {
		t.Errorf("the program hears nothing: %v", err)
		return jsonrpc.Message{}
	}
	m, err := jsonrpc.Parse(line)
	if err != nil {
		t.Errorf("the program hears %.80q: %v", line, err)
	}
	return m
}

// driver records each line as what it is, and what it was handed.
type driver struct {
	handle func(jsonrpc.Message)
	rest   []transcript.Item

	mu      sync.Mutex
	handled []string
	entries []transcript.Entry
}

func (d *driver) Heard(line []byte) []transcript.Item { return item("heard", line) }
func (d *driver) Said(line []byte) []transcript.Item  { return item("said", line) }
func (d *driver) Rest() []transcript.Item             { return d.rest }

func (d *driver) Entry(e transcript.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, e)
}

func (d *driver) Handle(m jsonrpc.Message) {
	d.mu.Lock()
	d.handled = append(d.handled, m.Kind.String()+" "+m.Method)
	d.mu.Unlock()
	if d.handle != nil {
		d.handle(m)
	}
}

func item(who string, line []byte) []transcript.Item {
	detail, _ := json.Marshal(map[string]string{who: string(line)})
	return []transcript.Item{{Type: transcript.SystemEvent, Detail: detail}}
}

// rig is a connection to a program, with its record.
type rig struct {
	*Conn
	program *program
	driver  *driver
	store   *store
}

// talk is a session in which the first turn runs, in a time of its own; nothing is
// left of it.
func talk(t *testing.T, d *driver, with func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := open(t, d)
		with(t, r)
		r.stop(t)
	})
}

// open begins a connection and its first turn, so that what follows is recorded.
func open(t *testing.T, d *driver) *rig {
	t.Helper()
	r := unopened(t, d)
	if _, err := r.Turn(t.Context(), func() {}, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func unopened(t *testing.T, d *driver) *rig {
	t.Helper()
	r := &rig{program: newProgram(), driver: d, store: &store{}}
	emitter, err := transcript.NewEmitter(transcript.Options{PromptName: "p", Adapter: "a", Store: r.store})
	if err != nil {
		t.Fatal(err)
	}
	r.Conn = Open("prog", d, agent.Spec{Emitter: emitter, Blobs: r.store}, r.program, nil)
	return r
}

// stop ends the connection; nothing may be left.
func (r *rig) stop(t *testing.T) {
	t.Helper()
	if err := r.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Errorf("stop again: %v", err)
	}
}

// store is a record that can be made to refuse.
type store struct {
	mu      sync.Mutex
	log     []string
	blobs   map[string]string
	refuses string // a line with this in it
}

var errFull = errors.New("the disk is full")

func (s *store) AppendLog(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuses != "" && strings.Contains(string(line), s.refuses) {
		return errFull
	}
	s.log = append(s.log, string(line))
	return nil
}

func (s *store) AppendBlob(channel string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blobs == nil {
		s.blobs = map[string]string{}
	}
	s.blobs[channel] += string(data)
	return nil
}

func (s *store) blob(channel string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blobs[channel]
}

// holds says whether an entry on the record has these words.
func (s *store) holds(words string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.log {
		if strings.Contains(l, words) {
			return true
		}
	}
	return false
}
