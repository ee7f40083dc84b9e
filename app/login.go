package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/config"
	"conclave/policy"
	"conclave/trust"
)

// login is how one program is played with the person's own.
type login struct {
	program, vendor string
	// says is what the vendor says about it, as far as that is known here, and
	// lent what of the person's goes into the room.
	says, lent string
	lend       func(env func(string) string) (*agent.Login, error)
}

// logins are the programs that can be lent one. The text of each stands in
// docs/logins.md, and the person's yes holds for exactly that text.
var logins = map[string]login{
	"claude": {
		program: "Claude Code", vendor: "Anthropic",
		says: "Anthropic's legal page for Claude Code, as it is quoted in public, says that third-party developers may not " +
			`"offer Claude.ai login or … route requests through Free, Pro, or Max plan credentials on behalf of their users".`,
		lent: "The token in CLAUDE_CODE_OAUTH_TOKEN, which `claude setup-token` printed, as a variable of the program's environment.",
		lend: claude.Lend,
	},
	"codex": {
		program: "Codex", vendor: "OpenAI",
		says: "OpenAI's page on signing in says that with ChatGPT as the way to sign in, " +
			`"Codex usage follows your ChatGPT workspace permissions"; which terms hold for your plan, it says elsewhere.`,
		lent: "A copy of auth.json in the program's home, without the token that renews it, until it runs out.",
		lend: func(env func(string) string) (*agent.Login, error) { return codex.Lend(env, time.Now()) },
	},
}

// text is what the person says yes to.
func (l login) text() string {
	return strings.Join([]string{
		l.says,
		"What is written here may be out of date: the terms are yours to read, and to keep.",
		"Lent: " + l.lent,
		fmt.Sprintf("%s itself, unmodified, then speaks to %s directly, with TLS from end to end. Its room is sealed but for a "+
			"forwarder to %[2]s's model host; whatever it sends there, and what it is told, is not observed, and every receipt says so.",
			l.program, l.vendor),
		"An agent that can run commands can read what is lent, and use it at that host while its room is open.",
	}, "\n")
}

func loginItem(name string) trust.Item {
	return trust.Item{Name: "login " + name, Text: []byte(logins[name].text())}
}

// TrustLogin is what a person reads before they lend the login of a program. It
// changes nothing: Grant and Revoke do.
func (a *App) TrustLogin(name string) (*Trust, error) {
	l, ok := logins[name]
	if !ok {
		return nil, usageError("no login of %q can be lent: there are claude and codex", name)
	}
	trusted := a.trustsLogin(name)
	return &Trust{
		Items: []trustItem{{l.program, trusted, l.text()}}, Refused: []string{}, Trusted: trusted,
		items: []trust.Item{loginItem(name)}, login: a,
	}, nil
}

// Revoke takes the person's yes to lend a login back.
func (t *Trust) Revoke() error { return refusedHere(t.login.trustStore().RevokeOwn(t.items[0].Name)) }

// lend keeps the person's yes to exactly this text.
func (t *Trust) lend() error {
	if err := t.login.noLoginHere(); err != nil {
		return err
	}
	return refusedHere(t.login.trustStore().GrantOwn(t.items))
}

func (a *App) trustsLogin(name string) bool {
	return a.trustStore().CheckOwn([]trust.Item{loginItem(name)}) == nil
}

// noLoginHere refuses to lend a login where nobody is who could have been asked.
func (a *App) noLoginHere() error {
	if a.Getenv("CI") != "" {
		return environmentError("a person's login is not lent in CI (the variable CI is set): use a key")
	}
	return nil
}

// borrow takes the person's login for a role, where all that has to be so is.
func (w *workspace) borrow(role, name string) (*agent.Login, error) {
	if err := w.app.noLoginHere(); err != nil {
		return nil, err
	}
	seat := policyRole(role)
	if !seat.MayLogIn() {
		return nil, environmentError("%s cannot be played with a login: whoever judges the work needs a room whose model's input "+
			"is observed. Name a key or another agent for %[1]s in your own configuration", role)
	}
	if lower := w.config.Lower[string(seat)]; lower != "" {
		return nil, environmentError("%s is to be played with a login, and its room is lowered to %s: a login is lent to a sealed "+
			"room alone. Take one of the two out of your own configuration", role, lower)
	}
	if !w.app.trustsLogin(name) {
		return nil, environmentError("%s is to be played with your login, and you have not said yes to that, or to another text: "+
			"read it and answer, at a terminal: conclave trust login %s", role, name)
	}
	l, err := logins[name].lend(w.app.Getenv)
	if err != nil {
		return nil, environmentError("%s is to be played with your login: %w", role, err)
	}
	return l, nil
}

// policyRole is the role behind the name of a seat: player.tilda-brannock is a
// player, and so is who lends a player a voice.
func policyRole(seat string) policy.Role {
	base, _, _ := strings.Cut(seat, ".")
	if base == config.Relay {
		return policy.Player
	}
	return policy.Role(strings.ReplaceAll(base, " ", "-"))
}

// byLogin is an agent that is a program of its own, with the person's login.
func (w *workspace) byLogin(a config.Agent, role, name, native string, made agent.Agent) (actor, error) {
	if a.Model == "" {
		return actor{}, environmentError("%s is to be played with your login: say which model (agents: %[1]s: {agent: %s, "+
			"model: …, login: true} in your own configuration)", role, name)
	}
	borrowed, err := w.borrow(role, name)
	if err != nil {
		return actor{}, err
	}
	tell := w.app.tell
	if w.config.Budget.USD > 0 {
		tell = func(text string) { w.app.tell(text + "; the budget in dollars does not bind it, one in tokens does") }
	}
	return actor{agent: made, model: a.Model, programs: []string{filepath.Dir(native)}, tell: tell, login: borrowed}, nil
}
