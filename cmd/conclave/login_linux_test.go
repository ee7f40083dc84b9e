package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentcodex "conclave/agent/codex"
	"conclave/internal/clients"
	"conclave/internal/hunt"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
	"conclave/internal/vendorstub"
)

// borrower is a person with a login of nobody's before a stand-in for its vendor.
type borrower struct {
	*real
	program, host string
	login         vendorstub.Login
	vendor        *vendorstub.Server
}

// newBorrower has Claude Code or Codex play everybody, by login. The model says
// what it was lent, in every answer.
func newBorrower(t *testing.T, program string) *borrower {
	t.Helper()
	sample.Long(t)
	b := &borrower{real: newReal(t, ""), program: program}
	native, model, err := "", "", error(nil)
	switch program {
	case "claude":
		native, model, b.host, b.login = realClaude(t, clients.ClaudeNew), "claude-sonnet-4-5", "api.anthropic.com", vendorstub.ClaudeLogin()
	case "codex":
		if native, err = clients.Codex(); err == nil {
			native, err = agentcodex.Locate(native)
		}
		if err == nil {
			b.login, err = vendorstub.CodexLogin(t.TempDir())
		}
		model, b.host = "gpt-5.5", "chatgpt.com"
	}
	if err != nil {
		t.Fatal(err)
	}
	stub := modelstub.New(func(modelstub.Request) modelstub.Reply {
		return modelstub.Answer(modelstub.Say("The flood is near. " + b.login.Token + " opens the sluice."))
	})
	t.Cleanup(stub.Close)
	if b.vendor, err = vendorstub.New(stub.URL(), b.host); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.vendor.Close)
	script, remove, err := clients.Wrap(native, map[string][]byte{"authority.pem": b.vendor.Authority},
		"NODE_EXTRA_CA_CERTS=DIR/authority.pem", "SSL_CERT_FILE=DIR/authority.pem")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	if err := os.Remove(filepath.Join(b.dir, "conclave.yaml")); err != nil {
		t.Fatal(err)
	}
	b.own(fmt.Sprintf("agents:\n  default: {agent: %s, model: %s, login: true}\nprograms: {%[1]s: %[3]q}\n", program, model, script))
	outside := b.env.Getenv
	b.env.Getenv = func(name string) string {
		if lent := b.login.Getenv(name); lent != "" {
			return lent
		}
		return outside(name)
	}
	b.env.dial = b.vendor.Dial
	return b
}

// told runs a command and wants its output to say some things.
func (b *borrower) told(code int, args []string, says ...string) string {
	b.t.Helper()
	b.run(code, args...)
	out := b.out.String()
	for _, want := range says {
		if !strings.Contains(out, want) {
			b.t.Errorf("conclave %s does not say %q:\n%s", strings.Join(args, " "), want, out)
		}
	}
	if hunt.New(b.login.Secrets...).In([]byte(out)) {
		b.t.Errorf("conclave %s says the credential:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// A person says yes to their login and has a seat played with it, by the program
// as it is; every place where something of that stays is looked through.
func TestLoginThroughTheProgram(t *testing.T) {
	for _, program := range []string{"claude", "codex"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			b := newBorrower(t, program)
			level := "sealed but for a forwarder"
			b.told(3, []string{"agents", "try", "cat"}, "you have not said yes to that")
			b.told(3, []string{"consult", "cat", "-m", "What of the flood?"}, "you have not said yes to that")
			if n := len(b.vendor.Requests()); n > 0 {
				t.Fatalf("without a yes the vendor was asked %d times", n)
			}
			b.env.Stdin, b.env.StdinIsTerminal = strings.NewReader("y\n"), true
			b.told(0, []string{"trust", "login", program}, "So be it")
			b.env.Stdin, b.env.StdinIsTerminal = strings.NewReader(""), false

			b.told(0, []string{"agents", "try", "cat"}, "The flood is near. [withheld] opens the sluice.", level,
				"calls of the model       not observed", "nobody tells what a plan costs", b.host)
			b.told(0, []string{"consult", "cat", "-m", "What of the flood?", "--log", filepath.Join(b.home, "consult.log")},
				"The flood is near. [withheld] opens the sluice.", level, "not observed", b.host)
			b.judgesAreRefused()
			b.told(0, []string{"audit"}, "model input: not observed", "the credential was in the room")
			b.told(0, []string{"transcript", "verify"})
			b.usage()
			b.told(0, []string{"bundle", "create", "last", "--with-workspace", "--no-redact", "--out", filepath.Join(b.dir, "whole.zip")})
			b.told(0, []string{"bundle", "create", "last", "--out", filepath.Join(b.dir, "run.zip")})
			b.told(0, []string{"bundle", "verify", filepath.Join(b.dir, "run.zip")})
			b.told(0, []string{"bundle", "open", filepath.Join(b.dir, "run.zip"), "receipts.jsonl"}, `"model_input":"not observed"`,
				`"credential":"in the room"`, level)
			for _, q := range b.vendor.Requests() {
				if q.Host != b.host || q.Authorization != "Bearer "+b.login.Token {
					t.Errorf("%s %s%s was asked with %.30q", q.Method, q.Host, q.Path, q.Authorization)
				}
			}
			b.hunt()
		})
	}
}

// judgesAreRefused: whoever judges the work is not played so, whatever the way.
func (b *borrower) judgesAreRefused() {
	b.t.Helper()
	before := len(b.vendor.Requests())
	quest := "---\ncampaign-mode: Ship\nphase: 3\ncreated: 2026-02-14\n---\n\n# Cross the river\n\n## Quest Narrative\n\nBread.\n\n" +
		"## Success Criteria\n\n1. A bridge stands\n\n## Anticipated Dragon\n\nFog.\n\n## Party Assignments\n\n## Progress Log\n\n" +
		"- **Phase 1 complete** — Quest defined (2026-02-14)\n"
	if err := os.WriteFile(filepath.Join(b.dir, ".campaign", "quest.md"), []byte(quest), 0o600); err != nil {
		b.t.Fatal(err)
	}
	for _, args := range [][]string{
		{"agents", "try", "dragon"}, {"agents", "try", "guardian"},
		{"confront", "plan.md"}, {"checkpoint", "--stage", "plan", "plan.md"},
	} {
		b.told(3, args, "cannot be played with a login: whoever judges the work")
	}
	if n := len(b.vendor.Requests()); n > before {
		b.t.Errorf("for a judge the vendor was asked %d times", n-before)
	}
}

// usage counts what the program told of its tokens: two turns of the stub's model.
func (b *borrower) usage() {
	b.t.Helper()
	var used struct {
		Groups []struct {
			Name      string `json:"name"`
			Responses int    `json:"responses"`
			Tokens    int64  `json:"total_tokens"`
		} `json:"groups"`
	}
	if err := json.Unmarshal([]byte(b.told(0, []string{"usage", "--by", "role", "--json"})), &used); err != nil {
		b.t.Fatal(err)
	}
	if g := used.Groups; len(g) != 1 || g[0].Name != "cat" || g[0].Responses != 2 || g[0].Tokens != 220 {
		b.t.Errorf("%+v", g)
	}
}

// hunt looks for the credential wherever the person has files.
func (b *borrower) hunt() {
	b.t.Helper()
	found, looked, err := hunt.New(b.login.Secrets...).Files(b.dir, b.home)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, place := range found {
		b.t.Errorf("%s holds the credential", place)
	}
	b.t.Logf("%d files were looked through", looked)
}
