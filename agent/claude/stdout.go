package claude

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
)

// queue holds the lines that the program wrote and nobody has looked at yet.
// The program must never wait for a reader, so it has no bound but the
// session's own talk.
type queue struct {
	mu    sync.Mutex
	lines [][]byte
	ended bool
	wake  chan struct{} // has one token while there is news
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// fill reads r to its end, line by line whatever their length; a rest without
// a newline is a line too.
func (q *queue) fill(r io.Reader) {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := br.ReadBytes('\n')
		q.mu.Lock()
		if len(line) > 0 {
			q.lines = append(q.lines, line)
		}
		q.ended = err != nil
		q.mu.Unlock()
		q.poke()
		if err != nil {
			return
		}
	}
}

func (q *queue) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns the next line with its newline, or nil; ended says that there
// will be no more.
func (q *queue) take() (line []byte, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 {
		return nil, q.ended
	}
	line = q.lines[0]
	q.lines = q.lines[1:]
	return line, false
}

// said is a line of stdout, as far as the driver looks at it.
type said struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	UUID      string          `json:"uuid"`
	RequestID string          `json:"request_id"`
	Parent    *string         `json:"parent_tool_use_id"`
	Response  json.RawMessage `json:"response"`
	Event     *struct {
		Type  string
		Delta struct{ Type, Text string }
	} `json:"event"`

	// system/init
	SessionID string `json:"session_id"`
	Version   string `json:"claude_code_version"`
	Model     string `json:"model"`

	// system/task_*
	TaskID   string `json:"task_id"`
	TaskType string `json:"task_type"`
	Status   string `json:"status"`
	Patch    struct {
		Status string `json:"status"`
	} `json:"patch"`

	result
}

// result is the line that ends a turn.
type result struct {
	IsError    bool            `json:"is_error"`
	Text       string          `json:"result"`
	APIStatus  int             `json:"api_error_status"`
	Reason     string          `json:"terminal_reason"`
	CostUSD    float64         `json:"total_cost_usd"`
	ModelUsage json.RawMessage `json:"modelUsage"`
	Errors     []string        `json:"errors"`
	Origin     *struct {
		Kind string
	} `json:"origin"`
}

// stdoutTypes are the types of lines that this driver knows, whether or not it
// does anything with them.
var stdoutTypes = []string{"system", "assistant", "user", "result", "stream_event", "control_request",
	"control_response", "control_cancel_request", "tool_progress", "auth_status", "keep_alive",
	"rate_limit_event", "tool_use_summary", "prompt_suggestion", "streamlined_text", "streamlined_tool_use_summary"}
