package claude

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"conclave/agent"
	"conclave/agent/structured"
	"conclave/internal/jsontext"
	"conclave/session/claude"
	"conclave/transcript"
)

// turn is the answer to one message. All but Interrupt is called by one
// goroutine; the session's mutex guards its fields.
type turn struct {
	s       *driven
	ctx     context.Context
	form    *structured.Form // of the answer, nil for none
	cancels func() bool      // stops the watch over ctx
	wall    *time.Timer

	events []agent.Event
	text   []string
	usage  transcript.Usage
	reply  agent.Reply
	done   bool
	err    error

	answered bool    // there was a result of our message
	result   *result // the one that tells the outcome
	subtype  string
	settleBy time.Time

	why      sync.Once
	stopped  string // why it was interrupted, "" if it was not
	killAt   time.Time
	askAgain time.Time
	before   transcript.Usage // the program's sums at the beginning
}

// interruptWait is how long the program gets to end a turn in order.
const interruptWait = 10 * time.Second

// pollEvery is how often the session files are looked at during a turn, beside
// each time that the program says something.
const pollEvery = 5 * time.Millisecond

// totalsWait bounds the wait for lines of subagents, which are announced
// nowhere but in the program's sums.
const totalsWait = 300 * time.Millisecond

func newTurn(ctx context.Context, s *driven, form *structured.Form) *turn {
	t := &turn{s: s, ctx: ctx, form: form, before: s.counted}
	t.cancels = context.AfterFunc(ctx, func() { t.interrupt("cancelled") })
	if w := s.spec.Limits.Wall; w > 0 {
		t.wall = time.AfterFunc(w, func() { t.interrupt("wall time") })
	}
	return t
}

func (t *turn) release() {
	t.cancels()
	if t.wall != nil {
		t.wall.Stop()
	}
}

// Interrupt asks the program to end the turn.
func (t *turn) Interrupt(context.Context) error { return t.interrupt("interrupted") }

// interrupt sends the request once, whoever is first to want it.
func (t *turn) interrupt(reason string) (err error) {
	t.why.Do(func() {
		t.s.mu.Lock()
		t.stopped, t.killAt = reason, time.Now().Add(interruptWait)
		t.askAgain = time.Now().Add(time.Second)
		over := t.done
		var tasks []string
		for id := range t.s.tasks {
			tasks = append(tasks, id)
		}
		t.s.mu.Unlock()
		if over {
			return
		}
		_, err = t.s.request(map[string]any{"subtype": "interrupt"})
		for _, id := range tasks { // those in the background do not stop by it
			_, _ = t.s.request(map[string]any{"subtype": "stop_task", "task_id": id})
		}
		t.s.out.poke()
	})
	return err
}

// show and speak are called with the session's mutex held.

func (t *turn) show(e transcript.Entry) {
	t.events = append(t.events, agent.Event{Entry: &e})
	switch {
	case e.Type == transcript.TokenUsage:
		t.usage = t.usage.Add(transcript.UsageOf(e.Detail))
	case e.Type == transcript.AssistantMessage && e.Source == transcript.Main:
		if text := claude.Text(e.Detail); text != "" {
			t.text = append(t.text, text)
		}
	case e.Type == transcript.ToolUse && e.Source == transcript.Main:
		name, _ := jsontext.String(jsontext.Get(e.Detail, "name"))
		t.reply.Uses = append(t.reply.Uses, agent.ToolUse{Name: name, Said: len(strings.Join(t.text, "\n\n"))})
	}
}

func (t *turn) speak(text string) { t.events = append(t.events, agent.Event{Delta: text}) }

// Next returns the next event.
func (t *turn) Next() (agent.Event, error) {
	for {
		t.s.mu.Lock()
		if len(t.events) == 0 && !t.done {
			t.step()
		}
		if len(t.events) > 0 {
			e := t.events[0]
			t.events = t.events[1:]
			t.s.mu.Unlock()
			return e, nil
		}
		done, err, kill := t.done, t.err, !t.killAt.IsZero() && time.Now().After(t.killAt)
		again := t.stopped != "" && !t.answered && time.Now().After(t.askAgain)
		if again {
			t.askAgain = time.Now().Add(time.Second)
		}
		t.s.mu.Unlock()
		if done {
			if err == nil {
				err = io.EOF
			}
			return agent.Event{}, err
		}
		if kill { // it does not listen
			now, cancel := context.WithCancel(context.Background())
			cancel()
			_ = t.s.proc.Stop(now) // its end is seen on stdout
		}
		if again { // it may have come before the program took the message up
			_, _ = t.s.request(map[string]any{"subtype": "interrupt"})
		}
		wait := time.NewTimer(pollEvery)
		select {
		case <-t.s.out.wake:
		case <-t.s.halted:
			t.s.stops.Lock() // Stop records the rest, then this goes on
			t.s.stops.Unlock()
		case <-wait.C:
		}
		wait.Stop()
	}
}

// step takes in what is new and sees whether the turn is over.
func (t *turn) step() {
	s := t.s
	if s.broken != nil {
		t.finish(fmt.Errorf("claude turn: %w", s.broken))
		return
	}
	if s.stopped {
		t.finish(fmt.Errorf("claude turn: %w", agent.ErrStopped))
		return
	}
	if err := s.pump(); err != nil {
		t.finish(fmt.Errorf("claude turn: %w", err))
		return
	}
	switch {
	case s.outEnded:
		s.mu.Unlock()
		err := s.died(nil)
		s.mu.Lock()
		if err := errors.Join(s.follow.poll(true), s.follow.flush(), s.reconcile()); err != nil {
			t.finish(fmt.Errorf("claude turn: %w", err))
			return
		}
		if t.ctx.Err() != nil {
			err = t.ctx.Err()
		}
		t.finish(fmt.Errorf("claude turn: %w", err))
	case t.answered && s.quiet() && t.settled():
		t.finish(t.close())
	}
}

// settled says whether all that was said has come to the files, or will not.
func (t *turn) settled() bool {
	now := time.Now()
	if t.settleBy.IsZero() {
		t.settleBy = now.Add(t.s.cfg.Settle)
	}
	if now.After(t.settleBy) {
		return true
	}
	if len(t.s.waiting) > 0 {
		return false
	}
	if err := t.s.follow.due(); err != nil {
		return true // what broke is kept, and said
	}
	missing := claude.ModelUsage(t.result.ModelUsage).Beyond(t.s.recorded).Tokens()
	return missing == (transcript.Usage{}) || !missing.Natural() || now.After(t.settleBy.Add(totalsWait-t.s.cfg.Settle))
}

// close words the outcome of a turn that the program has ended.
func (t *turn) close() error {
	s := t.s
	if err := errors.Join(s.follow.flush(), s.reconcile()); err != nil {
		return err
	}
	t.account(claude.ModelUsage(t.result.ModelUsage))
	switch {
	case t.ctx.Err() != nil:
		return fmt.Errorf("claude turn: %w", t.ctx.Err())
	case t.stopped != "":
		t.reply.Stopped = t.stopped
	case t.subtype == "error_max_turns":
		t.reply.Stopped = "turn limit"
	case t.subtype == "error_max_budget_usd":
		t.reply.Stopped = "budget"
	case t.result.IsError && t.subtype == "success":
		return fmt.Errorf("claude turn: %w", &APIError{t.result.APIStatus, t.result.Text})
	case t.result.IsError || strings.HasPrefix(t.subtype, "error"):
		return fmt.Errorf("claude turn: the program gave up (%s): %s", t.subtype, strings.Join(t.result.Errors, "; "))
	}
	return nil
}

// account takes the usage of the turn from the program's own sums: they hold
// calls that stand in no file, such as the one that summarises at a compaction.
// Without them the entries have to do.
func (t *turn) account(own transcript.Usage) {
	own.CostUSD = t.result.CostUSD
	if spent := own.Sub(t.before); own.Tokens() != (transcript.Usage{}) && spent.Natural() {
		t.usage = spent
		t.s.counted = own
		return
	}
	t.usage.CostUSD = max(0, own.CostUSD-t.before.CostUSD)
	t.s.counted.CostUSD = own.CostUSD
}

func (t *turn) finish(err error) {
	t.release()
	t.done, t.err = true, err
	t.reply.Text = strings.Join(t.text, "\n\n")
	t.reply.Usage = t.usage
	if t.form != nil && err == nil {
		t.reply.Structured = t.form.Find(t.reply.Text)
	}
	t.s.turn = nil
}

// Reply is the outcome.
func (t *turn) Reply() agent.Reply {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.reply
}

// encodeMessage makes the line that the program reads. A slash at the very
// beginning would make a command of it, whatever the flags say; a blank in
// front keeps it words.
//
// The program takes one schema per process, on the command line, where words of
// a conversation do not belong; a session has one per message. So the form of
// an answer is asked for in the message itself.
func encodeMessage(m agent.Message, form *structured.Form, commands bool) ([]byte, error) {
	text := m.Text
	if !commands && strings.HasPrefix(text, "/") {
		text = " " + text
	}
	if form != nil {
		text += form.Request()
	}
	var content any = text
	if len(m.Images) > 0 {
		blocks := []any{map[string]any{"type": "text", "text": text}}
		for _, img := range m.Images {
			blocks = append(blocks, map[string]any{"type": "image", "source": map[string]any{
				"type": "base64", "media_type": img.Type, "data": base64.StdEncoding.EncodeToString(img.Data)}})
		}
		content = blocks
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]any{"type": "user",
		"message": map[string]any{"role": "user", "content": content}}); err != nil {
		return nil, fmt.Errorf("send to claude: encode message: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
