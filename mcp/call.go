package mcp

import (
	"context"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/app"
)

// answer begins every structured answer.
type answer struct {
	Exit     int      `json:"exit" jsonschema:"0 done, 1 the answer is no, 2 a wrong call, 3 something is missing here"`
	Error    string   `json:"error,omitempty" jsonschema:"what went wrong, and what to do about it"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"what the person should hear of"`
	Leaks    []leak   `json:"leaks,omitempty" jsonschema:"words of the party in what the judge would read"`
}

// leak is a passage that keeps a judge from being asked.
type leak struct {
	Where   string `json:"where" jsonschema:"a file of the work, or what it stands in"`
	Line    int    `json:"line" jsonschema:"0: the name of the file holds the words"`
	EndLine int    `json:"end_line"`
	Source  string `json:"source" jsonschema:"whose words they are"`
}

func (a *answer) base() *answer { return a }

// answered is a pointer to a structured answer.
type answered[T any] interface {
	*T
	base() *answer
}

// kind is what a tool does to the workspace.
type kind int

const (
	looks  kind = iota // and changes nothing
	atWork             // and runs agents or writes; one at a time
)

// add makes a verb a tool. do fills the answer and returns a text of a few lines.
func add[In, Out any, P answered[Out]](
	s *Server, name, title, about string, what kind,
	do func(ctx context.Context, a *app.App, in In, out P) (string, error),
) {
	no := false
	tool := &sdk.Tool{Name: name, Title: title, Description: about, Annotations: &sdk.ToolAnnotations{
		Title: title, ReadOnlyHint: what == looks, DestructiveHint: &no,
	}}
	if schema, ok := outputs[name]; ok {
		tool.OutputSchema = schema
	}
	handle := func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		out := P(new(Out))
		ctx, end := s.posts.follow(ctx, req)
		defer end()
		h := newHearer(ctx, req)
		leave, err := s.take(ctx, what == atWork, func() { h.say("waiting: another call is at the quest") })
		var text string
		if err == nil {
			text, err = do(ctx, s.app.ForCall(callerOf(req), h.show), in, out)
			leave()
		}
		out.base().Warnings = append(out.base().Warnings, h.close()...)
		return finish(ctx, out.base(), text, err), *out, nil
	}
	sdk.AddTool(s.sdk, tool, handle)
}

// finish gives an answer its exit, and says whether the call failed.
func finish(ctx context.Context, a *answer, text string, err error) *sdk.CallToolResult {
	failed := false
	if err != nil {
		a.Exit = exitOf(err)
		for _, l := range app.LeaksOf(err) {
			a.Leaks = append(a.Leaks, leak{l.Where, l.Line, l.EndLine, l.Source})
		}
		if failed = !app.Said(err); failed {
			a.Error = err.Error()
			if ctx.Err() != nil {
				a.Error = "the call was cancelled"
			}
			text = strings.TrimSpace(text + "\n" + a.Error)
		}
	}
	if text == "" {
		text = "done"
	}
	return &sdk.CallToolResult{IsError: failed, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// exitOf is the exit code that a command would have.
func exitOf(err error) int {
	switch app.KindOf(err) {
	case app.No:
		return 1
	case app.Usage:
		return 2
	}
	return 3
}

// callerOf is what the client calls itself.
func callerOf(req *sdk.CallToolRequest) string {
	if info := req.ClientInfo(); info != nil {
		return strings.TrimSpace(info.Name + " " + info.Version)
	}
	return ""
}

// maxHeard bounds the warnings of one call, and the progress that waits to be sent.
const maxHeard = 32

// hearer turns the events of a verb into progress, if the client asked for it,
// and keeps its warnings. What an agent says is no progress: it comes whole with
// the answer, or is nobody's.
type hearer struct {
	req      *sdk.CallToolRequest
	token    any
	mu       sync.Mutex
	warnings []string
	queue    chan *sdk.ProgressNotificationParams
	sent     chan struct{}
	closed   bool
}

func newHearer(ctx context.Context, req *sdk.CallToolRequest) *hearer {
	h := &hearer{req: req, token: req.Params.GetProgressToken()}
	if h.token == nil {
		return h
	}
	h.queue, h.sent = make(chan *sdk.ProgressNotificationParams, maxHeard), make(chan struct{})
	go func() {
		defer close(h.sent)
		n := 0.0
		for p := range h.queue {
			n++
			p.Progress = n
			_ = req.Session.NotifyProgress(ctx, p) // who has gone hears nothing
		}
	}()
	return h
}

func (h *hearer) show(e app.Event) {
	switch e := e.(type) {
	case app.Warning:
		h.mu.Lock()
		if len(h.warnings) < maxHeard {
			h.warnings = append(h.warnings, e.Text.String())
		}
		h.mu.Unlock()
		h.say(e.Text.String())
	case app.Aside:
		h.say(e.Text.String())
	case app.Speech:
		if e.Part == app.Whole {
			h.say(e.Name + " has spoken")
		}
	case app.Progress:
		h.say(e.What)
	}
}

// say sends a line of progress, unless too many wait already.
func (h *hearer) say(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.queue == nil || h.closed || text == "" {
		return
	}
	select {
	case h.queue <- &sdk.ProgressNotificationParams{ProgressToken: h.token, Message: text}:
	default:
	}
}

// close ends the progress before the answer is sent, and returns the warnings.
func (h *hearer) close() []string {
	h.mu.Lock()
	h.closed = true
	if h.queue != nil {
		close(h.queue)
	}
	h.mu.Unlock()
	if h.sent != nil {
		<-h.sent
	}
	return h.warnings
}
