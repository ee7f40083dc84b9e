package redteam

import (
	"path/filepath"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/gateway"
	"conclave/internal/vendorstub"
	"conclave/room"
	"conclave/seat"
)

// byLogin are the programs in a room that is sealed but for a forwarder, where a
// login of nobody's was lent: a way to the vendor is no way to anything else.
func byLogin(t *testing.T, claudePath, codexPath string) []member {
	t.Helper()
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
