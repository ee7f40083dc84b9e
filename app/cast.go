package app

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/agent/offline"
	"conclave/agent/scripted"
	"conclave/config"
	"conclave/gateway"
	"conclave/internal/ownpath"
	"conclave/room"
	"conclave/seat"
	door "conclave/workspace"
)

// Actor is whoever answers for a role, with what their program needs.
type Actor struct {
	agent     agent.Agent
	inProcess bool
	model     string
	upstream  *gateway.Upstream
	programs  []string
	tell      func(string)
	limits    agent.Limits
	budget    gateway.Budget // of one sitting
}

// Cast finds who answers for a role, at a quest or at a table, with the limits
// that the configuration gives them. offline is the embedded party's agent for
// that role.
func (w *Workspace) Cast(role string, offline agent.Agent) (Actor, error) {
	a := w.Config.For(role)
	actor, err := w.actor(a, role, offline)
	actor.limits = agent.Limits{Turns: a.Turns, BudgetUSD: a.USD}
	if a.Agent == "codex" {
		actor.limits.Turns = 0 // it has no such limit
	}
	actor.budget = gateway.Budget{USD: a.USD, Tokens: a.Tokens}
	return actor, err
}

func (w *Workspace) actor(a config.Agent, role string, offline agent.Agent) (Actor, error) {
	switch a.Agent {
	case "offline":
		return Actor{agent: offline, inProcess: true}, nil
	case "scripted":
		return w.scripted(role, a.Script)
	case "claude":
		return w.program(a, role, "claude", func(native string) (agent.Agent, error) {
			return claude.New(claude.Config{Program: native}), nil
		})
	case "codex":
		return w.program(a, role, "codex", func(native string) (agent.Agent, error) {
			return codex.New(codex.Options{Program: native})
		})
	}
	return Actor{}, environmentError("%s: no agent is called %q here", role, a.Agent)
}

// scripted is an agent that plays a script of the workspace: the bytes that the
// person trusts.
func (w *Workspace) scripted(role, file string) (Actor, error) {
	items, err := w.item(scriptItem(file), file, door.MaxText)
	if err == nil && len(items) == 0 {
		err = fmt.Errorf("%s: %w", filepath.Join(w.Root, filepath.FromSlash(file)), fs.ErrNotExist)
	}
	if err != nil {
		return Actor{}, environmentError("the script of %s: %w", role, err)
	}
	if err := w.VouchFor(items); err != nil {
		return Actor{}, err
	}
	script, err := scripted.Parse(items[0].Text)
	if err != nil {
		return Actor{}, environmentError("the script of %s: %s: %w", role, file, err)
	}
	return Actor{agent: &scripted.Agent{Script: script}, inProcess: true}, nil
}

// program is an agent that is a program of its own, asking its model through
// the gateway.
func (w *Workspace) program(
	a config.Agent, role, name string, make func(string) (agent.Agent, error),
) (Actor, error) {
	native, err := w.FindProgram(name)
	if err != nil {
		return Actor{}, environmentError("%s is to be played by %s: %w; install it, or name its absolute "+
			"path under `programs: {%[2]s: …}` in your own configuration", role, name, err)
	}
	made, err := make(native)
	if err != nil {
		return Actor{}, environmentError("%s: %w", role, err)
	}
	provider, err := w.Config.ProviderOf(a)
	if err != nil {
		return Actor{}, environmentError("%s: %w", role, err)
	}
	key := w.app.Getenv(provider.KeyEnv)
	if key == "" {
		return Actor{}, environmentError("%s is to be played by %s: %s is not set; set it, or name another agent in %s",
			role, name, provider.KeyEnv, config.FileName)
	}
	if a.Model == "" {
		return Actor{}, environmentError("%s is to be played by %s: say which model (agents: %s: {agent: %[2]s, "+
			"model: …} in %s)", role, name, role, config.FileName)
	}
	return Actor{
		agent: made, model: a.Model, programs: []string{filepath.Dir(native)}, tell: w.app.Tell,
		upstream: &gateway.Upstream{Kind: gateway.Kind(provider.Kind), BaseURL: provider.BaseURL, Key: key},
	}, nil
}

// FindProgram returns the native program behind a name: the one that the
// person's own configuration names, or the one on the PATH. Nothing else is the
// person's own: what a relative entry of the PATH or one inside the workspace
// finds may have come with a clone.
func (w *Workspace) FindProgram(name string) (string, error) {
	path := w.Config.Programs[name]
	if path == "" {
		var err error
		if path, _, err = ownpath.Find(name, w.Root); err != nil {
			return "", err
		}
	}
	if name == "codex" {
		return codex.Locate(path)
	}
	return filepath.EvalSymlinks(path)
}

// Dress puts the actor into a seat's plan.
func (a Actor) Dress(p *seat.Plan, w *Workspace) {
	p.Agent, p.InProcess, p.Model, p.Upstream = a.agent, a.inProcess, a.model, a.upstream
	p.Room.Programs = append(p.Room.Programs, a.programs...)
	p.Workspace = w.Root
	p.Program, p.Tell, p.Stream = "conclave "+w.app.Version, a.tell, w.app.Log.to()
	p.Limits, p.Budget = a.limits, a.budget
	if lower := w.Config.Lower[p.Role]; lower != "" && !a.inProcess {
		p.Room.Lower = room.Level(lower)
	}
}

// EmbeddedParty is who answers where nobody else is named.
func EmbeddedParty() agent.Agent { return offline.New() }
