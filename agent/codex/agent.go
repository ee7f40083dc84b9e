package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"conclave/agent"
	"conclave/transcript"
)

// Options configure an Agent. The zero value, with Program set, works.
type Options struct {
	// Program is the absolute path of the native program, as the Launcher
	// finds it; see Locate.
	Program string

	// Approve decides what the program asks leave for. Nil means that it is
	// told never to ask, and refused when it does. The context ends with the
	// session, and so must the decision.
	Approve func(context.Context, Approval) Decision

	// Sandbox is the program's own sandbox mode: read-only, workspace-write
	// or danger-full-access. Empty means the last: the room is the sandbox,
	// and two of them get into each other's way.
	Sandbox string

	// Tools are offered to the model and called in this process.
	Tools []Tool

	// Login gives the person's login, for a session whose Model has no token.
	// See LoginFile.
	Login func(context.Context) (Login, error)

	// Price is what tokens cost, in dollars per million. Without it the
	// program's consumption has no price, and a budget is refused.
	Price Price

	// Retries is how often the program repeats a request or a stream that
	// failed: 0 means its own default, less than 0 never.
	Retries int
}

// Price is in dollars per million tokens.
type Price struct{ Input, CacheRead, Output float64 }

func (p Price) known() bool { return p != Price{} }

func (p Price) of(u transcript.Usage) float64 {
	return (float64(u.Input+u.CacheWrite)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.Output)*p.Output) / 1e6
}

// Tool is a tool of this process that the model may call.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // of its arguments
	Call              func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// Approval is what the program asks leave for.
type Approval struct {
	Method   string // the request's, for instance item/commandExecution/requestApproval
	ThreadID string
	ItemID   string
	Command  string // of a command
	Reason   string
	Params   json.RawMessage
}

// Decision answers an Approval.
type Decision string

// The decisions. The zero Decision is Decline.
const (
	Decline          Decision = "decline"
	Accept           Decision = "accept"
	AcceptForSession Decision = "acceptForSession"
	Cancel           Decision = "cancel" // and interrupt the turn
)

// Config are the settings that seed 004 gives this adapter. They concern the
// log stream alone: the record is not theirs to silence.
type Config struct {
	Transcript bool `yaml:"transcript" json:"transcript"`
	EmitRaw    bool `yaml:"transcript_emit_raw" json:"transcript_emit_raw"`
}

// DefaultConfig has both on.
func DefaultConfig() Config { return Config{Transcript: true, EmitRaw: true} }

// Stream opens the log stream to h as the settings ask: nil when it is off.
// Whoever gets one closes it.
func (c Config) Stream(h slog.Handler) *transcript.Stream {
	if !c.Transcript || h == nil {
		return nil
	}
	return transcript.NewStream(h, transcript.StreamOptions{OmitRaw: !c.EmitRaw})
}

// Agent starts sessions of the Codex program.
type Agent struct{ opts Options }

// New returns an agent that runs o.Program.
func New(o Options) (*Agent, error) {
	if !filepath.IsAbs(o.Program) {
		return nil, fmt.Errorf("codex program %q: an absolute path is needed", o.Program)
	}
	switch o.Sandbox {
	case "":
		o.Sandbox = "danger-full-access"
	case "read-only", "workspace-write", "danger-full-access":
	default:
		return nil, fmt.Errorf("codex sandbox %q: want read-only, workspace-write or danger-full-access", o.Sandbox)
	}
	for _, t := range o.Tools {
		if t.Name == "" || t.Call == nil || !json.Valid(t.Schema) {
			return nil, fmt.Errorf("codex tool %q: a name, a JSON schema and a function are needed", t.Name)
		}
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
	case spec.Limits.BudgetUSD > 0 && !a.opts.Price.known():
		return errors.New("start codex: a budget in dollars cannot be kept: the program does not say what it costs; set the price of its tokens, or limit turns or time instead")
	}
	return nil
}
