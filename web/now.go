package web

import (
	"encoding/json"
	"net/http"

	"conclave/app"
)

// now is what runs or waits for a person, the jobs of this server among it.
func (s *Server) now(l *app.Library, r *http.Request) (any, error) {
	items, err := l.Now(r.Context(), s.jobs.now())
	return map[string]any{"items": items, "workspaces": l.Workspaces()}, err
}

// now are the jobs that run.
func (j *jobs) now() (list []app.NowJob) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, t := range j.list {
		if n, ok := t.now(); ok {
			list = append(list, n)
		}
	}
	return list
}

func (t *job) now() (n app.NowJob, runs bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n = app.NowJob{ID: t.state.Job, Verb: t.state.Verb, Args: t.state.Args, Began: t.state.Began}
	if asked := t.state.Questions; len(asked) > 0 {
		n.Asked = true
		var q struct{ Text string }
		_ = json.Unmarshal(asked[0].Question, &q) // made here of an app.Question
		n.Question = q.Text
	}
	return n, t.state.Ended == nil
}
