package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Run serves one client over any transport.
func Run(ctx context.Context, s *Server, t sdk.Transport) error {
	err := s.sdk.Run(ctx, t)
	s.drain()
	return err
}
