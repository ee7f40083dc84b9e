package codex

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"conclave/agent"
	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/session/codex"
	"conclave/transcript"
)

// session is one app-server process with one thread of ours.
//
// One goroutine reads what the program writes, records it and hands it on; it
// ends when the program does. Answers to the program's questions are worked
// out in goroutines of their own, so that nobody's slowness stops the record.
type session struct {
	opts Options
	spec agent.Spec
	proc agent.Process
	out  *jsonrpc.Writer

	ctx    context.Context // ends with the session
	cancel context.CancelFunc
	work   sync.WaitGroup

	calls jsonrpc.Calls

	rec    sync.Mutex // held while a line is mapped and recorded
	maps   codex.Mapper
	begun  bool
	settle *time.Timer       // for a message that is held back
	early  []transcript.Item // of the time before the first message

	mu      sync.Mutex
	turn    *turn
	err     error // why the session is of no further use
	info    agent.Info
	path    string            // of the rollout, as the program sees it
	active  map[string]string // thread → running turn
	ignored []string          // settings that the program did not know
	spent   float64
	carry   transcript.Usage // of no turn yet
	stderr  []byte           // its last bytes, for messages
	readEnd chan struct{}    // stdout has ended
	errEnd  chan struct{}    // stderr has ended
	stopped sync.Once
	stopErr error
}

func newSession(o Options, spec agent.Spec, p agent.Process) *session {
	s := &session{opts: o, spec: spec, proc: p, out: jsonrpc.NewWriter(p.Stdin()),
		active: map[string]string{}, readEnd: make(chan struct{}), errEnd: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.info = agent.Info{Adapter: transcript.AdapterCodex, Program: o.Program, PID: p.PID(),
		Model: spec.Model.Name}
	switch {
	case spec.Model.Token != "":
		s.info.Login = "api key"
	case spec.Login != nil:
		s.info.Login = "login"
	}
	s.work.Go(s.readErrors)
	go s.read() // Stop waits for readEnd
	return s
}

// open says hello and opens the thread.
func (s *session) open(ctx context.Context) error {
	hello, err := s.call(ctx, "initialize", map[string]any{
		"clientInfo":   map[string]string{"name": "conclave", "title": "Conclave", "version": "1"},
		"capabilities": s.capabilities(),
	})
	if err != nil {
		return fmt.Errorf("open codex session: %w", err)
	}
	s.mu.Lock()
	s.info.Version = versionOf(jsontext.Text(jsontext.Get(hello.Result, "userAgent")))
	s.mu.Unlock()
	line, err := jsonrpc.NewNotification("initialized", nil)
	if err == nil {
		err = s.send(line)
	}
	if err != nil {
		return fmt.Errorf("open codex session: %w", err)
	}
	method, params := s.threadParams()
	answer, err := s.call(ctx, method, params)
	if err != nil {
		return fmt.Errorf("open codex thread: %w", err)
	}
	thread := jsontext.Members(jsontext.Get(answer.Result, "thread"), "id", "path", "model")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info.SessionID, s.path = jsontext.Text(thread[0]), jsontext.Text(thread[1])
	if m := jsontext.Text(thread[2]); m != "" {
		s.info.Model = m
	}
	if s.info.SessionID == "" {
		return fmt.Errorf("open codex thread: %s was answered without a thread", method)
	}
	return nil
}

// deltas tell a text piece by piece. Where a login was lent they are declined:
// a credential that is told so hides from whoever looks for it.
var deltas = []string{
	"item/agentMessage/delta", "item/plan/delta", "item/reasoning/textDelta", "item/reasoning/summaryTextDelta",
	"item/commandExecution/outputDelta", "item/fileChange/outputDelta", "command/exec/outputDelta", "process/outputDelta",
}

func (s *session) capabilities() map[string]any {
	c := map[string]any{"experimentalApi": true}
	if s.spec.Login != nil {
		c["optOutNotificationMethods"] = deltas
	}
	return c
}

// versionOf reads "name/0.166.0 (Debian …)".
func versionOf(userAgent string) string {
	_, rest, _ := strings.Cut(userAgent, "/")
	version, _, _ := strings.Cut(rest, " ")
	return version
}

func (s *session) threadParams() (method string, params map[string]any) {
	params = map[string]any{"cwd": s.spec.Place.InGuest(agent.WorkDir)}
	if s.spec.System != "" {
		params["baseInstructions"] = s.spec.System
	}
	switch {
	case s.spec.Resume == "":
		method = "thread/start"
		params["experimentalRawEvents"] = true // see raw.go
		if len(s.spec.Tools.Builtin) == 0 {
			params["environments"] = []any{} // no commands, no files
		}
		return method, params
	case s.spec.Fork:
		method = "thread/fork"
	default:
		method = "thread/resume"
	}
	params["threadId"] = s.spec.Resume
	params["excludeTurns"] = true // the history is on the record already
	return method, params
}

// fail ends the session because of err: the program is killed, and what waits
// for it is told. It returns err.
func (s *session) fail(err error) error {
	s.mu.Lock()
	first := s.err == nil
	if first {
		s.err = err
	}
	t := s.turn
	s.mu.Unlock()
	if t != nil {
		t.end(err)
	}
	if first {
		s.cancel()
		s.work.Go(func() { _ = s.proc.Stop(s.ctx) }) // s.ctx has ended: kill; Stop reports what is left
	}
	return err
}

// ended says why the session is of no further use.
func (s *session) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return agent.ErrStopped
}

// Info says what is running.
func (s *session) Info() agent.Info {
	s.rec.Lock()
	unknown := s.maps.Unrecognised()
	s.rec.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.info
	info.Unrecognised = append(unknown, s.ignored...)
	return info
}

// Stop ends the program and everything it started.
func (s *session) Stop(ctx context.Context) error {
	s.stopped.Do(func() {
		s.cancel()
		if s.stopErr = s.proc.Stop(ctx); s.stopErr != nil {
			s.within(lastWords, s.readEnd) // what is left may hold the pipes
			return
		}
		<-s.readEnd
		s.work.Wait()
		s.stopErr = s.close()
	})
	return s.stopErr
}
