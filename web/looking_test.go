package web

import (
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app"
)

// TestLookingChangesNothing: whatever is looked at, the workspace is afterwards what it
// was, to the times of its directories.
func TestLookingChangesNothing(t *testing.T) {
	p := serveWith(t, Options{ReadOnly: true}, func(s *Server) {
		if _, err := s.app.NewTable("weir", app.DefaultAdventure, nil); err != nil {
			t.Fatal(err)
		}
	})
	standing := func() map[string]time.Time {
		all := map[string]time.Time{}
		err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() == "locks" { // where processes ask who works here
				return err
			}
			info, err := d.Info()
			if err == nil && !strings.HasSuffix(path, ".conclave") { // it may be made for the locks
				all[path] = info.ModTime()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before, looked := standing(), 0
	for _, r := range p.s.routes.list {
		method, path, _ := strings.Cut(r.pattern, " ")
		if method != http.MethodGet || strings.Contains(path, "stream") {
			continue
		}
		path = strings.NewReplacer("{table}", "weir", "{name}", "weir", "{turn}", "t1", "{n}", "0", "{run}", "x").Replace(path)
		if res, body := p.do(p.request(method, path, nil, nil)); res.StatusCode == http.StatusOK {
			looked++
		} else if strings.HasPrefix(path, "/api/table/") && !strings.HasSuffix(path, "/audit") {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
		if now := standing(); !maps.Equal(now, before) {
			for name, at := range now {
				if !at.Equal(before[name]) {
					t.Errorf("%s has changed %s", path, name)
				}
			}
			before = now
		}
	}
	if _, err := os.Stat(filepath.Join(p.root, "campaigns", "weir")); err != nil || looked < 8 {
		t.Errorf("only %d addresses were looked at: %v", looked, err)
	}
}
