package acp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"conclave/agent"
	"conclave/transcript"
)

// Options configure an Agent.
type Options struct {
	// Name is the program's: one of Programs, or that of Described.
	Name string
	// Program is how it is started; see Locate.
	Program Installation
	// Described is a program that is none of Programs; nil otherwise.
	Described *Description
	// Provider is the API that the room's gateway speaks: anthropic, openai,
	// chat or gemini; empty without a gateway.
	Provider string
}

// Description is a program of the person's own.
type Description struct {
	Args []string
	// Env are its variables. In a value {gateway} stands for the address of the
	// room's gateway, {token} for the room's token, {model} for the model.
	Env map[string]string
}

// Agent starts sessions of one program.
type Agent struct {
	opts  Options
	known *program // nil: it is Described
}

// New returns an agent that runs the program.
func New(o Options) (*Agent, error) {
	if !filepath.IsAbs(o.Program.Path) {
		return nil, fmt.Errorf("%s: the program %q: an absolute path is needed", o.Name, o.Program.Path)
	}
	a := &Agent{opts: o}
	if o.Described != nil {
		return a, nil
	}
	var err error
	if a.known, err = find(o.Name); err != nil {
		return nil, err
	}
	return a, a.known.speaks(o.Provider)
}

// Adapter is the registered name.
func (a *Agent) Adapter() string { return transcript.AdapterACP }

// Start starts the program, says hello and opens a session.
func (a *Agent) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if err := a.check(spec); err != nil {
		return nil, err
	}
	h, err := a.furnish(spec)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", a.opts.Name, err)
	}
	p, err := spec.Launcher.Launch(ctx, agent.Command{
		Path: a.opts.Program.Path, Args: slices.Concat(a.opts.Program.Script, h.args),
		Env: h.env, Dir: spec.Place.InGuest(agent.WorkDir),
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", a.opts.Name, err)
	}
	s := newSession(a, spec, p, h)
	if err := s.open(ctx); err != nil {
		stopCtx, cancel := context.WithCancel(context.Background())
		cancel() // it is of no use to anyone: kill it
		return nil, errors.Join(err, s.Stop(stopCtx))
	}
	return s, nil
}

func (a *Agent) check(spec agent.Spec) error {
	switch {
	case spec.Launcher == nil:
		return fmt.Errorf("start %s: no launcher; this adapter starts no program by itself", a.opts.Name)
	case spec.Emitter == nil:
		return fmt.Errorf("start %s: no emitter; nothing may happen off the record", a.opts.Name)
	case spec.Place.Host == "" || spec.Place.Guest == "":
		return fmt.Errorf("start %s: no place to live in", a.opts.Name)
	case spec.Limits.Turns > 0:
		return fmt.Errorf("start %s: a limit of turns cannot be kept: the Agent Client Protocol does not tell the "+
			"calls of the model; set a budget in tokens", a.opts.Name)
	}
	return nil
}
