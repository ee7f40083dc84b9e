package codex

import (
	"context"
	"fmt"
	"strings"
	"time"

	"conclave/agent"
	"conclave/internal/jsonrpc"
)

// answerTime bounds how long the program may take to acknowledge a request;
// it does so within a second, whatever the model does.
const answerTime = 60 * time.Second

// call sends a request and waits for its answer.
func (s *session) call(ctx context.Context, method string, params any) (jsonrpc.Message, error) {
	id, answer := s.calls.Begin()
	line, err := jsonrpc.NewRequest(id, method, params)
	if err != nil {
		return jsonrpc.Message{}, err
	}
	if err := s.send(line); err != nil {
		return jsonrpc.Message{}, err
	}
	return s.await(ctx, method, answer)
}

// await waits for the answer to a request.
func (s *session) await(ctx context.Context, method string, answer <-chan jsonrpc.Message) (jsonrpc.Message, error) {
	timer := time.NewTimer(answerTime)
	defer timer.Stop()
	select {
	case m, ok := <-answer:
		if !ok {
			return m, s.ended()
		}
		if err := m.Err(); err != nil {
			return m, fmt.Errorf("%s: %w", method, err)
		}
		return m, nil
	case <-ctx.Done():
		if s.ctx.Err() != nil {
			return jsonrpc.Message{}, s.ended()
		}
		return jsonrpc.Message{}, fmt.Errorf("%s: %w", method, ctx.Err())
	case <-timer.C:
		return jsonrpc.Message{}, fmt.Errorf("%s: no answer within %v", method, answerTime)
	}
}

// send records a line and then writes it.
func (s *session) send(line []byte) error {
	if err := s.record("codex.stdin", line, s.maps.Client); err != nil {
		return err
	}
	if err := s.out.WriteLine(line); err != nil {
		// A pipe breaks because the program is going: let it say why.
		s.within(lastWords, s.readEnd)
		return fmt.Errorf("write to codex: %w", s.ended())
	}
	return nil
}

// lastWords is how long the last words of a dying program are waited for.
const lastWords = 2 * time.Second

func (s *session) within(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// read hands on what the program writes, until it ends.
func (s *session) read() {
	defer close(s.readEnd)
	lines := jsonrpc.NewReader(s.proc.Stdout())
	for {
		line, err := lines.Next()
		if err != nil {
			s.programEnded()
			return
		}
		if s.record("codex.stdout", line, s.maps.Server) == nil {
			s.handle(line)
		}
	}
}

// programEnded records what was left unfinished and ends the turn.
func (s *session) programEnded() {
	s.rec.Lock()
	s.mu.Lock()
	broken := s.err != nil
	s.mu.Unlock()
	if !broken {
		_ = s.emit(s.maps.Flush()) // an error is kept by fail
	}
	s.rec.Unlock()
	s.within(lastWords, s.errEnd)
	s.within(lastWords, s.proc.Done())
	s.mu.Lock()
	if s.err == nil {
		s.err = agent.ErrStopped
		if end := s.proc.Err(); end != nil && s.ctx.Err() == nil {
			s.err = fmt.Errorf("%w: the program ended: %w", agent.ErrStopped, end)
		}
		if tail := strings.TrimSpace(string(s.stderr)); tail != "" && s.ctx.Err() == nil {
			s.err = fmt.Errorf("%w; codex said last: %s", s.err, tail)
		}
	}
	err, t := s.err, s.turn
	s.mu.Unlock()
	s.calls.Close(err)
	if t != nil {
		t.end(err)
	}
}

// readErrors keeps what the program writes to stderr.
func (s *session) readErrors() {
	defer close(s.errEnd)
	lines := jsonrpc.NewReader(s.proc.Stderr())
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		if s.spec.Blobs != nil {
			s.rec.Lock()
			err = s.spec.Blobs.AppendBlob("codex.stderr", append(line, '\n'))
			s.rec.Unlock()
			if err != nil {
				_ = s.fail(fmt.Errorf("record what codex complained of: %w", err))
			}
		}
		s.mu.Lock()
		s.stderr = append(s.stderr[:0], line[:min(len(line), 500)]...)
		s.mu.Unlock()
	}
}
