package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// offeredRole is a role for which the page offers to plan a room.
type offeredRole struct {
	Role    string
	AtTable bool `json:"at_table"`
}

func (p *served) offeredRoles() (roles []offeredRole) {
	p.t.Helper()
	var all struct{ Roles []offeredRole }
	p.get("GET", "/api/policy", nil, http.StatusOK, &all)
	roles = slices.DeleteFunc(all.Roles, func(r offeredRole) bool { return r.AtTable })
	if len(roles) < 10 {
		p.t.Fatalf("%d roles are offered", len(roles))
	}
	return roles
}

// Every role that the page offers has a room as it would be, and a list in it that
// has nothing is an empty one.
func TestRoomOfEveryRole(t *testing.T) {
	p := serve(t, Options{})
	if err := os.WriteFile(filepath.Join(p.root, "work.md"), []byte("what was done\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, r := range p.offeredRoles() {
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

// Who asks for a room of nobody is told every role that there is one for.
func TestRoomOfNobody(t *testing.T) {
	p := serve(t, Options{})
	var refused struct{ Error struct{ Text string } }
	p.get("GET", "/api/room?role=nobody", nil, http.StatusBadRequest, &refused)
	_, names, _ := strings.Cut(refused.Error.Text, "there are ")
	for _, r := range p.offeredRoles() {
		if !slices.Contains(strings.Split(names, ", "), r.Role) {
			t.Errorf("%q does not name %s", refused.Error.Text, r.Role)
		}
	}
	if strings.Contains(names, "player") {
		t.Errorf("%q names a role that is refused", refused.Error.Text)
	}
}
