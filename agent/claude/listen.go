package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/session/claude"
	"conclave/transcript"
)

// listen acts on one line of stdout.
func (s *driven) listen(line []byte) error {
	line = bytes.TrimSuffix(line, []byte("\n"))
	var m said
	if err := json.Unmarshal(line, &m); err != nil && m.Type == "" {
		s.strange["stdout: not JSON"]++
		return s.onlySaid(line, "not JSON")
	}
	switch m.Type {
	case "assistant", "user":
		s.expect(m, line)
	case "stream_event":
		s.delta(m)
	case "system":
		s.system(m, line)
	case "control_response":
		var r struct {
			RequestID string `json:"request_id"`
		}
		_ = json.Unmarshal(m.Response, &r) // an answer to nobody is kept as bytes
		m.Response = bytes.Clone(m.Response)
		s.replies[r.RequestID] = m
	case "control_request":
		return s.refuse(m)
	case "result":
		s.ended(m)
	default:
		if !slices.Contains(stdoutTypes, m.Type) {
			s.strange["stdout: "+m.Type]++
		}
	}
	return nil
}

// expect notes that a line must turn up in a file.
func (s *driven) expect(m said, line []byte) {
	if m.UUID == "" {
		return
	}
	if s.inFiles[m.UUID] {
		delete(s.inFiles, m.UUID)
		return
	}
	s.waiting[m.UUID] = line
}

func (s *driven) delta(m said) {
	if s.turn == nil || m.Event == nil || m.Parent != nil && *m.Parent != "" {
		return
	}
	if m.Event.Type == "content_block_delta" && m.Event.Delta.Type == "text_delta" && m.Event.Delta.Text != "" {
		s.turn.speak(m.Event.Delta.Text)
	}
}

func (s *driven) system(m said, line []byte) {
	switch m.Subtype {
	case "init": // again at the beginning of each turn
		s.busy, s.taskEnded = true, time.Time{}
		s.info.Version = m.Version
		if m.Model != "" {
			s.info.Model = m.Model
		}
	case "compact_boundary":
		s.expect(m, line)
	case "status":
		if m.Status == "requesting" {
			s.taskEnded = time.Time{} // the model hears of it now
		}
	case "task_started":
		if m.TaskType == "" || strings.HasSuffix(m.TaskType, "_agent") {
			s.tasks[m.TaskID] = true
		}
	case "task_updated", "task_notification":
		switch m.Status + m.Patch.Status {
		case "", "running", "pending":
		default:
			if s.tasks[m.TaskID] {
				delete(s.tasks, m.TaskID)
				s.taskEnded = time.Now()
			}
		}
	}
}

// ended notes the end of a turn of the program. It begins further ones by
// itself when agents in the background are done, and says so in the origin of
// their result; a turn of ours lasts until the last of them.
func (s *driven) ended(m said) {
	s.busy = false
	if s.turn == nil {
		s.counted = s.counted.Most(claude.ModelUsage(m.ModelUsage))
		return
	}
	t, r := s.turn, m.result
	own := r.Origin == nil || r.Origin.Kind != "task-notification"
	t.answered = t.answered || own
	t.settleBy = time.Time{}
	if t.result == nil || own || !t.result.IsError {
		t.result, t.subtype = &r, m.Subtype
	}
	t.result.ModelUsage, t.result.CostUSD = r.ModelUsage, r.CostUSD
}

// quiet says that the program is neither at work nor about to be: no turn of
// its own runs, no agent, and none has ended of which the model has yet to
// hear.
func (s *driven) quiet() bool {
	heard := s.taskEnded.IsZero() || time.Since(s.taskEnded) > followWait
	return !s.busy && len(s.tasks) == 0 && heard
}

// followWait is how long the program gets to take up the news of an agent that
// ended in the background; it takes some milliseconds.
const followWait = 2 * time.Second

// refuse answers what the program asks of its driver: permissions and the
// like are settled by flags, nothing is granted here.
func (s *driven) refuse(m said) error {
	line, err := json.Marshal(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "error", "request_id": m.RequestID, "error": "this session grants nothing on request"}})
	if err != nil {
		return err
	}
	_ = s.write(line) // a program that is gone is noticed elsewhere
	return nil
}

// onlySaid records a line of stdout that no file holds.
func (s *driven) onlySaid(line []byte, why string) error {
	it := claude.OnlySaid(line, why)
	it.SessionID = s.info.SessionID
	return s.emit(it)
}

// reconcile records what was said on stdout and written to no file.
func (s *driven) reconcile() error {
	for uuid, line := range s.waiting {
		delete(s.waiting, uuid)
		s.strange["said on stdout, in no session file"]++
		if err := s.onlySaid(line, "in no session file"); err != nil {
			return err
		}
	}
	return nil
}

// balance records what the program counted beyond the messages in its files,
// once those are read to the end: so the entries of a session sum up to what
// the program says itself.
func (s *driven) balance() error {
	missing := s.counted.Beyond(s.recorded).Tokens()
	if missing == (transcript.Usage{}) || !missing.Natural() {
		return nil
	}
	return s.emit(transcript.Item{Type: transcript.TokenUsage, SessionID: s.info.SessionID,
		Detail: append(missing.AppendJSON([]byte(unwritten)), '}')})
}

// unwritten begins the detail of such an entry.
const unwritten = `{"subtype":"unwritten","reason":"counted by the program, in no session file","usage":`

func controlError(response json.RawMessage) error {
	var r struct{ Subtype, Error string }
	if err := json.Unmarshal(response, &r); err != nil {
		return fmt.Errorf("read the program's answer: %w", err)
	}
	if r.Subtype == "error" {
		return fmt.Errorf("the program refused: %s", r.Error)
	}
	return nil
}
