package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/agent"
	"conclave/agent/structured"
	"conclave/session"
	"conclave/session/claude"
	"conclave/transcript"
)

// driven is a session: one running program. Whoever pulls a turn does the work: reads
// what the program said, follows its files, and records both. Two goroutines
// only move bytes from the pipes into memory; Stop waits for them.
type driven struct {
	cfg    Config
	spec   agent.Spec
	proc   agent.Process
	out    *queue
	errs   *queue
	pipes  sync.WaitGroup
	stdin  sync.Mutex // held while a line is written
	stops  sync.Mutex // held by Stop
	halted chan struct{}

	mu        sync.Mutex // guards what follows
	info      agent.Info
	follow    *follower
	turn      *turn
	waiting   map[string][]byte // said on stdout, not yet in a file, by uuid
	inFiles   map[string]bool   // uuids of lines that came first
	tasks     map[string]bool   // subagents at work
	taskEnded time.Time         // when one ended and the model was not told yet
	busy      bool              // a turn of the program runs
	strange   map[string]int64  // what was not known, by name
	recorded  transcript.Usage  // of the token_usage entries so far
	counted   transcript.Usage  // the program's own sums at the last result
	replies   map[string]said   // answers to our control requests
	lastErr   string            // the end of stderr
	outEnded  bool
	broken    error // the record failed: nothing is recorded any more
	stopped   bool
	requests  int
	polled    time.Time // when the files were last looked at
}

func newSession(cfg Config, spec agent.Spec, p plan, proc agent.Process) *driven {
	s := &driven{cfg: cfg, spec: spec, proc: proc, out: newQueue(), errs: newQueue(),
		halted: make(chan struct{}), waiting: map[string][]byte{}, inFiles: map[string]bool{},
		tasks: map[string]bool{}, strange: map[string]int64{}, replies: map[string]said{}}
	s.counted, s.recorded = p.past.Totals, p.past.Totals.Tokens()
	s.info = agent.Info{Adapter: transcript.AdapterClaude, Program: p.command.Path,
		SessionID: p.session, PID: proc.PID(), Model: spec.Model.Name, Login: p.login}
	s.follow = &follower{projects: p.projects, session: p.session,
		opts: claude.Options{Known: p.known}, emit: s.emit, seen: s.seen, began: s.began,
		agents: map[string]*followed{}, callers: session.Callers{}, every: cfg.Discovery, readSize: cfg.MaxReadBytes}
	if !spec.Fork {
		s.follow.uuids = p.past.UUIDs
	}
	s.pipes.Go(func() { s.out.fill(proc.Stdout()) })
	s.pipes.Go(func() { s.errs.fill(proc.Stderr()); s.out.poke() })
	return s
}

// ready waits for the program's first answer.
func (s *driven) ready(ctx context.Context) error {
	if s.spec.Resume != "" && !s.spec.Fork {
		if err := s.follow.skipPast(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	id, err := s.request(map[string]any{"subtype": "initialize", "hooks": nil})
	if err != nil {
		return s.died(err)
	}
	for {
		s.mu.Lock()
		err := s.hear()
		answer, ok := s.replies[id]
		delete(s.replies, id)
		ended := s.outEnded
		s.mu.Unlock()
		switch {
		case err != nil:
			return err
		case ok:
			return controlError(answer.Response)
		case ended:
			return s.died(nil)
		}
		select {
		case <-s.out.wake:
		case <-ctx.Done():
			return fmt.Errorf("wait for the program's first answer: %w", ctx.Err())
		}
	}
}

// died words the end of the program, with its last complaint.
func (s *driven) died(err error) error {
	s.awaitEnd()
	s.mu.Lock()
	_ = s.hear()
	complaint := strings.TrimSpace(s.lastErr)
	s.mu.Unlock()
	if end := s.proc.Err(); end != nil {
		err = end
	}
	if err == nil {
		err = errors.New("it ended without a word")
	}
	if complaint != "" {
		return fmt.Errorf("%w: the program ended: %w: %s", agent.ErrStopped, err, complaint)
	}
	return fmt.Errorf("%w: the program ended: %w", agent.ErrStopped, err)
}

// awaitEnd waits for the program's end, which follows that of its stdout.
func (s *driven) awaitEnd() {
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-s.proc.Done():
	case <-t.C:
	}
}

// Info says what is running.
func (s *driven) Info() agent.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.info
	for _, names := range []map[string]int64{s.strange, s.follow.unrecognised()} {
		for name, n := range names {
			info.Unrecognised = append(info.Unrecognised, fmt.Sprintf("%s ×%d", name, n))
		}
	}
	slices.Sort(info.Unrecognised)
	return info
}

// Send delivers a message.
func (s *driven) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped || s.outEnded:
		return nil, fmt.Errorf("send to claude: %w", agent.ErrStopped)
	case s.turn != nil:
		return nil, fmt.Errorf("send to claude: %w", agent.ErrBusy)
	case s.broken != nil:
		return nil, fmt.Errorf("send to claude: %w", s.broken)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("send to claude: %w", ctx.Err())
	}
	form, err := structured.Of(m)
	if err != nil {
		return nil, fmt.Errorf("send to claude: %w", err)
	}
	// What came after the end of the last turn belongs to no turn.
	if err := s.pump(); err != nil {
		return nil, fmt.Errorf("send to claude: %w", err)
	}
	line, err := encodeMessage(m, form, s.cfg.SlashCommands)
	if err != nil {
		return nil, err
	}
	t := newTurn(ctx, s, form)
	s.turn = t
	if err := s.write(line); err != nil {
		s.turn = nil
		t.release()
		return nil, fmt.Errorf("send to claude: %w: %w", agent.ErrStopped, err)
	}
	return t, nil
}

// write puts one line on the program's stdin.
func (s *driven) write(line []byte) error {
	s.stdin.Lock()
	defer s.stdin.Unlock()
	_, err := s.proc.Stdin().Write(append(line, '\n'))
	return err
}

// request sends a control request and returns its id.
func (s *driven) request(body map[string]any) (string, error) {
	s.mu.Lock()
	s.requests++
	id := fmt.Sprintf("conclave-%d", s.requests)
	s.mu.Unlock()
	line, err := json.Marshal(map[string]any{"type": "control_request", "request_id": id, "request": body})
	if err != nil {
		return "", err
	}
	return id, s.write(line)
}

// Stop ends the session. What the program wrote to the last is recorded.
func (s *driven) Stop(ctx context.Context) error {
	s.stops.Lock()
	defer s.stops.Unlock()
	s.mu.Lock()
	again := s.stopped
	running := s.turn != nil
	s.stopped = true
	s.mu.Unlock()
	if again {
		return nil
	}
	close(s.halted)
	if running { // the program ends sooner when it does not finish first
		_, _ = s.request(map[string]any{"subtype": "interrupt"})
	}
	err := s.proc.Stop(ctx)
	s.pipes.Wait()

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		err = errors.Join(err, s.hear(), s.follow.poll(true), s.follow.flush(), s.reconcile(), s.balance())
	}
	s.follow.close()
	s.out.poke()
	return err
}

// emit records an item and shows it to the turn.
func (s *driven) emit(it transcript.Item) error {
	e, err := s.spec.Emitter.Emit(it)
	if err != nil {
		s.broken = err
		return err
	}
	if it.Type == transcript.TokenUsage {
		s.recorded = s.recorded.Add(transcript.UsageOf(it.Detail))
	}
	if s.turn != nil {
		s.turn.show(e)
	}
	return nil
}

func (s *driven) began(f session.File) error {
	if f.Main() {
		return s.spec.Emitter.PathDiscovered(f.Path, "driven session")
	}
	return s.spec.Emitter.SubagentDiscovered(f.Source, f.Path, "directory of a driven session")
}

// seen is called with the uuid of each line in a file.
func (s *driven) seen(uuid string) {
	if uuid == "" {
		return
	}
	if _, ok := s.waiting[uuid]; ok {
		delete(s.waiting, uuid)
		return
	}
	s.inFiles[uuid] = true
}

// pump takes in everything that is there by now. Once a turn was answered, its
// last lines are not waited for longer than it takes.
func (s *driven) pump() error {
	if err := s.hear(); err != nil {
		return err
	}
	if answered := s.turn == nil || s.turn.answered; !answered && time.Since(s.polled) < s.cfg.Poll {
		return nil
	}
	s.polled = time.Now()
	return s.follow.poll(false)
}

// hear takes in what the program said on its pipes.
func (s *driven) hear() error {
	for {
		line, _ := s.errs.take()
		if line == nil {
			break
		}
		s.lastErr += string(line)
		s.lastErr = s.lastErr[max(0, len(s.lastErr)-2000):]
		if err := s.keep("claude.stderr", line); err != nil {
			return err
		}
	}
	for {
		line, ended := s.out.take()
		if line == nil {
			s.outEnded = s.outEnded || ended
			return nil
		}
		if err := s.keep("claude.stdout", line); err != nil {
			return err
		}
		if err := s.listen(line); err != nil {
			return err
		}
	}
}

func (s *driven) keep(channel string, line []byte) error {
	if s.spec.Blobs == nil || s.broken != nil {
		return s.broken
	}
	if err := s.spec.Blobs.AppendBlob(channel, line); err != nil {
		s.broken = fmt.Errorf("keep %s: %w", channel, err)
	}
	return s.broken
}
