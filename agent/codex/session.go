package codex

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"conclave/agent"
	"conclave/agent/rpc"
	"conclave/internal/jsonrpc"
	"conclave/internal/jsontext"
	"conclave/session/codex"
	"conclave/transcript"
)

// session is one app-server process with one thread of ours.
type session struct {
	conn *rpc.Conn
	opts Options
	spec agent.Spec

	maps   codex.Mapper // used with the record held
	settle *time.Timer  // for a message that is held back; likewise

	mu      sync.Mutex
	turn    *turn
	info    agent.Info
	path    string            // of the rollout, as the program sees it
	active  map[string]string // thread → running turn
	ignored []string          // settings that the program did not know
	spent   float64
	carry   transcript.Usage // of no turn yet
	stopped sync.Once
	stopErr error
}

func newSession(o Options, spec agent.Spec, p agent.Process) *session {
	s := &session{opts: o, spec: spec, active: map[string]string{}}
	s.info = agent.Info{Adapter: transcript.AdapterCodex, Program: o.Program, PID: p.PID(),
		Model: spec.Model.Name}
	switch {
	case spec.Model.Token != "":
		s.info.Login = "api key"
	case spec.Login != nil:
		s.info.Login = "login"
	}
	s.conn = rpc.Open("codex", s, spec, p, nil)
	return s
}

// open says hello and opens the thread.
func (s *session) open(ctx context.Context) error {
	hello, err := s.conn.Call(ctx, "initialize", map[string]any{
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
		err = s.conn.Send(line)
	}
	if err != nil {
		return fmt.Errorf("open codex session: %w", err)
	}
	method, params := s.threadParams()
	answer, err := s.conn.Call(ctx, method, params)
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

// Info says what is running.
func (s *session) Info() agent.Info {
	var unknown []string
	s.conn.Record(func() { unknown = s.maps.Unrecognised() })
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.info
	info.Unrecognised = append(unknown, s.ignored...)
	return info
}

// Stop ends the program and everything it started, and keeps its own account.
func (s *session) Stop(ctx context.Context) error {
	s.stopped.Do(func() {
		s.stopErr = s.conn.Stop(ctx)
		if s.stopErr == nil && errors.Is(s.conn.Ended(), agent.ErrStopped) {
			s.stopErr = s.keepRollout()
		}
	})
	return s.stopErr
}
