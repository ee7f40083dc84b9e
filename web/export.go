package web

import (
	"net/http"
)

// maxExports is how many runs are given at once.
const maxExports = 16

var exportTypes = map[string]string{
	"html": "text/html", "csv": "text/csv", "md": "text/markdown", "jsonl": "application/jsonl",
}

var errExports = &problem{http.StatusTooManyRequests, "usage",
	"too many runs are being exported: wait until one is done"}

// exportRun gives a run as a file to keep. Who takes it slowly holds nothing of the
// library: see archive.Entries.
func (s *Server) exportRun(w http.ResponseWriter, r *http.Request) (any, error) {
	l, err := s.library(r.Context())
	if err != nil {
		return nil, err
	}
	id, format := r.PathValue("run"), r.FormValue("format")
	kind := exportTypes[format]
	if kind == "" {
		return nil, badRequest("format %q: html, csv, md or jsonl", format)
	}
	if _, err := l.RunIndex(r.Context(), id, 0, "look"); err != nil {
		return nil, notThere(r, err)
	}
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	default:
		return nil, errExports
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="run.`+format+`"`)
	if err := l.ExportRun(r.Context(), id, format, w); err != nil {
		panic(http.ErrAbortHandler) // a file that ends too early must not look whole
	}
	return nil, nil
}
