package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"conclave/agent"
	"conclave/internal/price"
	"conclave/transcript"
)

// Options configure an Agent. The zero value, with Program set, works.
type Options struct {
	// Program is the absolute path of the native program, as the Launcher
	// finds it; see Locate.
	Program string

	// Prices are the person's own; they win over the public ones. A budget in
	// dollars is refused for a model without a price: the program does not say
	// what it costs.
	Prices price.List

	// Retries is how often the program repeats a request or a stream that
	// failed: 0 means its own default, less than 0 never.
	Retries int

	// Env is appended to the program's environment.
	Env []string
}

// Agent starts sessions of the Codex program.
type Agent struct{ opts Options }

// New returns an agent that runs o.Program.
func New(o Options) (*Agent, error) {
	if !filepath.IsAbs(o.Program) {
		return nil, fmt.Errorf("codex program %q: an absolute path is needed", o.Program)
	}
	return &Agent{opts: o}, nil
}

// Adapter is the registered name.
func (a *Agent) Adapter() string { return transcript.AdapterCodex }

// Start starts the program, says hello and opens a thread. What crosses on the
// way is kept in the blobs at once, and becomes entries when the first message
// is sent or the session ends: a message that cannot be recorded fails, not
// the start before it.
func (a *Agent) Start(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if err := a.check(spec); err != nil {
		return nil, err
	}
	env, err := writeHome(a.opts, spec)
	if err != nil {
		return nil, err
	}
	p, err := spec.Launcher.Launch(ctx, agent.Command{
		Path: a.opts.Program, Args: []string{"app-server"}, Env: env,
		Dir: spec.Place.InGuest(agent.WorkDir),
	})
	if err != nil {
		return nil, fmt.Errorf("start codex: %w", err)
	}
	s := newSession(a.opts, spec, p)
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
		return errors.New("start codex: no launcher; this adapter starts no program by itself")
	case spec.Emitter == nil:
		return errors.New("start codex: no emitter; nothing may happen off the record")
	case spec.Place.Host == "" || spec.Place.Guest == "":
		return errors.New("start codex: no place to live in")
	case spec.Login != nil && spec.Model.Token != "":
		return errors.New("start codex: there is a key and a login: a session has one of them")
	case spec.Limits.BudgetUSD > 0 && !a.priced(spec.Model.Name):
		return fmt.Errorf("start codex: a budget in dollars cannot be kept: no price is known for the model %q; "+
			"set its price under `prices` in your own configuration, or a budget in tokens", spec.Model.Name)
	}
	return nil
}

func (a *Agent) priced(model string) bool {
	_, ok := a.opts.Prices.Of(model)
	return ok
}
