package web

// actRoutes are those that act beside the verbs.
func (s *Server) actRoutes(*routes) {}
