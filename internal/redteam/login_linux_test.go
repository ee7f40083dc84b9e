package redteam

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/sample"
	"conclave/internal/vendorstub"
	"conclave/policy"
	"conclave/room"
	"conclave/seat"
)

// byLogin are the programs in a room that is sealed but for a forwarder, where a
// login of nobody's was lent: a way to the vendor is no way to anything else.
func byLogin(t *testing.T) []member {
	t.Helper()
	claudePath, err := clients.Claude(clients.ClaudeNew)
	must(t, err)
	codexPath, err := clients.Codex()
	must(t, err)
	const authority = "/room/work/authority.pem"
	lent, err := claude.Lend(vendorstub.ClaudeLogin().Getenv)
	must(t, err)
	native := nativeOf(t, "claude", claudePath)
	made := claude.New(claude.Config{Program: native, Env: []string{"NODE_EXTRA_CA_CERTS=" + authority}})
	crew := []member{{with: "Claude Code by login", Agent: made, programs: []string{filepath.Dir(native)},
		kind: gateway.Anthropic, tool: shellTool{"Bash", "Bash", "command", ""}, lent: lent}}

	own, err := vendorstub.CodexLogin(t.TempDir())
	must(t, err)
	lent, err = codex.Lend(own.Getenv, time.Now())
	must(t, err)
	native = nativeOf(t, "codex", codexPath)
	program, err := codex.New(codex.Options{Program: native, Env: []string{"SSL_CERT_FILE=" + authority}})
	must(t, err)
	return append(crew, member{with: "Codex by login", Agent: program, programs: []string{filepath.Dir(native)},
		kind: gateway.OpenAI, tool: shellTool{"shell", "exec_command", "cmd", ""}, lent: lent})
}

// borrowers plays the red team in rooms with a login: as root and as an ordinary
// user, with each program, as each role that may have one. What is drawn is drawn
// of all of them, and each user plays their own.
func (w *world) borrowers(t *testing.T, table *table, tried []attempt) {
	type cell struct {
		root bool
		role policy.Role
		m    member
	}
	tried = triedByPrograms(tried)
	crew := byLogin(t)
	var cells []cell
	for _, root := range []bool{true, false} {
		for _, m := range crew {
			for _, role := range programs() {
				if role.MayLogIn() {
					cells = append(cells, cell{root, role, m})
				}
			}
		}
	}
	played := 0
	for _, i := range sample.Pick(t, len(cells), 0, 2) { // one for root, one for others
		if c := cells[i]; c.root == (os.Getuid() == 0) {
			played++
			w.agent(t, table, string(c.role), c.m, tried)
		}
	}
	if played == 0 {
		t.Errorf("of %d rooms with a login none was tried", len(cells))
	}
}

// lend puts a stand-in for the vendor before the model, in place of a gateway,
// and says which level the room then has.
func lend(t *testing.T, plan *seat.Plan, lent *agent.Login, model string) room.Level {
	t.Helper()
	if lent == nil {
		return room.Sealed
	}
	vendor, err := vendorstub.New(model, lent.Hosts...)
	must(t, err)
	t.Cleanup(vendor.Close)
	plan.Upstream, plan.Login, plan.Dial = nil, lent, vendor.Dial
	plan.Room.Grants = append(plan.Room.Grants, room.Grant{Kind: "named-work", Name: "authority.pem", Bytes: vendor.Authority})
	return room.Forwarded
}
