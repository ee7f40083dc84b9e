package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// Every role that the page offers has a room as it would be, and a list in it that
// has nothing is an empty one.
func TestRoomOfEveryRole(t *testing.T) {
	p := serve(t, Options{})
	if err := os.WriteFile(filepath.Join(p.root, "work.md"), []byte("what was done\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var offered struct{ Roles []struct{ Role string } }
	p.get("GET", "/api/policy", nil, http.StatusOK, &offered)
	if len(offered.Roles) < 10 {
		t.Fatalf("%d roles are offered", len(offered.Roles))
	}
	for _, r := range offered.Roles {
		var room map[string]json.RawMessage
		q := url.Values{"role": {r.Role}}
		if r.Role == "guardian" || r.Role == "dragon" { // who judges, judges work
			q.Set("work", "work.md")
		}
		p.get("GET", "/api/room?"+q.Encode(), nil, http.StatusOK, &room)
		for _, name := range []string{"given", "denied", "held_back"} {
			var list []any
			if err := json.Unmarshal(room[name], &list); err != nil || list == nil {
				t.Errorf("%s: %s is %s, want a list (%v)", r.Role, name, room[name], err)
			}
		}
	}
}
