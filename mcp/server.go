package mcp

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/app"
)

const (
	maxMessage = 4 << 20 // bytes of one message
	maxCalls   = 8       // at once
)

// Server serves the tools of one workspace to any number of clients.
type Server struct {
	app   *app.App // with Remote
	sdk   *sdk.Server
	calls chan struct{} // held by every call
	quest chan struct{} // held by the one call that is at the quest
	posts posts         // requests over HTTP that carry calls
}

// New makes a server of an app that was made for a caller (app.Remote.Here).
func New(a *app.App) *Server {
	s := &Server{app: a, calls: make(chan struct{}, maxCalls), quest: make(chan struct{}, 1)}
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "conclave", Title: "Conclave", Version: a.Version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}})
	s.addParty()
	s.addJudges()
	s.addGate()
	s.addLooks()
	s.addArchive()
	s.addResources()
	return s
}

const instructions = `Conclave keeps a party of advisors and judges, each in a sealed room of its own.
Ask advisors with consult or council. Have work judged with checkpoint, confront or gate: the judge sees the
criteria and the work you name and nothing of what you say or think, and you get its verdict, never its room.
Every answer has "exit": 0 done, 1 the answer is no, 2 the call makes no sense, 3 something is missing here or it
could not be judged. Only 0 is yes. What needs the person is said in "error": tell them.`

// Serve speaks the protocol over a pair of streams until the client ends it, or
// ctx does.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, out = byLine(in, out)
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxMessage + 1})
	s.drain()
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	if err != nil {
		return app.ErrorOf(app.Environment, "the client and the server understand each other no more: %w", err)
	}
	return nil
}

// drain waits for the calls that are under way: their contexts have ended, and
// their rooms are closed before the process is.
func (s *Server) drain() {
	for range maxCalls {
		s.calls <- struct{}{}
	}
	for range maxCalls {
		<-s.calls
	}
}

// take waits for a place, and for the quest where the call is for it.
func (s *Server) take(ctx context.Context, quest bool, waits func()) (leave func(), err error) {
	select {
	case s.calls <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !quest {
		return func() { <-s.calls }, nil
	}
	select {
	case s.quest <- struct{}{}:
	default:
		waits()
		select {
		case s.quest <- struct{}{}:
		case <-ctx.Done():
			<-s.calls
			return nil, context.Cause(ctx)
		}
	}
	return func() { <-s.quest; <-s.calls }, nil
}
