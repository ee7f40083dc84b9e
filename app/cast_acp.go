package app

import (
	"slices"

	"conclave/agent/acp"
	"conclave/config"
)

// acp is an agent whose program speaks the Agent Client Protocol: one that the
// driver knows and points at the gateway, or one that the person's own file
// describes.
func (w *workspace) acp(a config.Agent, role string) (actor, error) {
	o := acp.Options{Name: a.Program}
	if d, ok := w.config.ACP[a.Program]; ok {
		o.Described = &acp.Description{Args: d.Args, Env: d.Env}
	} else if err := acp.Known(a.Program); err != nil {
		return actor{}, environmentError("%s is to be played by %s: %w", role, a.Program, err)
	}
	path, err := w.programPath(a.Program)
	if err == nil {
		o.Program, err = acp.Locate(a.Program, path, func() (string, error) { return w.programPath("node") })
	}
	if err != nil {
		return actor{}, environmentError("%s is to be played by %s: %w; install it, or name its absolute "+
			"path under `programs: {%[2]s: …}` in your own configuration", role, a.Program, err)
	}
	out := actor{model: a.Model, programs: o.Program.Dirs, tell: w.app.tell}
	if o.Described != nil && a.Provider == "" {
		// Nothing leads out of its room: what it asks, it asks there.
		out.direct = true
	} else {
		if a.Provider == "" && !slices.Contains(acp.Providers(a.Program), a.Program) {
			return actor{}, environmentError("%s is to be played by %s: say whose model it asks (agents: %[1]s: {agent: acp, "+
				"program: %[2]s, provider: …, model: …} in %s)", role, a.Program, config.FileName)
		}
		if a.Provider == "" {
			a.Provider = a.Program // Gemini CLI asks Gemini
		}
		if _, out.upstream, err = w.served(a, role); err != nil {
			return actor{}, err
		}
		o.Provider = string(out.upstream.Kind)
	}
	if out.agent, err = acp.New(o); err != nil {
		return actor{}, environmentError("%s is to be played by %s: %w", role, a.Program, err)
	}
	return out, nil
}
