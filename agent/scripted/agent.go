package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/agent"
	"conclave/transcript"
)

// Agent plays a script. Its sessions run in this process: they read files
// through Spec.Files and hand them in through Spec.HandIn, and have no other way
// to files.
type Agent struct {
	Script *Script
}

// Load reads the script in file.
func Load(file string) (*Agent, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	script, err := Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &Agent{Script: script}, nil
}

// Adapter implements agent.Agent.
func (*Agent) Adapter() string { return transcript.AdapterScripted }

const idPrefix = "scripted-"

// Start implements agent.Agent. A session's id says how many turns it has
// used, so that Spec.Resume continues behind them.
func (a *Agent) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if spec.Emitter == nil {
		return nil, errors.New("start a scripted session: no emitter: what cannot be recorded does not happen")
	}
	s := &session{script: a.Script, spec: spec, used: map[int]bool{}, stopped: make(chan struct{})}
	if spec.Resume == "" {
		return s, nil
	}
	for n := range strings.SplitSeq(strings.TrimPrefix(spec.Resume, idPrefix), ".") {
		i, err := strconv.Atoi(n)
		if err != nil || !strings.HasPrefix(spec.Resume, idPrefix) {
			return nil, fmt.Errorf("resume: %q is no id of a scripted session", spec.Resume)
		}
		s.order = append(s.order, i)
		s.used[i] = true
	}
	return s, nil
}

type session struct {
	script *Script
	spec   agent.Spec
	calls  int // tools asked for

	mu      sync.Mutex
	busy    bool
	order   []int // turns taken, by index
	used    map[int]bool
	once    sync.Once
	stopped chan struct{}
}

// Info implements agent.Session.
func (s *session) Info() agent.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, n := range s.order {
		ids = append(ids, strconv.Itoa(n))
	}
	return agent.Info{Adapter: transcript.AdapterScripted, Version: "1", SessionID: idPrefix + strings.Join(ids, "."), Model: "none"}
}

// Stop implements agent.Session.
func (s *session) Stop(context.Context) error {
	s.once.Do(func() { close(s.stopped) })
	return nil
}

// Send implements agent.Session.
func (s *session) Send(ctx context.Context, m agent.Message) (agent.Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stopped:
		return nil, agent.ErrStopped
	default:
	}
	if s.busy {
		return nil, agent.ErrBusy
	}
	t := &turn{session: s, message: m, interrupted: make(chan struct{})}
	t.ctx, t.cancel = ctx, func() {}
	if s.spec.Limits.Wall > 0 {
		t.ctx, t.cancel = context.WithTimeout(ctx, s.spec.Limits.Wall)
	}
	if err := t.emit(transcript.UserMessage, nil, map[string]any{"text": m.Text}); err != nil {
		t.cancel()
		return nil, err
	}
	if n := s.choose(m.Text); n >= 0 {
		t.steps = s.script.Turns[n].Steps
		s.order = append(s.order, n)
		s.used[n] = true
	} else {
		t.steps = []Step{{Verb: "error", Text: fmt.Sprintf("the script has no turn for %q and this message", s.spec.Role)}}
	}
	s.busy = true
	return t, nil
}

// choose returns the index of the turn that answers message, -1 if none does.
func (s *session) choose(message string) int {
	for i, t := range s.script.Turns {
		mine := t.Role == "" || t.Role == s.spec.Role
		if mine && (t.Always || !s.used[i]) && strings.Contains(message, t.On) {
			return i
		}
	}
	return -1
}

func (s *session) idle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
}

// turn plays its steps as the caller pulls: nothing happens that nobody has
// asked for.
type turn struct {
	*session
	ctx     context.Context
	cancel  context.CancelFunc
	message agent.Message
	steps   []Step
	at      int
	said    []string
	reply   agent.Reply
	queue   []agent.Event
	end     error // why the turn is over

	interruptOnce sync.Once
	interrupted   chan struct{}
}

// Interrupt implements agent.Interrupter.
func (t *turn) Interrupt(context.Context) error {
	t.interruptOnce.Do(func() { close(t.interrupted) })
	return nil
}

// Reply implements agent.Turn.
func (t *turn) Reply() agent.Reply { return t.reply }

// Next implements agent.Turn.
func (t *turn) Next() (agent.Event, error) {
	for len(t.queue) == 0 && t.end == nil {
		if err := t.step(); err != nil {
			t.finish(err)
		}
	}
	if len(t.queue) > 0 {
		e := t.queue[0]
		t.queue = t.queue[1:]
		return e, nil
	}
	return agent.Event{}, t.end
}

func (t *turn) finish(err error) {
	if errors.Is(err, errInterrupted) {
		t.reply.Stopped = "interrupted"
		err = t.emit(transcript.SystemEvent, nil, map[string]any{"subtype": "interrupt"})
		if err == nil {
			err = errEnd
		}
	}
	t.reply.Text = strings.Join(t.said, "\n\n")
	t.end = err
	if errors.Is(err, errEnd) {
		t.end = io.EOF
	}
	t.cancel()
	t.idle()
}

// step plays the next step; errEnd after the last.
func (t *turn) step() error {
	if err := t.pause(0); err != nil {
		return err
	}
	if t.at >= len(t.steps) {
		return errEnd
	}
	s := t.steps[t.at]
	t.at++
	switch s.Verb {
	case "expect":
		if !strings.Contains(t.message.Text, s.Text) {
			return t.fail(s, fmt.Sprintf("the message does not contain %q", s.Text))
		}
		return nil
	case "think":
		return t.emit(transcript.Thinking, &s, map[string]any{"text": s.Text})
	case "say":
		return t.say(s, s.Text)
	case "veto":
		return t.say(s, "[VETO - need more input]\n\n"+s.Text)
	case "tool":
		return t.tool(s)
	case "read":
		return t.read(s)
	case "write":
		return t.write(s)
	case "answer":
		t.reply.Structured = json.RawMessage(s.Text)
		return t.emit(transcript.SystemEvent, &s, map[string]any{"subtype": "structured_answer", "answer": json.RawMessage(s.Text)})
	case "usage":
		return t.usage(s)
	case "wait":
		d, _ := time.ParseDuration(s.Text) // checked by Parse
		return t.pause(d)
	case "stall":
		return t.pause(-1)
	case "error":
		return t.fail(s, s.Text)
	case "die":
		return t.die(s)
	}
	return fmt.Errorf("no step is called %q", s.Verb)
}

var (
	errEnd         = errors.New("the turn is over")
	errInterrupted = errors.New("interrupted")
)

// pause waits for d, for ever if it is negative, and returns early with the
// reason when the turn is to end.
func (t *turn) pause(d time.Duration) error {
	var after <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	for {
		select {
		case <-t.ctx.Done():
			return fmt.Errorf("the turn was cut short: %w", t.ctx.Err())
		case <-t.stopped:
			return agent.ErrStopped
		case <-t.interrupted:
			return errInterrupted
		default:
		}
		if d == 0 {
			return nil
		}
		select {
		case <-after:
			return nil
		case <-t.ctx.Done():
		case <-t.stopped:
		case <-t.interrupted:
		}
	}
}

func (t *turn) say(s Step, text string) error {
	t.said = append(t.said, text)
	t.queue = append(t.queue, agent.Event{Delta: text})
	return t.emit(transcript.AssistantMessage, &s, map[string]any{"text": text})
}

func (t *turn) tool(s Step) error {
	t.calls++
	id := "call-" + strconv.Itoa(t.calls)
	if err := t.emit(transcript.ToolUse, &s, map[string]any{"tool_use_id": id, "name": s.Name, "input": json.RawMessage(s.Text)}); err != nil {
		return err
	}
	if t.at < len(t.steps) && t.steps[t.at].Verb == "result" {
		r := t.steps[t.at]
		t.at++
		return t.result(&r, id, r.Text, nil)
	}
	if t.spec.Tools.Caller == nil {
		return t.result(nil, id, "", fmt.Errorf("there is no tool %q in this room", s.Name))
	}
	out, err := t.spec.Tools.Caller.CallTool(t.ctx, s.Name, json.RawMessage(s.Text))
	return t.result(nil, id, out, err)
}

func (t *turn) result(s *Step, id, content string, failure error) error {
	detail := map[string]any{"tool_use_id": id, "content": content}
	if failure != nil {
		detail["content"], detail["is_error"] = failure.Error(), true
	}
	return t.emit(transcript.ToolResult, s, detail)
}

func (t *turn) read(s Step) error {
	t.calls++
	id := "call-" + strconv.Itoa(t.calls)
	input := map[string]any{"path": s.Text}
	if err := t.emit(transcript.ToolUse, &s, map[string]any{"tool_use_id": id, "name": "read", "input": input}); err != nil {
		return err
	}
	if t.spec.Files == nil {
		return t.result(nil, id, "", errors.New("this room holds no files"))
	}
	data, err := fs.ReadFile(t.spec.Files, s.Text)
	return t.result(nil, id, string(data), err)
}

// write hands in a file. The name is the script's, not a path: os.Root keeps
// it inside the outbox.
func (t *turn) write(s Step) error {
	t.calls++
	id := "call-" + strconv.Itoa(t.calls)
	input := map[string]any{"path": s.Name, "content": s.Text}
	if err := t.emit(transcript.ToolUse, &s, map[string]any{"tool_use_id": id, "name": "write", "input": input}); err != nil {
		return err
	}
	err := t.handIn(s.Name, s.Text)
	return t.result(nil, id, "written", err)
}

func (t *turn) handIn(name, text string) error {
	if t.spec.HandIn == nil {
		return errors.New("this room has no outbox")
	}
	return t.spec.HandIn(name, []byte(text))
}

func (t *turn) usage(s Step) error {
	var in, out int64
	if _, err := fmt.Sscan(s.Text, &in, &out); err != nil {
		return err
	}
	t.reply.Usage = t.reply.Usage.Add(agent.Usage{Input: in, Output: out})
	return t.emit(transcript.TokenUsage, &s, map[string]any{"input_tokens": in, "output_tokens": out})
}

func (t *turn) fail(s Step, reason string) error {
	if err := t.emit(transcript.Error, &s, map[string]any{"message": reason}); err != nil {
		return err
	}
	return errors.New(reason)
}

func (t *turn) die(s Step) error {
	if s.Text != "" {
		t.said = append(t.said, s.Text)
		if err := t.emit(transcript.AssistantMessage, &s, map[string]any{"text": s.Text, "partial": true}); err != nil {
			return err
		}
	}
	err := t.fail(Step{Verb: "error", Text: "the agent died"}, "the agent died in the middle of its answer")
	_ = t.Stop(t.ctx) // a dead session takes no more messages
	return fmt.Errorf("%w: %w", agent.ErrStopped, err)
}

// emit records an entry and offers it to the caller. raw is the step that
// gave rise to it.
func (t *turn) emit(kind transcript.Type, raw *Step, detail map[string]any) error {
	b, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	item := transcript.Item{Type: kind, Detail: b}
	if raw != nil {
		item.Raw = []byte(strings.TrimSpace(raw.String()))
	}
	entry, err := t.spec.Emitter.Emit(item)
	if err != nil {
		return err
	}
	t.queue = append(t.queue, agent.Event{Entry: &entry})
	return nil
}
