package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Run serves one client over any transport.
func Run(ctx context.Context, s *Server, t sdk.Transport) error {
	err := s.sdk.Run(ctx, t)
	s.drain()
	return err
}

// HurryBodies gives bodies less time.
func HurryBodies(d time.Duration) (undo func()) {
	was := bodyTime
	bodyTime = d
	return func() { bodyTime = was }
}

// Limits of a server.
const MaxMessage, MaxSessions = maxMessage, maxSessions
