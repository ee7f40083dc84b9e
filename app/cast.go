package app

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/agent/model"
	"conclave/agent/offline"
	"conclave/agent/scripted"
	"conclave/config"
	"conclave/gateway"
	"conclave/internal/ownpath"
	"conclave/internal/price"
	"conclave/means"
	"conclave/room"
	"conclave/seat"
	door "conclave/workspace"
)

// actor is whoever answers for a role, with what their program needs.
type actor struct {
	agent     agent.Agent
	inProcess bool
	model     string
	upstream  *gateway.Upstream
	direct    bool         // what it asks a model, if it does, nobody sees
	login     *agent.Login // lent, in place of an upstream
	programs  []string
	tell      func(string)
	limits    agent.Limits
	budget    gateway.Budget // of one sitting
	prices    price.List     // the person's own
	stream    config.Stream
}

// cast finds who answers for a role, at a quest or at a table, with the limits
// that the configuration gives them. offline is the embedded party's agent for
// that role.
func (w *workspace) cast(role string, offline agent.Agent) (actor, error) {
	a := w.config.For(role)
	actor, err := w.actor(a, role, offline)
	actor.limits = agent.Limits{Turns: a.Turns, BudgetUSD: a.USD}
	if a.Agent == "codex" || a.Agent == "acp" {
		actor.limits.Turns = 0 // it has no such limit
	}
	actor.budget = gateway.Budget{USD: a.USD, Tokens: a.Tokens}
	actor.prices, actor.stream = w.config.PriceList(), w.config.StreamOf(a)
	if err == nil && actor.upstream != nil && actor.model != "" {
		err = w.checkModel(role, *actor.upstream, actor.model)
	}
	return actor, err
}

// checkModel refuses a model that its provider does not have before anything is
// asked of it.
func (w *workspace) checkModel(role string, up gateway.Upstream, model string) error {
	lists := means.Lists{}
	if dir := w.app.userDataDir(); dir != "" {
		lists.File = filepath.Join(dir, "conclave", "models.json")
	}
	if err := lists.Check(context.Background(), up, model); err != nil {
		return environmentError("%s cannot be played: %w", role, err)
	}
	return nil
}

func (w *workspace) actor(a config.Agent, role string, offline agent.Agent) (actor, error) {
	switch a.Agent {
	case "offline":
		return actor{agent: offline, inProcess: true}, nil
	case "scripted":
		return w.scripted(role, a.Script)
	case "claude":
		return w.program(a, role, "claude", func(native string) (agent.Agent, error) {
			s := w.config.StreamOf(a)
			return claude.New(claude.Config{Program: native, Poll: s.Poll, Discovery: s.Discovery,
				MaxReadBytes: s.MaxReadBytes}), nil
		})
	case "codex":
		return w.program(a, role, "codex", func(native string) (agent.Agent, error) {
			return codex.New(codex.Options{Program: native, Prices: w.config.PriceList()})
		})
	case "model":
		return w.bareModel(a, role)
	case "acp":
		return w.acp(a, role)
	}
	return actor{}, environmentError("%s: no agent is called %q here", role, a.Agent)
}

// scripted is an agent that plays a script of the workspace: the bytes that the
// person trusts.
func (w *workspace) scripted(role, file string) (actor, error) {
	items, err := w.item(scriptItem(file), file, door.MaxText)
	if err == nil && len(items) == 0 {
		err = fmt.Errorf("%s: %w", filepath.Join(w.root, filepath.FromSlash(file)), fs.ErrNotExist)
	}
	if err != nil {
		return actor{}, environmentError("the script of %s: %w", role, err)
	}
	if err := w.vouchFor(items); err != nil {
		return actor{}, err
	}
	script, err := scripted.Parse(items[0].Text)
	if err != nil {
		return actor{}, environmentError("the script of %s: %s: %w", role, file, err)
	}
	return actor{agent: &scripted.Agent{Script: script}, inProcess: true}, nil
}

// program is an agent that is a program of its own, asking its model through
// the gateway.
func (w *workspace) program(
	a config.Agent, role, name string, make func(string) (agent.Agent, error),
) (actor, error) {
	native, err := w.findProgram(name)
	if err != nil {
		return actor{}, environmentError("%s is to be played by %s: %w; install it, or name its absolute "+
			"path under `programs: {%[2]s: …}` in your own configuration", role, name, err)
	}
	made, err := make(native)
	if err != nil {
		return actor{}, environmentError("%s: %w", role, err)
	}
	if a.Login {
		return w.byLogin(a, role, name, native, made)
	}
	_, upstream, err := w.served(a, role)
	if err != nil {
		return actor{}, err
	}
	return actor{
		agent: made, model: a.Model, programs: []string{filepath.Dir(native)}, tell: w.app.tell, upstream: upstream,
	}, nil
}

// bareModel is a model without a program around it.
func (w *workspace) bareModel(a config.Agent, role string) (actor, error) {
	provider, upstream, err := w.served(a, role)
	if err != nil {
		return actor{}, err
	}
	c := model.Config{Kind: upstream.Kind, Provider: a.Provider, Prices: w.config.PriceList(), Tell: w.app.tell}
	if !provider.Keyless() {
		c.KeyEnv = provider.KeyEnv
	}
	return actor{agent: model.New(c), inProcess: true, model: a.Model, tell: w.app.tell, upstream: upstream}, nil
}

// served is where an agent finds its model, with the key.
func (w *workspace) served(a config.Agent, role string) (config.Provider, *gateway.Upstream, error) {
	p, err := w.config.ProviderOf(a)
	if err != nil {
		return p, nil, environmentError("%s is to be played by %s: %w", role, a.Agent, err)
	}
	key := ""
	if !p.Keyless() {
		key = w.app.Getenv(p.KeyEnv)
	}
	if key == "" && !p.Keyless() {
		return p, nil, environmentError("%s is to be played by %s: %s is not set; set it, or name another agent in %s",
			role, a.Agent, p.KeyEnv, config.FileName)
	}
	if a.Model == "" {
		return p, nil, environmentError("%s is to be played by %s: say which model (agents: %[1]s: {agent: %[2]s, "+
			"model: …} in %[3]s)", role, a.Agent, config.FileName)
	}
	return p, p.Upstream(key), nil
}

// findProgram returns the native program behind a name: the one that the
// person's own configuration names, or the one on the PATH. Nothing else is the
// person's own: what a relative entry of the PATH or one inside the workspace
// finds may have come with a clone.
func (w *workspace) findProgram(name string) (string, error) {
	path, err := w.programPath(name)
	if err != nil {
		return "", err
	}
	if name == "codex" {
		return codex.Locate(path)
	}
	return filepath.EvalSymlinks(path)
}

// programPath is where the person has a program of that name.
func (w *workspace) programPath(name string) (string, error) {
	if path := w.config.Programs[name]; path != "" {
		return path, nil
	}
	path, _, err := ownpath.Find(name, w.root)
	return path, err
}

// dress puts the actor into a seat's plan.
func (a actor) dress(p *seat.Plan, w *workspace) {
	p.Agent, p.InProcess, p.Model, p.Upstream = a.agent, a.inProcess, a.model, a.upstream
	p.DirectModel, p.Login, p.Dial = a.direct, a.login, w.app.Dial
	p.Room.Programs = append(p.Room.Programs, a.programs...)
	p.Workspace = w.root
	p.Program, p.Tell, p.Stream = "conclave "+w.app.Version, a.tell, w.app.Log.to()
	p.StreamQuiet, p.StreamNoRaw = a.stream.Quiet, a.stream.NoRaw
	w.app.Log.without(p.Role, a.stream.Quiet, a.stream.NoRaw)
	p.Limits, p.Budget, p.Prices = a.limits, a.budget, a.prices
	if lower := w.config.Lower[p.Role]; lower != "" && !a.inProcess {
		p.Room.Lower = room.Level(lower)
	}
}

// embeddedParty is who answers where nobody else is named.
func embeddedParty() agent.Agent { return offline.New() }
