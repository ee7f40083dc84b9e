package toolbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/internal/schema"
)

// Tool is one thing that an agent can do.
type Tool struct {
	Name        string // letters, digits, "_" and "-"
	Description string
	// Schema describes the input, an object; empty means one without members.
	Schema json.RawMessage
	// Handle does it. The input fits the schema. The text is what the agent is
	// told; so is an error, and then the tool has not done its work.
	Handle func(ctx context.Context, input json.RawMessage) (string, error)
}

// Events keeps log records; a *transcript.Emitter does.
type Events interface {
	Event(level slog.Level, event, message string, context any) error
}

// Options configure a Toolbox. Its zero value serves no tools to nobody.
type Options struct {
	Tools []Tool
	// Token is what a program shows to be served over HTTP; without one none is.
	Token string

	MaxCalls int // of all tools together, in one turn; zero means 200
	MaxInput int // bytes of one input; zero means 1 MiB

	Events Events // nil: calls are only counted
}

// Toolbox holds the tools of one room. It is safe for concurrent use.
type Toolbox struct {
	opts  Options
	tools map[string]*tool
	names []string

	run sync.Mutex // held while a tool runs

	mu     sync.Mutex
	taken  int // calls so far, which number them
	before int // of them, before this turn
	calls  []Call
	err    error
}

type tool struct {
	Tool
	schema *schema.Schema
}

// Call is a call that was made, for the receipt.
type Call struct {
	Tool        string `json:"tool"`
	InputSHA256 string `json:"input_sha256"`
	InputBytes  int    `json:"input_bytes"`
	Refused     bool   `json:"refused,omitempty"` // it never reached the tool
	Error       string `json:"error,omitempty"`
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// New returns a toolbox, or says which tool is faulty.
func New(o Options) (*Toolbox, error) {
	o.MaxCalls = cmp.Or(o.MaxCalls, 200)
	o.MaxInput = cmp.Or(o.MaxInput, 1<<20)
	t := &Toolbox{opts: o, tools: map[string]*tool{}}
	for _, def := range o.Tools {
		switch {
		case !toolName.MatchString(def.Name):
			return nil, fmt.Errorf("open toolbox: tool name %q: use 1 to 64 letters, digits, _ and -", def.Name)
		case t.tools[def.Name] != nil:
			return nil, fmt.Errorf("open toolbox: tool %q is there twice", def.Name)
		case def.Handle == nil:
			return nil, fmt.Errorf("open toolbox: tool %q does nothing: it needs a Handle", def.Name)
		}
		if len(def.Schema) == 0 {
			def.Schema = json.RawMessage(`{"type":"object","additionalProperties":false}`)
		}
		s, err := schema.Compile(def.Schema)
		if err != nil {
			return nil, fmt.Errorf("open toolbox: schema of tool %q: %w", def.Name, err)
		}
		if !slices.Equal(s.Types(), []string{"object"}) {
			return nil, fmt.Errorf("open toolbox: schema of tool %q: its type must be object", def.Name)
		}
		t.tools[def.Name] = &tool{def, s}
		t.names = append(t.names, def.Name)
	}
	return t, nil
}

// Names are the tools, in the order in which they were given.
func (t *Toolbox) Names() []string { return slices.Clone(t.names) }

// Offers are the tools as an agent of this process is told of them.
func (t *Toolbox) Offers() []agent.ToolOffer {
	var out []agent.ToolOffer
	for _, name := range t.names {
		tool := t.tools[name]
		out = append(out, agent.ToolOffer{Name: name, Description: tool.Description, Schema: tool.Tool.Schema})
	}
	return out
}

// BeginTurn begins to count anew: the limit on calls is a turn's, and Calls are
// its own. Numbers on the record go on.
func (t *Toolbox) BeginTurn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before, t.calls = t.taken, nil
}

// Calls are those that were made in this turn, in order.
func (t *Toolbox) Calls() []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

// Err is why recording stopped, if it did.
func (t *Toolbox) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// ErrUnknown is returned for a tool that is not there.
var ErrUnknown = errors.New("no such tool")

// CallTool runs one tool, if the input fits and the limits allow it. An error
// is written for the agent.
func (t *Toolbox) CallTool(ctx context.Context, name string, input json.RawMessage) (string, error) {
	t.run.Lock()
	defer t.run.Unlock()
	if len(input) == 0 || string(input) == "null" {
		input = json.RawMessage("{}")
	}
	c := Call{Tool: name, InputSHA256: fmt.Sprintf("%x", sha256.Sum256(input)), InputBytes: len(input)}
	n, err := t.take()
	if err != nil {
		return "", err
	}
	tool, fault := t.admit(name, input)
	c.Refused = fault != nil
	if err := t.recordCall(n, c, input); err != nil {
		return "", err
	}
	var text string
	if err = fault; err == nil {
		text, err = tool.do(ctx, input)
	}
	return t.settle(n, c, text, err)
}

// do runs the tool. One that panics has failed like any other: the server
// would swallow it, and the record would lack its end.
func (t *tool) do(ctx context.Context, input json.RawMessage) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("the tool %s broke: %v", t.Name, p)
		}
	}()
	return t.Handle(ctx, input)
}

var errRecord = errors.New("the record cannot be written, and nothing happens unrecorded: the turn has to stop")

// take counts a call.
func (t *Toolbox) take() (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return 0, errRecord
	}
	t.taken++
	if t.taken-t.before > t.opts.MaxCalls {
		return 0, fmt.Errorf("all %d tool calls of this turn are used up: end the turn with what there is", t.opts.MaxCalls)
	}
	return t.taken, nil
}

// admit says why a call does not reach its tool.
func (t *Toolbox) admit(name string, input []byte) (*tool, error) {
	tool := t.tools[name]
	if tool == nil {
		return nil, fmt.Errorf("%w: %.80q (there are: %s)", ErrUnknown, name, strings.Join(t.names, ", "))
	}
	if len(input) > t.opts.MaxInput {
		return nil, fmt.Errorf("the input of %s has %d bytes, and %d are allowed: shorten it", name, len(input), t.opts.MaxInput)
	}
	if err := tool.schema.Check(input); err != nil {
		return nil, fmt.Errorf("the input of %s does not fit: %w", name, err)
	}
	return tool, nil
}

// The events of a call on the record.
const (
	EventCall   = "tool.call"
	EventResult = "tool.result"
)

// CallEvent is the stored form of the first. Within a version fields are only
// added, also to the second.
type CallEvent struct {
	Call  int    `json:"call"`
	Tool  string `json:"tool"`
	SHA   string `json:"input_sha256"`
	Bytes int    `json:"input_bytes"`
	Input string `json:"input"`
}

// ResultEvent is the stored form of the second.
type ResultEvent struct {
	Call    int    `json:"call"`
	Tool    string `json:"tool"`
	Result  string `json:"result"`
	Refused bool   `json:"refused"`
	IsError bool   `json:"is_error"`
}

// recordCall puts the call on the record before the tool runs. An input that
// is too large is there by its beginning, size and digest.
func (t *Toolbox) recordCall(n int, c Call, input []byte) error {
	if len(input) > t.opts.MaxInput {
		input = input[:min(len(input), 4096)]
	}
	name := c.Tool[:min(len(c.Tool), 200)]
	return t.event(EventCall, "a tool is called", CallEvent{n, name, c.InputSHA256, c.InputBytes, string(input)})
}

// settle puts the outcome on the record and only then gives it.
func (t *Toolbox) settle(n int, c Call, text string, err error) (string, error) {
	e := ResultEvent{n, c.Tool[:min(len(c.Tool), 200)], text, c.Refused, err != nil}
	if err != nil {
		e.Result, c.Error = err.Error(), err.Error()
	}
	if rerr := t.event(EventResult, "a tool has answered", e); rerr != nil {
		return "", rerr
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
	return text, err
}

func (t *Toolbox) event(event, message string, context any) error {
	if t.opts.Events == nil {
		return nil
	}
	err := t.opts.Events.Event(slog.LevelDebug, event, message, context)
	if err == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = fmt.Errorf("record a tool call: %w", err)
	}
	return errRecord
}
