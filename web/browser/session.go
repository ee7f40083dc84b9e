package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Session writes a session file line by line, in the shape that Claude Code gives
// it, with words that a test chooses in every place where words can stand.
type Session struct {
	ID, Dir, Model, Branch string
	At                     time.Time

	buf    bytes.Buffer
	parent string
	n      int
}

// NewSession begins one: the number makes its id.
func NewSession(number int, at time.Time) *Session {
	s := &Session{ID: fmt.Sprintf("%08x-b00b-4000-8000-%012x", number, number), Dir: "/home/ada/work/proj",
		Model: "claude-opus-5-5", Branch: "main", At: at}
	// What a file is, is told by its beginning: the program's own first line is short.
	fmt.Fprintf(&s.buf, `{"type":"queue-operation","operation":"dequeue","timestamp":%q,"sessionId":%q}`+"\n",
		at.UTC().Format("2006-01-02T15:04:05.000Z"), s.ID)
	return s
}

func (s *Session) line(members map[string]any) *Session {
	s.n++
	id := fmt.Sprintf("%08x-%04x-4000-8000-%s", s.n, s.n&0xffff, s.ID[24:])
	s.At = s.At.Add(time.Second)
	all := map[string]any{"parentUuid": nil, "isSidechain": false, "uuid": id, "userType": "external",
		"timestamp": s.At.UTC().Format("2006-01-02T15:04:05.000Z"),
		"cwd":       s.Dir, "sessionId": s.ID, "version": "2.1.325", "gitBranch": s.Branch}
	if s.parent != "" {
		all["parentUuid"] = s.parent
	}
	for k, v := range members {
		all[k] = v
	}
	s.parent = id
	out := json.NewEncoder(&s.buf)
	out.SetEscapeHTML(false)
	if err := out.Encode(all); err != nil {
		panic(err) // maps of strings and numbers
	}
	return s
}

// Prompt is what a person says.
func (s *Session) Prompt(text string) *Session {
	return s.line(map[string]any{"type": "user", "promptId": fmt.Sprint("p", s.n),
		"message": map[string]any{"role": "user", "content": text}})
}

func (s *Session) answer(stop string, block map[string]any) *Session {
	usage := map[string]any{"input_tokens": 90, "output_tokens": 40, "cache_read_input_tokens": 300,
		"cache_creation_input_tokens": 10}
	return s.line(map[string]any{"type": "assistant", "requestId": fmt.Sprintf("req_%s_%d", s.ID[:8], s.n),
		"message": map[string]any{"id": fmt.Sprintf("msg_%s_%d", s.ID[:8], s.n), "type": "message", "role": "assistant",
			"model": s.Model, "content": []any{block}, "stop_reason": stop, "usage": usage}})
}

// Say is what the agent answers at the end of a turn.
func (s *Session) Say(text string) *Session {
	return s.answer("end_turn", map[string]any{"type": "text", "text": text})
}

// Think is what it thinks.
func (s *Session) Think(text string) *Session {
	return s.answer("tool_use", map[string]any{"type": "thinking", "thinking": text, "signature": "bW9jaw=="})
}

// Call is a call of a tool, with its result.
func (s *Session) Call(tool string, input map[string]any, result string, failed bool) *Session {
	id := fmt.Sprintf("toolu_%s_%d", s.ID[:8], s.n)
	s.answer("tool_use", map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
	return s.line(map[string]any{"type": "user", "message": map[string]any{"role": "user",
		"content": []any{map[string]any{"tool_use_id": id, "type": "tool_result", "content": result, "is_error": failed}}}})
}

// Lines takes what was written since it was last asked.
func (s *Session) Lines() []byte {
	defer s.buf.Reset()
	return bytes.Clone(s.buf.Bytes())
}

// File is where the session lies in a world.
func (s *Session) File(w World) string {
	return filepath.Join(w.Home, ".claude", "projects", "-home-ada-work-proj", s.ID+".jsonl")
}

// Keep appends what was written since to the session's file.
func (s *Session) Keep(w World) error {
	path := s.File(w)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(s.Lines())
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// Long is a session of so many entries, or a few more: questions, thoughts, calls
// with their results, some of which failed, and answers in Markdown.
func Long(number, entries int, at time.Time) *Session {
	s := NewSession(number, at)
	for made := 0; made < entries; made += 7 {
		turn := made / 7
		s.Prompt(fmt.Sprintf("Question %d: what of the counter in part %d is slow?", turn, turn%97))
		s.Think(fmt.Sprintf("I look at part %d first, then at its neighbours.", turn%97))
		s.Call("Read", map[string]any{"file_path": fmt.Sprintf("/home/ada/work/proj/part%d.go", turn%97)},
			fmt.Sprintf("1\tpackage part%d\n2\t\n3\tfunc Count() int { return %d }\n", turn%97, turn), false)
		s.Call("Edit", map[string]any{"file_path": fmt.Sprintf("/home/ada/work/proj/part%d.go", turn%97),
			"old_string": fmt.Sprintf("return %d", turn), "new_string": fmt.Sprintf("return %d // counted", turn+1)},
			"The file was updated.", turn%50 == 49)
		s.Say(fmt.Sprintf("**Done** with question %d.\n\n- part `%d` counts once\n- nothing else changed\n\nmarker-%d",
			turn, turn%97, turn))
	}
	return s
}
