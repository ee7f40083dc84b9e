package main

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"conclave/agent"
	"conclave/agent/claude"
	"conclave/agent/codex"
	"conclave/agent/scripted"
	"conclave/config"
	"conclave/gateway"
	"conclave/room"
	"conclave/seat"
)

// actor is whoever answers for a role, with what their program needs.
type actor struct {
	agent     agent.Agent
	inProcess bool
	model     string
	upstream  *gateway.Upstream
	programs  []string
}

// cast finds who answers for a role. offline is the embedded party's agent for
// that role.
func (w *workspace) cast(env *environment, role string, offline agent.Agent) (actor, error) {
	a := w.config.For(role)
	switch a.Agent {
	case "offline":
		return actor{agent: offline, inProcess: true}, nil
	case "scripted":
		script, err := scripted.Load(filepath.Join(w.root, filepath.FromSlash(a.Script)))
		if err != nil {
			return actor{}, environmentError("the script of %s: %w", role, err)
		}
		return actor{agent: script, inProcess: true}, nil
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

// program is an agent that is a program of its own, asking its model through
// the gateway.
func (w *workspace) program(env *environment, a config.Agent, role, name string, make func(string) (agent.Agent, error)) (actor, error) {
	native, err := w.findProgram(name)
	if err != nil {
		return actor{}, environmentError("%s is to be played by %s: %w", role, name, err)
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
		agent: made, model: a.Model, programs: []string{filepath.Dir(native)},
		upstream: &gateway.Upstream{Kind: gateway.Kind(provider.Kind), BaseURL: provider.BaseURL, Key: key},
	}, nil
}

// findProgram returns the native program behind a name: the one that the
// configuration names, or the one on the PATH.
func (w *workspace) findProgram(name string) (string, error) {
	path := w.config.Programs[name]
	if path == "" {
		found, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%s is not installed, or not on the PATH; `conclave doctor` says what is found", name)
		}
		path = found
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if name == "codex" {
		return codex.Locate(abs)
	}
	return filepath.EvalSymlinks(abs)
}

// dress puts the actor into a seat's plan.
func (a actor) dress(p *seat.Plan, w *workspace) {
	p.Agent, p.InProcess, p.Model, p.Upstream = a.agent, a.inProcess, a.model, a.upstream
	p.Room.Programs = append(p.Room.Programs, a.programs...)
	p.Workspace = w.root
	p.Program = "conclave " + version
	p.Budget = gateway.Budget{USD: w.config.Budget.USD, Tokens: w.config.Budget.Tokens}
	if lower := w.config.Lower[p.Role]; lower != "" && !a.inProcess {
		p.Room.Lower = room.Level(lower)
		p.Stamps = append(p.Stamps, "room lowered to "+lower+" by the person's word")
	}
}
