package main

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/agent/scripted"
	"conclave/config"
	"conclave/gateway"
	"conclave/internal/ownpath"
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
	programs  []string
	tell      func(string)
}

// cast finds who answers for a role. offline is the embedded party's agent for
// that role.
func (w *workspace) cast(env *environment, role string, offline agent.Agent) (actor, error) {
	a := w.config.For(role)
	switch a.Agent {
	case "offline":
		return actor{agent: offline, inProcess: true}, nil
	case "scripted":
		return w.scripted(role, a.Script)
	case "claude":
		return w.program(env, a, role, "claude", func(native string) (agent.Agent, error) {
			return claude.New(claude.Config{Program: native}), nil
		})
	case "codex":
		return w.program(env, a, role, "codex", func(native string) (agent.Agent, error) {
			return codex.New(codex.Options{Program: native})
		})
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
func (w *workspace) program(env *environment, a config.Agent, role, name string, make func(string) (agent.Agent, error)) (actor, error) {
	native, err := w.findProgram(name)
	if err != nil {
		return actor{}, environmentError("%s is to be played by %s: %w; install it, or name its absolute path under `programs: {%[2]s: …}` in your own configuration", role, name, err)
	}
	made, err := make(native)
	if err != nil {
		return actor{}, environmentError("%s: %w", role, err)
	}
	provider, err := w.config.ProviderOf(a)
	if err != nil {
		return actor{}, environmentError("%s: %w", role, err)
	}
	key := env.Getenv(provider.KeyEnv)
	if key == "" {
		return actor{}, environmentError("%s is to be played by %s: %s is not set; set it, or name another agent in %s", role, name, provider.KeyEnv, config.FileName)
	}
	if a.Model == "" {
		return actor{}, environmentError("%s is to be played by %s: say which model (agents: %s: {agent: %[2]s, model: …} in %s)", role, name, role, config.FileName)
	}
	return actor{
		agent: made, model: a.Model, programs: []string{filepath.Dir(native)}, tell: env.tell,
		upstream: &gateway.Upstream{Kind: gateway.Kind(provider.Kind), BaseURL: provider.BaseURL, Key: key},
	}, nil
}

// findProgram returns the native program behind a name: the one that the
// person's own configuration names, or the one on the PATH. Nothing else is the
// person's own: what a relative entry of the PATH or one inside the workspace
// finds may have come with a clone.
func (w *workspace) findProgram(name string) (string, error) {
	path := w.config.Programs[name]
	if path == "" {
		var err error
		if path, _, err = ownpath.Find(name, w.root); err != nil {
			return "", err
		}
	}
	if name == "codex" {
		return codex.Locate(path)
	}
	return filepath.EvalSymlinks(path)
}

// tell says to the person what they must know now, beside what was asked for.
func (env *environment) tell(text string) { env.Stderr.Printf("conclave: %s\n", text) }

// dress puts the actor into a seat's plan.
func (a actor) dress(p *seat.Plan, w *workspace) {
	p.Agent, p.InProcess, p.Model, p.Upstream = a.agent, a.inProcess, a.model, a.upstream
	p.Room.Programs = append(p.Room.Programs, a.programs...)
	p.Workspace = w.root
	p.Program, p.Tell = "conclave "+version, a.tell
	p.Budget = gateway.Budget{USD: w.config.Budget.USD, Tokens: w.config.Budget.Tokens}
	if lower := w.config.Lower[p.Role]; lower != "" && !a.inProcess {
		p.Room.Lower = room.Level(lower)
	}
}
