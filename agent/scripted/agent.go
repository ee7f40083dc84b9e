package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"conclave/agent"
	"conclave/agent/local"
	"conclave/transcript"
)

// Agent plays a script. Its sessions run in this process: they read files
// through Spec.Files and hand them in through Spec.HandIn, and have no other way
// to files.
type Agent struct {
	Script *Script
}

// Adapter implements agent.Agent.
func (*Agent) Adapter() string { return transcript.AdapterScripted }

// Start implements agent.Agent.
func (a *Agent) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	mechanics := local.Agent{Name: transcript.AdapterScripted, New: a.converse}
	return mechanics.Start(ctx, spec)
}

const idPrefix = "scripted-"

// converse begins a conversation. A session's id says which turns it has used,
// so that Spec.Resume continues behind them.
func (a *Agent) converse(spec agent.Spec) (local.Conversation, error) {
	s := &session{script: a.Script, spec: spec, used: map[int]bool{}}
	if spec.Resume != "" {
		for n := range strings.SplitSeq(strings.TrimPrefix(spec.Resume, idPrefix), ".") {
			i, err := strconv.Atoi(n)
			if err != nil || !strings.HasPrefix(spec.Resume, idPrefix) {
				return local.Conversation{}, fmt.Errorf("resume: %q is no id of a scripted session", spec.Resume)
			}
			s.order = append(s.order, i)
			s.used[i] = true
		}
	}
	return local.Conversation{Answer: s.answer, ID: s.id}, nil
}

type session struct {
	script *Script
	spec   agent.Spec
	calls  int   // tools asked for
	order  []int // turns taken, by index
	used   map[int]bool
}

func (s *session) id() string {
	var ids []string
	for _, n := range s.order {
		ids = append(ids, strconv.Itoa(n))
	}
	return idPrefix + strings.Join(ids, ".")
}

// answer finds the turn of the script that answers, and plays it.
func (s *session) answer(lt *local.Turn) error {
	t := &turn{Turn: lt, session: s}
	if n := s.choose(lt.Message.Text); n >= 0 {
		t.steps = s.script.Turns[n].Steps
		s.order = append(s.order, n)
		s.used[n] = true
	} else {
		t.steps = []Step{{Verb: "error", Text: fmt.Sprintf("the script has no turn for %q and this message", s.spec.Role)}}
	}
	t.Then(t.play)
	return nil
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

// turn is a turn of the script on its way.
type turn struct {
	*local.Turn
	*session
	steps []Step
	at    int
}

// play plays the next step, and plans the one behind it.
func (t *turn) play() error {
	if t.at >= len(t.steps) {
		return nil
	}
	s := t.steps[t.at]
	t.at++
	if err := t.step(s); err != nil {
		return err
	}
	t.Then(t.play)
	return nil
}

func (t *turn) step(s Step) error {
	switch s.Verb {
	case "expect":
		if !strings.Contains(t.Message.Text, s.Text) {
			return t.fail(s, fmt.Sprintf("the message does not contain %q", s.Text))
		}
		return nil
	case "think":
		return t.Emit(transcript.Thinking, map[string]any{"text": s.Text}, s.raw())
	case "say":
		return t.Say(s.Text, s.raw())
	case "veto":
		return t.Say("[VETO - need more input]\n\n"+s.Text, s.raw())
	case "tool":
		return t.tool(s)
	case "read":
		return t.read(s)
	case "write":
		return t.write(s)
	case "answer":
		return t.Structured([]byte(s.Text), s.raw())
	case "usage":
		return t.usage(s)
	case "wait":
		d, _ := time.ParseDuration(s.Text) // checked by Parse
		return t.Wait(d)
	case "stall":
		return t.Wait(-1)
	case "error":
		return t.fail(s, s.Text)
	case "die":
		return t.die(s)
	}
	return fmt.Errorf("no step is called %q", s.Verb)
}

func (t *turn) tool(s Step) error {
	t.calls++
	id := "call-" + strconv.Itoa(t.calls)
	if err := t.Emit(transcript.ToolUse, map[string]any{"tool_use_id": id, "name": s.Name,
		"input": json.RawMessage(s.Text)}, s.raw()); err != nil {
		return err
	}
	t.Called(s.Name)
	if t.at < len(t.steps) && t.steps[t.at].Verb == "result" {
		r := t.steps[t.at]
		t.at++
		return t.result(&r, id, r.Text, nil)
	}
	if t.spec.Tools.Caller == nil {
		return t.result(nil, id, "", fmt.Errorf("there is no tool %q in this room", s.Name))
	}
	out, err := t.spec.Tools.Caller.CallTool(t.Context(), s.Name, json.RawMessage(s.Text))
	return t.result(nil, id, out, err)
}

func (t *turn) result(s *Step, id, content string, failure error) error {
	detail := map[string]any{"tool_use_id": id, "content": content}
	if failure != nil {
		detail["content"], detail["is_error"] = failure.Error(), true
	}
	var raw []byte
	if s != nil {
		raw = s.raw()
	}
	return t.Emit(transcript.ToolResult, detail, raw)
}

func (t *turn) read(s Step) error {
	t.calls++
	id := "call-" + strconv.Itoa(t.calls)
	input := map[string]any{"path": s.Text}
	if err := t.Emit(transcript.ToolUse, map[string]any{"tool_use_id": id, "name": "read", "input": input}, s.raw()); err != nil {
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
	if err := t.Emit(transcript.ToolUse, map[string]any{"tool_use_id": id, "name": "write", "input": input}, s.raw()); err != nil {
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
	t.Use(transcript.Usage{Input: in, Output: out})
	return t.Emit(transcript.TokenUsage, map[string]any{"input_tokens": in, "output_tokens": out}, s.raw())
}

func (t *turn) fail(s Step, reason string) error {
	if err := t.Emit(transcript.Error, map[string]any{"message": reason}, s.raw()); err != nil {
		return err
	}
	return errors.New(reason)
}

func (t *turn) die(s Step) error {
	if s.Text != "" {
		if err := t.Break(s.Text, s.raw()); err != nil {
			return err
		}
	}
	err := t.fail(Step{Verb: "error", Text: "the agent died"}, "the agent died in the middle of its answer")
	t.Leave() // a dead session takes no more messages
	return fmt.Errorf("%w: %w", agent.ErrStopped, err)
}

// raw is the step that gave rise to an entry.
func (s Step) raw() []byte { return []byte(strings.TrimSpace(s.String())) }
