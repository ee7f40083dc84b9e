package web

import "context"

// readRoutes are those that show what is recorded.
func (s *Server) readRoutes(*routes) {}

// live tells the stream what grows, until ctx ends.
func (s *Server) live(context.Context) {}
